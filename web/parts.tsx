import type { JSX } from "preact";
import type { Live } from "./live-stream.ts";

/** The phase of an object, told by word and by colour. */
export function Phase({ phase }: { readonly phase: string | undefined }): JSX.Element {
  return <span class={`phase phase-${(phase ?? "pending").toLowerCase()}`}>{phase ?? "Pending"}</span>;
}

/** What to show while a list is not there. */
export function StateNotice({ state }: { readonly state: Exclude<Live<unknown>, { kind: "Live" }> }): JSX.Element {
  switch (state.kind) {
    case "Loading":
      return <p class="quiet">Loading…</p>;
    case "SignedOut":
      return (
        <p role="alert">
          You are not signed in. Open the link that <code>capstan up</code> printed in the terminal; it works once.
        </p>
      );
    case "Failed":
      return <p role="alert">Cannot read from the API: {state.message}. Trying again…</p>;
  }
}

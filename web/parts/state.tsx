import type { ComponentChildren, JSX } from "preact";
import { inWords, type Tone, toneOf } from "../model/tone.ts";

/** The state of something, told by word, colour and shape. */
export function State({ word, tone }: { readonly word: string | undefined; readonly tone?: Tone }): JSX.Element {
  const shown = word || "pending";
  return <span class={`state ${tone ?? toneOf(shown)}`}>{inWords(shown)}</span>;
}

/** Yes, no or not known, for checks. */
export function Check({
  passed,
  children,
}: {
  readonly passed: boolean | undefined;
  readonly children: ComponentChildren;
}): JSX.Element {
  const [tone, word] =
    passed === undefined ? ["quiet", "not checked"] : passed ? ["good", "passed"] : ["bad", "failed"];
  return (
    <li class={`check ${tone}`}>
      <span class="visually-hidden">{word}: </span>
      {children}
    </li>
  );
}

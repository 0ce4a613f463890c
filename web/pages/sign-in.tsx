import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import type { Session } from "../session.tsx";

interface SignInProps {
  readonly session: Extract<Session, { kind: "SignedOut" }>;
  readonly path: readonly string[];
  onSignedIn(): void;
}

/** How to get in: the terminal's link, a token of the cluster, or the cluster's own issuer. */
export function SignIn({ session, path, onSignedIn }: SignInProps): JSX.Element {
  const [token, setToken] = useState("");
  const [refusal, setRefusal] = useState("");
  const told =
    path[0] === "sign-in-expired"
      ? "That link has been used or is too old. Ask for a new one."
      : path[0] === "sign-in-failed"
        ? `Sign-in failed: ${path[1] ?? ""}`
        : session.message;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const answer = await send("POST", "/ui/api/session", { token: token.trim() });
    if (answer.kind === "Refused") return setRefusal(answer.message);
    setToken("");
    if (path[0]?.startsWith("sign-in")) location.hash = "#/";
    onSignedIn();
  };
  return (
    <main class="sign-in" id="main">
      <img src="/assets/icon.svg" alt="" width="44" height="44" />
      <h1>Sign in to Capstan</h1>
      {told && (
        <p class="notice wait" role="alert">
          {told}
        </p>
      )}
      <p class="quiet">
        On your own machine, open the link that <code>capstan up</code> prints in the terminal; it works once.
      </p>
      {session.ways.oidc && (
        <a class="button primary" href="/ui/oidc/start">
          Sign in with {session.ways.oidc}
        </a>
      )}
      {session.ways.token && (
        <form onSubmit={(event) => void submit(event)}>
          <label>
            Bearer token
            <input
              type="password"
              autocomplete="off"
              required
              spellcheck={false}
              value={token}
              onInput={(event) => setToken(event.currentTarget.value)}
              aria-describedby="token-help"
            />
          </label>
          <p class="quiet" id="token-help">
            Such as <code>kubectl create token NAME -n NAMESPACE</code> prints. It is used for this session only, and
            you can do what it may do.
          </p>
          <button type="submit" class="primary">
            Sign in
          </button>
          <div role="alert">{refusal && <p class="notice bad">{refusal}</p>}</div>
        </form>
      )}
    </main>
  );
}

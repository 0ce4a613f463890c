import { createContext } from "preact";
import { useCallback, useContext, useEffect, useState } from "preact/hooks";
import { send } from "./api.ts";

/** Who is signed in, and how one can. */
export type Session =
  | { readonly kind: "Asking" }
  | {
      readonly kind: "SignedIn";
      readonly username: string;
      readonly groups: readonly string[];
      /** What can be asked under `/ui/api` here. */
      readonly questions: readonly string[];
    }
  | { readonly kind: "SignedOut"; readonly ways: Ways; readonly message?: string };

export interface Ways {
  readonly token?: boolean;
  /** The issuer's name. */
  readonly oidc?: string;
}

interface WireSession {
  readonly signedIn: boolean;
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly ways?: Ways;
  readonly questions?: readonly string[];
  readonly message?: string;
}

export const SessionContext = createContext<Session>({ kind: "Asking" });
/** Whether a question under `/ui/api` has anybody who answers it. */
export function useCanAsk(question: string): boolean {
  const session = useSession();
  return session.kind === "SignedIn" && session.questions.includes(question);
}

export const useSession = (): Session => useContext(SessionContext);

/** The session, and a way to ask for it again. */
export function useOwnSession(): readonly [Session, () => void] {
  const [session, setSession] = useState<Session>({ kind: "Asking" });
  const ask = useCallback(() => {
    void send<WireSession>("GET", "/ui/api/session").then((answer) => {
      if (answer.kind === "Refused") return setSession({ kind: "SignedOut", ways: {}, message: answer.message });
      const { signedIn, username = "", groups = [], ways = {}, questions = [], message } = answer.value;
      if (signedIn) setSession({ kind: "SignedIn", username, groups, questions });
      else setSession({ kind: "SignedOut", ways, ...(message !== undefined && { message }) });
    });
  }, []);
  useEffect(ask, [ask]);
  return [session, ask];
}

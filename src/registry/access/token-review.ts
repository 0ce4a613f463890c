import { createHash } from "node:crypto";
import type { Env } from "../../env/env.ts";
import type { Identity } from "../model/command.ts";
import type { Authenticator } from "./access.ts";

/** What a Kubernetes TokenReview answers; how it is asked is the caller's business. */
export type ReviewToken = (token: string, audiences: readonly string[]) => Promise<TokenReviewStatus>;

export interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly audiences?: readonly string[];
  readonly user?: { readonly username?: string; readonly groups?: readonly string[] };
}

export interface TokenReviewOptions {
  readonly env: Env;
  readonly review: ReviewToken;
  /** The token must have been issued for this audience. */
  readonly audience: string;
  /** Members of this group may act on what others own. */
  readonly administratorGroup?: string;
}

/** Tokens of Kubernetes ServiceAccounts, bound to our audience. Answers are believed for a short while. */
export function reviewedTokens(options: TokenReviewOptions): Authenticator {
  const { env, review, audience, administratorGroup } = options;
  const remembered = new Map<string, { readonly identity: Identity | undefined; readonly untilMs: number }>();
  const asking = new Map<string, Promise<Identity | undefined>>();

  const ask = async (token: string, key: string): Promise<Identity | undefined> => {
    const identity = identityOf(await review(token, [audience]), audience, administratorGroup);
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(key, { identity, untilMs: env.monotonicMs() + (identity ? goodForMs : badForMs) });
    return identity;
  };

  return {
    async authenticate(token) {
      const key = createHash("sha256").update(token).digest("base64");
      const known = remembered.get(key);
      if (known && env.monotonicMs() < known.untilMs) return known.identity;
      // Many requests with one token are one question.
      const asked = asking.get(key) ?? ask(token, key).finally(() => asking.delete(key));
      asking.set(key, asked);
      return asked;
    },
  };
}

const maxRemembered = 10_000;
const goodForMs = 60_000;
const badForMs = 5_000;

function identityOf(
  { authenticated, audiences, user }: TokenReviewStatus,
  audience: string,
  administratorGroup: string | undefined,
): Identity | undefined {
  const name = user?.username;
  // A server that does not know audiences answers none; its word is not enough.
  if (authenticated !== true || !name || !audiences?.includes(audience)) return undefined;
  const namespace = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name)?.[1] ?? null;
  const isAdministrator = administratorGroup !== undefined && (user?.groups ?? []).includes(administratorGroup);
  return { name, namespace, isAdministrator };
}

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Env } from "../env/env.ts";

/**
 * Who is signed in to the dashboard. A one-time token in the link that the terminal prints is exchanged for a cookie
 * that scripts cannot read and other sites cannot send.
 */
export interface Sessions {
  /** A link's token: works once, for a quarter of an hour. */
  issueSignInToken(credential: string): string;
  /** The new session's cookie header, or nothing when the token is unknown, used or too old. */
  signIn(token: string): string | undefined;
  /** The API credential behind a request's cookie header. */
  credentialOf(cookieHeader: string | undefined): string | undefined;
  signOut(cookieHeader: string | undefined): string;
}

export const signInTokenLifetimeMs = 15 * 60 * 1000;
export const sessionLifetimeMs = 12 * 60 * 60 * 1000;
export const maxSessions = 1_000;

interface Grant {
  readonly digest: Buffer;
  readonly credential: string;
  readonly expiresAtMs: number;
}

export function createSessions(env: Env): Sessions {
  const signInTokens: Grant[] = [];
  const sessions: Grant[] = [];

  const add = (list: Grant[], credential: string, lifetimeMs: number): string => {
    const secret = randomBytes(24).toString("base64url");
    list.push({ digest: digestOf(secret), credential, expiresAtMs: env.monotonicMs() + lifetimeMs });
    if (list.length > maxSessions) list.shift();
    return secret;
  };
  const find = (list: readonly Grant[], secret: string): Grant | undefined => {
    const digest = digestOf(secret);
    return list.find((grant) => timingSafeEqual(grant.digest, digest) && grant.expiresAtMs > env.monotonicMs());
  };

  return {
    issueSignInToken: (credential) => add(signInTokens, credential, signInTokenLifetimeMs),
    signIn(token) {
      const grant = find(signInTokens, token);
      if (!grant) return undefined;
      signInTokens.splice(signInTokens.indexOf(grant), 1);
      return setCookie(add(sessions, grant.credential, sessionLifetimeMs), sessionLifetimeMs / 1000);
    },
    credentialOf(cookieHeader) {
      const secret = sessionCookie(cookieHeader);
      return secret === undefined ? undefined : find(sessions, secret)?.credential;
    },
    signOut(cookieHeader) {
      const secret = sessionCookie(cookieHeader);
      const grant = secret === undefined ? undefined : find(sessions, secret);
      if (grant) sessions.splice(sessions.indexOf(grant), 1);
      return setCookie("", 0);
    },
  };
}

const cookieName = "capstan-session";

const digestOf = (secret: string): Buffer => createHash("sha256").update(secret).digest();

const setCookie = (value: string, maxAgeSeconds: number): string =>
  `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`;

function sessionCookie(header: string | undefined): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  const found = pairs.find((pair) => pair.startsWith(`${cookieName}=`));
  return found?.slice(cookieName.length + 1);
}

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Env } from "../env/env.ts";

/**
 * Who is signed in to the dashboard. A one-time token in the link that the terminal prints, or a credential that the API
 * has recognized, is exchanged for a cookie that scripts cannot read and other sites cannot send.
 */
export interface Sessions {
  /** A link's token: works once, for a quarter of an hour. */
  issueSignInToken(credential: string): string;
  /** The new session's cookie header, or nothing when the token is unknown, used or too old. */
  signIn(token: string): string | undefined;
  /** The new session's cookie header for a credential that is known to be good. */
  open(credential: string): string;
  /** The API credential behind a request's cookie header. */
  credentialOf(cookieHeader: string | undefined): string | undefined;
  /** The header that takes the cookie away; the session behind it is gone. */
  signOut(cookieHeader: string | undefined): string;
}

export interface SessionOptions {
  /** The page is reached over HTTPS only, so the cookie never travels without it. */
  readonly isSecure?: boolean;
}

export const signInTokenLifetimeMs = 15 * 60 * 1000;
export const sessionLifetimeMs = 12 * 60 * 60 * 1000;
export const maxSessions = 1_000;

interface Grant {
  readonly digest: Buffer;
  readonly credential: string;
  readonly expiresAtMs: number;
}

export function createSessions(env: Env, { isSecure = false }: SessionOptions = {}): Sessions {
  const signInTokens: Grant[] = [];
  const sessions: Grant[] = [];
  const cookie = cookieOf(isSecure);

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
  const open = (credential: string): string =>
    cookie.set(add(sessions, credential, sessionLifetimeMs), sessionLifetimeMs / 1000);

  return {
    issueSignInToken: (credential) => add(signInTokens, credential, signInTokenLifetimeMs),
    signIn(token) {
      const grant = find(signInTokens, token);
      if (!grant) return undefined;
      signInTokens.splice(signInTokens.indexOf(grant), 1);
      return open(grant.credential);
    },
    open,
    credentialOf(cookieHeader) {
      const secret = cookie.read(cookieHeader);
      return secret === undefined ? undefined : find(sessions, secret)?.credential;
    },
    signOut(cookieHeader) {
      const secret = cookie.read(cookieHeader);
      const grant = secret === undefined ? undefined : find(sessions, secret);
      if (grant) sessions.splice(sessions.indexOf(grant), 1);
      return cookie.set("", 0);
    },
  };
}

const digestOf = (secret: string): Buffer => createHash("sha256").update(secret).digest();

interface Cookie {
  set(value: string, maxAgeSeconds: number): string;
  read(header: string | undefined): string | undefined;
}

/** Where it is secure, the name's prefix makes browsers refuse one that a neighbouring host or plain HTTP has set. */
function cookieOf(isSecure: boolean): Cookie {
  const name = `${isSecure ? "__Host-" : ""}capstan-session`;
  return {
    set: (value, maxAgeSeconds) =>
      `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${isSecure ? "; Secure" : ""}`,
    read: (header) =>
      (header ?? "")
        .split(";")
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(`${name}=`))
        ?.slice(name.length + 1),
  };
}

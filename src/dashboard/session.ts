import { randomBytes } from "node:crypto";
import type { Env } from "../env/env.ts";
import type { KeptSessions } from "./kept-sessions.ts";
import { digestOf } from "./seal.ts";

/**
 * Who is signed in to the dashboard. A one-time token in the link that the terminal prints, or a credential that the API
 * has recognized, is exchanged for a cookie that scripts cannot read and other sites cannot send.
 */
export interface Sessions {
  /** A link's token: works once, for a quarter of an hour, at the process that printed it. */
  issueSignInToken(credential: string): string;
  /** The new session's cookie header, or nothing when the token is unknown, used or too old. */
  signIn(token: string): Promise<string | undefined>;
  /** The new session's cookie header for a credential that is known to be good. */
  open(credential: string): Promise<string>;
  /** The API credential behind a request's cookie header. */
  credentialOf(cookieHeader: string | undefined): Promise<string | undefined>;
  /** The header that takes the cookie away; the session behind it is gone. */
  signOut(cookieHeader: string | undefined): Promise<string>;
}

export interface SessionOptions {
  readonly env: Env;
  readonly kept: KeptSessions;
  /** The page is reached over HTTPS only, so the cookie never travels without it. */
  readonly isSecure?: boolean;
}

export const signInTokenLifetimeMs = 15 * 60 * 1000;
export const sessionLifetimeMs = 12 * 60 * 60 * 1000;
const maxSignInTokens = 100;

export function createSessions({ env, kept, isSecure = false }: SessionOptions): Sessions {
  const links = new Map<string, { readonly credential: string; readonly expiresAtMs: number }>();
  const cookie = cookieOf(isSecure);

  const open = async (credential: string): Promise<string> => {
    const secret = newSecret();
    await kept.put(secret, credential, sessionLifetimeMs);
    return cookie.set(secret, sessionLifetimeMs / 1000);
  };

  return {
    issueSignInToken(credential) {
      const token = newSecret();
      links.set(digestOf(token), { credential, expiresAtMs: env.monotonicMs() + signInTokenLifetimeMs });
      const [oldest] = links.keys();
      if (links.size > maxSignInTokens && oldest !== undefined) links.delete(oldest);
      return token;
    },
    async signIn(token) {
      const digest = digestOf(token);
      const link = links.get(digest);
      links.delete(digest);
      return link !== undefined && link.expiresAtMs > env.monotonicMs() ? open(link.credential) : undefined;
    },
    open,
    async credentialOf(cookieHeader) {
      const secret = cookie.read(cookieHeader);
      return secret === undefined ? undefined : kept.find(secret);
    },
    async signOut(cookieHeader) {
      const secret = cookie.read(cookieHeader);
      if (secret !== undefined) await kept.end(secret);
      return cookie.set("", 0);
    },
  };
}

const newSecret = (): string => randomBytes(24).toString("base64url");

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

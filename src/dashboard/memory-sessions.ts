import type { Env } from "../env/env.ts";
import { type KeptSessions, maxSessions } from "./kept-sessions.ts";
import { digestOf } from "./seal.ts";

/** For a process that keeps nothing else either: its sessions are its own, and end with it. */
export function memorySessions(env: Env): KeptSessions {
  const sessions = new Map<string, { readonly credential: string; readonly expiresAtMs: number }>();
  return {
    async put(secret, credential, lifetimeMs) {
      sessions.set(digestOf(secret), { credential, expiresAtMs: env.monotonicMs() + lifetimeMs });
      const [oldest] = sessions.keys();
      if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
    },
    async find(secret) {
      const found = sessions.get(digestOf(secret));
      return found !== undefined && found.expiresAtMs > env.monotonicMs() ? found.credential : undefined;
    },
    async end(secret) {
      sessions.delete(digestOf(secret));
    },
  };
}

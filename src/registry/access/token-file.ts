import { createHash, timingSafeEqual } from "node:crypto";
import { RotatingFile } from "../../client/rotating-file.ts";
import type { Env } from "../../env/env.ts";
import type { Identity } from "../model/command.ts";
import type { Authenticator } from "./access.ts";

/**
 * Tokens in a file, one line each: `token,identity[,namespace[,administrator]]`; `#` begins a comment. The file is read
 * again when it changes, so that tokens can be exchanged without a restart: add the new one, move the clients, remove the old.
 */
export function tokenFile(env: Env, path: string): Authenticator {
  const file = new RotatingFile(env, path, "registry token file");
  let read: { readonly text: string; readonly known: readonly KnownToken[] } | undefined;
  let reloadedAtMs = Number.NEGATIVE_INFINITY;

  const find = (text: string, token: string): Identity | undefined => {
    if (read?.text !== text) read = { text, known: parseTokens(text) };
    const digest = digestOf(token);
    let found: Identity | undefined;
    // All of them, always: how long this takes says nothing about which one nearly matched.
    for (const known of read.known) if (timingSafeEqual(known.digest, digest)) found = known.identity;
    return found;
  };

  return {
    async authenticate(token) {
      const known = find(await file.current(), token);
      if (known || env.monotonicMs() - reloadedAtMs < reloadPauseMs) return known;
      // Perhaps the file has just been changed; asked once in a while, not for every wrong token.
      reloadedAtMs = env.monotonicMs();
      return find(await file.reload(), token);
    },
  };
}

const reloadPauseMs = 1_000;

interface KnownToken {
  readonly digest: Buffer;
  readonly identity: Identity;
}

export function parseTokens(text: string): readonly KnownToken[] {
  return text.split("\n").flatMap((line, index) => {
    const content = line.replace(/(^|\s)#.*$/, "").trim();
    if (content === "") return [];
    const [token = "", name = "", namespace = "", role = ""] = content.split(",").map((part) => part.trim());
    if (token === "" || name === "")
      throw new Error(`registry token file, line ${index + 1}: must be token,identity[,namespace[,administrator]]`);
    if (role !== "" && role !== "administrator")
      throw new Error(`registry token file, line ${index + 1}: the fourth word must be administrator or nothing`);
    const identity = { name, namespace: namespace || null, isAdministrator: role === "administrator" };
    return [{ digest: digestOf(token), identity }];
  });
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();

import { createHash, timingSafeEqual } from "node:crypto";
import { RotatingFile } from "../../client/rotating-file.ts";
import type { Env } from "../../env/env.ts";
import type { Identity } from "../model/command.ts";
import type { Authenticator } from "./access.ts";

/**
 * Tokens in a file, one line each: `token,identity[,namespace[,administrator]]`; `#` begins a comment. The file is read
 * again when it changes, so that tokens can be exchanged without a restart: add the new one, move the clients, remove the
 * old. A typing error is found at the start; one that comes later leaves the tokens as they were.
 */
export async function readTokenFile(
  env: Env,
  path: string,
  onProblem: (problem: Error) => void = () => undefined,
): Promise<Authenticator> {
  const file = new RotatingFile(env, path, "registry token file");
  const first = await file.reload();
  let read = { text: first, known: parseTokens(first) };
  let reloadedAtMs = Number.NEGATIVE_INFINITY;

  const find = (text: string, token: string): Identity | undefined => {
    if (read.text !== text) read = { text, known: parsedOr(read.known, text) };
    const digest = digestOf(token);
    let found: Identity | undefined;
    // All of them, always: how long this takes says nothing about which one nearly matched.
    for (const known of read.known) if (timingSafeEqual(known.digest, digest)) found = known.identity;
    return found;
  };
  const parsedOr = (before: readonly KnownToken[], text: string): readonly KnownToken[] => {
    try {
      return parseTokens(text);
    } catch (error) {
      onProblem(error as Error);
      return before;
    }
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

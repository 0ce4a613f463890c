import { createHash } from "node:crypto";
import type { HttpResponse } from "../../http/message.ts";
import { discard, type Outside, OutsideError } from "./outside.ts";

/** A jar on its way: where it came from, and whether it is the one that was promised. */
export interface Download {
  readonly url: string;
  /** SHA-256 digits, `sha512:` and digits, or empty when nobody said. */
  readonly hash: string;
}

export const maxJarBytes = 100 * 1024 * 1024;
const downloadTimeoutMs = 300_000;
const maxRedirects = 10;

/** Hands over the jar piece by piece; throws an OutsideError when it cannot be had or is another one. */
export async function download(
  { url, hash }: Download,
  outside: Outside,
  take: (chunk: Uint8Array) => Promise<void>,
  signal?: AbortSignal,
): Promise<{ readonly sha256: string }> {
  const response = await follow(url, outside, signal);
  const [algorithm, promised] = hash.startsWith("sha512:")
    ? (["sha512", hash.slice(7)] as const)
    : (["sha256", hash] as const);
  const sums = new Map([algorithm, "sha256"].map((name) => [name, createHash(name)]));
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > maxJarBytes) throw new OutsideError("TooLarge", `the jar is larger than ${maxJarBytes} bytes`);
    for (const sum of sums.values()) sum.update(chunk);
    await take(chunk);
  }
  const digests = new Map([...sums].map(([name, sum]) => [name, sum.digest("hex")]));
  const actual = digests.get(algorithm) ?? "";
  if (promised !== "" && promised.toLowerCase() !== actual)
    throw new OutsideError("Malformed", `the jar's ${algorithm} is ${actual}, and ${promised} was promised`);
  return { sha256: digests.get("sha256") ?? "" };
}

async function follow(url: string, outside: Outside, signal: AbortSignal | undefined): Promise<HttpResponse> {
  let address = url;
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const response = await outside.open(address, {
      headers: { accept: "*/*" },
      timeoutMs: downloadTimeoutMs,
      followsRedirects: true,
      ...(signal && { signal }),
    });
    const { location } = response.headers;
    if (response.status < 300 || location === undefined) return response;
    await discard(response);
    if (!URL.canParse(location, address)) throw new OutsideError("Refused", "the jar's address leads nowhere");
    address = new URL(location, address).href;
  }
  throw new OutsideError("Refused", `the jar's address leads on more than ${maxRedirects} times`);
}

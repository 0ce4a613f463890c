import { createHash } from "node:crypto";

/**
 * A short stand-in for a text that is only compared. 96 bits are enough to tell any two apart, and so few characters that the
 * engine copies them when they are cut off: a longer piece would keep the whole text in memory.
 */
export const digestOf = (text: string): string =>
  createHash("sha256").update(text).digest("binary").slice(0, digestLength);
const digestLength = 12;

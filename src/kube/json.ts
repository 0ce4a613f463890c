import { type JsonProblem, scanJson } from "./json-scan.ts";

/**
 * JSON as an API server must read it: bounded in size and depth, with the paths of fields that are given twice, and
 * without changing a number behind the writer's back.
 */
export type ParsedJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** `spec.replicas` for every field that is given more than once; the last one counts. */
      readonly duplicates: readonly string[];
      /** Integers that no JavaScript number holds exactly; a server refuses them instead of storing another number. */
      readonly inexactIntegers: readonly string[];
    }
  | { readonly ok: false; readonly problem: JsonProblem };

export interface JsonLimits {
  readonly maxBytes?: number;
  readonly maxDepth?: number;
}

export const jsonMaxDepth = 1000;

export function parseJson(input: Uint8Array | string, limits: JsonLimits = {}): ParsedJson {
  const maxBytes = limits.maxBytes ?? Number.POSITIVE_INFINITY;
  // A text has at most as many UTF-16 units as bytes, so a text over the limit in units is over it in bytes.
  if (input.length > maxBytes) {
    return { ok: false, problem: problemAt("TooLarge", `the document is larger than ${maxBytes} bytes`) };
  }
  const text = typeof input === "string" ? input : utf8.decode(input);
  const scanned = scanJson(text, limits.maxDepth ?? jsonMaxDepth);
  if (!scanned.ok) return scanned;
  return {
    ok: true,
    value: JSON.parse(text),
    duplicates: scanned.duplicates,
    inexactIntegers: scanned.inexactIntegers,
  };
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

const problemAt = (reason: JsonProblem["reason"], message: string): JsonProblem => ({
  reason,
  message,
  offset: 0,
  line: 1,
  column: 1,
});

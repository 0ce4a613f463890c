import { type Parsed, parsed, refused } from "./parsed.ts";

/** JSON pointers (RFC 6901): `/spec/containers/0/image`, with `~0` for `~` and `~1` for `/`. */

export function parsePointer(pointer: string): Parsed<readonly string[]> {
  if (pointer === "") return parsed([]);
  if (!pointer.startsWith("/")) return refused(`a JSON pointer starts with "/", got ${JSON.stringify(pointer)}`);
  if (/~(?![01])/.test(pointer)) return refused(`"~" must be written as "~0" in ${JSON.stringify(pointer)}`);
  return parsed(pointer.slice(1).split("/").map(unescapeToken));
}

export const formatPointer = (tokens: readonly (string | number)[]): string =>
  tokens.map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The value at the pointer, or undefined when there is none; `-` and negative indexes never name a value. */
export function valueAt(document: unknown, tokens: readonly (string | number)[]): unknown {
  let value = document;
  for (const token of tokens) {
    if (Array.isArray(value)) {
      if (!/^(?:0|[1-9]\d*)$/.test(String(token))) return undefined;
      value = value[Number(token)];
    } else if (typeof value === "object" && value !== null && Object.hasOwn(value, token)) {
      value = (value as Record<string, unknown>)[token];
    } else return undefined;
  }
  return value;
}

const unescapeToken = (token: string): string => token.replaceAll("~1", "/").replaceAll("~0", "~");

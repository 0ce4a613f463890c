/** Types as text: `array[any<string, number>]`, `object<op: string>[any: any]`. */
import { splitTopLevel } from "../builtins/signatures.ts";
import { alternatives, anyType, objectType, type Type } from "./types.ts";

const known = new Map<string, Type>();

export function parseType(text: string): Type {
  let type = known.get(text);
  if (type === undefined) {
    type = read(text.trim());
    known.set(text, type);
  }
  return type;
}

function read(text: string): Type {
  const word = /^[a-z]+/.exec(text)?.[0] ?? "";
  const { angle, square } = brackets(text.slice(word.length));
  switch (word) {
    case "null":
    case "boolean":
    case "number":
    case "string":
      return { kind: word };
    case "array":
      return {
        kind: "array",
        items: angle === undefined ? [] : splitTopLevel(angle).map(parseType),
        rest: square === undefined ? undefined : parseType(square),
      };
    case "set":
      return { kind: "set", item: square === undefined ? anyType : parseType(square) };
    case "object": {
      const fields = splitTopLevel(angle ?? "").map((part) => {
        const colon = part.indexOf(":");
        return [part.slice(0, colon).trim(), parseType(part.slice(colon + 1))] as const;
      });
      const colon = topLevelColon(square ?? "");
      const rest =
        square === undefined
          ? undefined
          : { key: parseType(square.slice(0, colon)), value: parseType(square.slice(colon + 1)) };
      return objectType(fields, rest);
    }
    default:
      return angle === undefined ? anyType : alternatives(splitTopLevel(angle).map(parseType));
  }
}

function brackets(text: string): { readonly angle: string | undefined; readonly square: string | undefined } {
  if (text.startsWith("<")) {
    const close = closing(text);
    const rest = text.slice(close + 1);
    return { angle: text.slice(1, close), square: rest.startsWith("[") ? rest.slice(1, -1) : undefined };
  }
  return { angle: undefined, square: text.startsWith("[") ? text.slice(1, -1) : undefined };
}

function closing(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === "<" || char === "[") depth++;
    else if ((char === ">" || char === "]") && --depth === 0) return index;
  }
  return text.length;
}

function topLevelColon(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === "<" || char === "[") depth++;
    else if (char === ">" || char === "]") depth--;
    else if (char === ":" && depth === 0) return index;
  }
  return -1;
}

/** Plain JSON values as server-side apply sees them: no classes, no undefined; read-only because they are shared. */
import { compareUtf8, goNumber, goQuote } from "../go-text.ts";

export type JsonMap = Readonly<Record<string, unknown>>;

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** A field of a map, or undefined; inherited names such as `constructor` are not fields. */
export const fieldOf = (map: JsonMap, name: string): unknown => (Object.hasOwn(map, name) ? map[name] : undefined);

/** Writes a field that may be called `__proto__`, which plain assignment would not store. */
export function setField(map: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(map, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    map[name] = value;
  }
}

export const isEmptyMap = (map: JsonMap): boolean => {
  for (const name in map) if (map[name] !== undefined) return false;
  return true;
};

/** Equal as JSON: the order of names does not matter, a missing name and null differ. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (isList(left)) {
    if (!isList(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index += 1) {
      if (!equalJson(left[index], right[index])) return false;
    }
    return true;
  }
  if (isList(right)) return false;
  return equalMaps(left as JsonMap, right as JsonMap);
}

function equalMaps(left: JsonMap, right: JsonMap): boolean {
  let remaining = 0;
  for (const name of Object.keys(right)) if (right[name] !== undefined) remaining += 1;
  for (const name of Object.keys(left)) {
    const value = left[name];
    if (value === undefined) continue;
    const other = fieldOf(right, name);
    if (other === undefined || !equalJson(value, other)) return false;
    remaining -= 1;
  }
  return remaining === 0;
}

/** The total order in which Kubernetes writes values: numbers, strings, booleans, lists, maps, null. */
export function compareJson(left: unknown, right: unknown): number {
  const rank = rankOf(left);
  const difference = rank - rankOf(right);
  if (difference !== 0) return difference;
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return compareUtf8(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (isList(left) && isList(right)) return compareLists(left, right);
  if (isMap(left) && isMap(right)) return compareLists(sortedEntries(left), sortedEntries(right));
  return 0;
}

const sortedEntries = (map: JsonMap): readonly unknown[] =>
  Object.keys(map)
    .sort(compareUtf8)
    .flatMap((name) => [name, map[name]]);

function compareLists(left: readonly unknown[], right: readonly unknown[]): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const order = compareJson(left[index], right[index]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function rankOf(value: unknown): number {
  if (typeof value === "number") return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (isList(value)) return 3;
  return isMap(value) ? 4 : 5;
}

/** JSON as it stands inside a path element: names sorted, and escaped in the way of the encoder that Kubernetes uses. */
export function elementJson(value: unknown): string {
  if (typeof value === "string") return escapedString(value);
  if (typeof value === "number") return escapedNumber(value);
  if (isList(value)) return `[${value.map(elementJson).join(",")}]`;
  if (!isMap(value)) return JSON.stringify(value ?? null);
  const names = Object.keys(value).sort(compareUtf8);
  return `{${names.map((name) => `${escapedString(name)}:${elementJson(value[name])}`).join(",")}}`;
}

const unusual = /[<>&\u2028\u2029\b\f]/;

function escapedString(text: string): string {
  const json = JSON.stringify(text);
  if (!unusual.test(text)) return json;
  return json
    .replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/\\(.)/g, (escaped, kind) => (kind === "b" ? "\\u0008" : kind === "f" ? "\\u000c" : escaped));
}

const escapedNumber = (value: number): string => String(value).replace(/e([+-])(\d)$/, "e$10$2");

/** A value inside a path that people read: `[name="a"]`. */
export function displayValue(value: unknown): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumber(value);
  if (isList(value)) return `[${value.map(displayValue).join(",")}]`;
  if (!isMap(value)) return String(value ?? null);
  return Object.keys(value)
    .map((name) => `${name}=${displayValue(value[name])}`)
    .join("");
}

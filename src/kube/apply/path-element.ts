/**
 * One step of a field path in its canonical text, which is also how `managedFields` spells it: `f:name`, `k:{"name":"a"}`,
 * `v:"x"`, `i:0`. Two elements are the same exactly when their texts are.
 */
import { compareUtf8 } from "../go-text.ts";
import { compareJson, displayValue, elementJson, isMap, type JsonMap } from "./json-value.ts";

export type PathElement = string;

export const fieldElement = (name: string): PathElement => `f:${name}`;

export const valueElement = (value: unknown): PathElement => `v:${elementJson(value)}`;

export const indexElement = (index: number): PathElement => `i:${index}`;

/** The key of a list item; its names in order, whatever order they come in. */
export function keyElement(key: JsonMap): PathElement {
  const names = Object.keys(key);
  // The name inside a key is written without the escapes that its value gets.
  if (names.length > 1) names.sort(compareUtf8);
  let text = "k:{";
  for (const name of names) {
    if (text.length > 3) text += ",";
    text += `${JSON.stringify(name)}:${elementJson(key[name])}`;
  }
  return `${text}}`;
}

export const isFieldElement = (element: PathElement): boolean => element.startsWith("f:");

export const isKeyElement = (element: PathElement): boolean => element.startsWith("k:");

export type ReadElement =
  | { readonly kind: "Element"; readonly element: PathElement }
  /** A kind of element that a later version may know; readers skip it. */
  | { readonly kind: "Unknown" }
  | { readonly kind: "Malformed"; readonly message: string };

/** Reads an element as stored by anyone and answers its canonical text. */
export function readElement(text: string): ReadElement {
  if (text.length < 2) return malformed("key must be 2 characters long:");
  if (text[1] !== ":") return malformed(`missing colon: ${text}`);
  const content = text.slice(2);
  switch (text[0]) {
    case "f":
      return { kind: "Element", element: text };
    case "i":
      if (!/^[+-]?\d+$/.test(content)) return malformed(`${JSON.stringify(content)} is not an index`);
      return { kind: "Element", element: indexElement(Number(content)) };
    case "v": {
      const value = parseJson(content);
      return value === undefined
        ? malformed(`${text} has no value`)
        : { kind: "Element", element: valueElement(value) };
    }
    case "k": {
      const key = parseJson(content);
      return isMap(key) ? { kind: "Element", element: keyElement(key) } : malformed(`${text} has no key`);
    }
    default:
      return { kind: "Unknown" };
  }
}

const malformed = (message: string): ReadElement => ({ kind: "Malformed", message });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ranks: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/** The order in which a set is written: field names, keys, values, indexes, each in their own order. */
export function compareElements(left: PathElement, right: PathElement): number {
  if (left === right) return 0;
  const kind = left[0] ?? "";
  const otherKind = right[0] ?? "";
  if (kind !== otherKind) return (ranks[kind] ?? 4) - (ranks[otherKind] ?? 4);
  switch (kind) {
    case "f":
      return compareNames(left, right);
    case "i":
      return Number(left.slice(2)) - Number(right.slice(2));
    case "v":
      return compareJson(JSON.parse(left.slice(2)), JSON.parse(right.slice(2)));
    default:
      return compareKeys(JSON.parse(left.slice(2)), JSON.parse(right.slice(2)));
  }
}

const surrogate = /[\ud800-\udfff]/;

/** As `compareUtf8`; without surrogates the order of UTF-16 is the same one, and much faster found. */
const compareNames = (left: string, right: string): number =>
  surrogate.test(left) || surrogate.test(right) ? compareUtf8(left, right) : left < right ? -1 : 1;

function compareKeys(left: JsonMap, right: JsonMap): number {
  const names = Object.keys(left).sort(compareUtf8);
  const otherNames = Object.keys(right).sort(compareUtf8);
  const length = Math.min(names.length, otherNames.length);
  for (let index = 0; index < length; index += 1) {
    const name = names[index] ?? "";
    const otherName = otherNames[index] ?? "";
    const order = compareUtf8(name, otherName) || compareJson(left[name], right[otherName]);
    if (order !== 0) return order;
  }
  return names.length - otherNames.length;
}

/** An element as people read it: `.spec`, `[name="a"]`, `[="x"]`, `[0]`. */
export function displayElement(element: PathElement): string {
  const content = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${content}`;
    case "k": {
      const key: JsonMap = JSON.parse(content);
      const names = Object.keys(key).sort(compareUtf8);
      return `[${names.map((name) => `${name}=${displayValue(key[name])}`).join(",")}]`;
    }
    case "v":
      return `[=${displayValue(JSON.parse(content))}]`;
    default:
      return `[${content}]`;
  }
}

export const displayPath = (path: readonly PathElement[]): string => path.map(displayElement).join("");

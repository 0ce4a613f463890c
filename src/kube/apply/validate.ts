/** Checks that a value fits its type, in the words that the real server answers with. */
import { goNumber, goQuote } from "../go-text.ts";
import type { ListType, MapType, Type } from "./compile.ts";
import { isList, isMap, type JsonMap } from "./json-value.ts";
import { displayElement, indexElement, type PathElement } from "./path-element.ts";
import type { Scalar } from "./type-schema.ts";
import { fieldElementOf, ItemWithoutIdentity, itemElement, type TypedValue } from "./typed-value.ts";

export interface TypeError {
  /** `.spec.containers[name="a"].image`, empty for the whole value. */
  readonly path: string;
  readonly message: string;
}

/** `duplicates` lets associative lists repeat a key, as stored objects may. */
export function validateTyped(typed: TypedValue, duplicates: "allowed" | "refused"): readonly TypeError[] {
  const at: Walk = { errors: [], duplicates, depth: 0 };
  walk(typed.type, typed.value, at);
  return at.errors;
}

export function typeErrorText(errors: readonly TypeError[]): string {
  const texts = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return texts.length <= 1 ? (texts[0] ?? "") : ["errors:", ...texts.map((text) => `  ${text}`)].join("\n");
}

/** Paths are put together on the way back up, so that a valid value costs none. */
interface Walk {
  readonly errors: TypeError[];
  readonly duplicates: "allowed" | "refused";
  depth: number;
}

/** All walks over a value recurse, and this one comes first: what is nested deeper would exhaust the stack. */
const maxDepth = 1000;

function walk(type: Type, value: unknown, at: Walk): void {
  if (type.fault !== undefined) report(at, type.fault);
  else if (value === null || value === undefined) return;
  else if (typeof value === "object") {
    at.depth += 1;
    if (at.depth > maxDepth) report(at, `nested more than ${maxDepth} levels deep`);
    else if (type.list && isList(value)) walkList(type.list, value, at);
    else if (type.map && isMap(value)) walkMap(type.map, value, at);
    else report(at, misfit(type, value) ?? "does not fit its type");
    at.depth -= 1;
  } else {
    const objection = type.scalar ? scalarObjection(type.scalar, value) : misfit(type, value);
    if (objection !== undefined) report(at, objection);
  }
}

function report(at: Walk, message: string): void {
  at.errors.push({ path: "", message });
}

/** What a type that does not allow the shape of the value would have expected. */
function misfit(type: Type, value: unknown): string | undefined {
  if (type.map) return `expected map, got ${goValue(value)}`;
  return type.scalar ? scalarObjection(type.scalar, value) : `expected list, got ${goValue(value)}`;
}

/** Puts the element before the paths of the errors that were found below it. */
function locate(at: Walk, from: number, element: PathElement): void {
  const prefix = displayElement(element);
  for (let index = from; index < at.errors.length; index += 1) {
    const error = at.errors[index];
    if (error) at.errors[index] = { path: prefix + error.path, message: error.message };
  }
}

function walkMap(map: MapType, value: JsonMap, at: Walk): void {
  for (const name of Object.keys(value)) {
    const field = map.fields.get(name);
    const type = field ? field.type : map.element;
    const found = at.errors.length;
    if (type) walk(type, value[name], at);
    else report(at, "field not declared in schema");
    if (at.errors.length > found) locate(at, found, fieldElementOf(field, name));
  }
}

function walkList(list: ListType, value: readonly unknown[], at: Walk): void {
  const seen = list.relationship === "atomic" ? undefined : new Set<PathElement>();
  for (let index = 0; index < value.length; index += 1) {
    let element: PathElement | undefined;
    try {
      element = seen && itemElement(list, value[index]);
    } catch (error) {
      if (!(error instanceof ItemWithoutIdentity)) throw error;
      // Without its identity there is no path under which the item's other faults could be told.
      report(at, `element ${index}: ${error.message}`);
      return;
    }
    if (element !== undefined && seen) {
      if (seen.has(element) && at.duplicates === "refused") {
        report(at, `duplicate entries for key ${displayElement(element)}`);
      }
      seen.add(element);
    }
    const found = at.errors.length;
    walk(list.element, value[index], at);
    if (at.errors.length > found) locate(at, found, element ?? indexElement(index));
  }
}

function scalarObjection(scalar: Scalar, value: unknown): string | undefined {
  switch (scalar) {
    case "numeric":
      return typeof value === "number" ? undefined : `expected numeric (int or float), got ${goTypeName(value)}`;
    case "string":
      return typeof value === "string"
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got ${goValue(value)}`;
    case "untyped":
      return isMap(value) || isList(value) ? `expected any scalar, got ${goValue(value)}` : undefined;
    default:
      return `unexpected scalar type in schema: ${String(scalar)}`;
  }
}

const goTypeName = (value: unknown): string => {
  if (isMap(value)) return "map[string]interface {}";
  if (isList(value)) return "[]interface {}";
  return typeof value === "boolean" ? "bool" : "string";
};

/** A value as Go's `%v` prints it inside the wrapper that the real server uses. */
const goValue = (value: unknown): string => `&{${goPlain(value)}}`;

function goPlain(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return goNumber(value);
  if (isList(value)) return `[${value.map(goPlain).join(" ")}]`;
  if (!isMap(value)) return String(value);
  const names = Object.keys(value).sort();
  return `map[${names.map((name) => `${name}:${goPlain(value[name])}`).join(" ")}]`;
}

function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumber(value);
  if (isList(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isMap(value)) return String(value);
  const names = Object.keys(value).sort();
  return `map[string]interface {}{${names.map((name) => `${goQuote(name)}:${goSyntax(value[name])}`).join(", ")}}`;
}

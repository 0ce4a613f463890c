/** Checks that a value fits its type, in the words that the real server answers with. */
import { goNumber, goQuote } from "../go-text.ts";
import type { ListType, MapType, Type } from "./compile.ts";
import { isList, isMap } from "./json-value.ts";
import { displayElement, displayPath, indexElement, type PathElement } from "./path-element.ts";
import type { Scalar } from "./type-schema.ts";
import { fieldElementOf, ItemWithoutIdentity, itemElement, shapeOf, type TypedValue } from "./typed-value.ts";

export interface TypeError {
  /** `.spec.containers[name="a"].image`, empty for the whole value. */
  readonly path: string;
  readonly message: string;
}

/** `duplicates` lets associative lists repeat a key, as stored objects may. */
export function validateTyped(typed: TypedValue, duplicates: "allowed" | "refused"): readonly TypeError[] {
  const errors: TypeError[] = [];
  walk(typed.type, typed.value, [], { errors, duplicates });
  return errors;
}

export function typeErrorText(errors: readonly TypeError[]): string {
  const texts = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return texts.length === 1 ? (texts[0] ?? "") : ["errors:", ...texts.map((text) => `  ${text}`)].join("\n");
}

interface Walk {
  readonly errors: TypeError[];
  readonly duplicates: "allowed" | "refused";
}

function report(at: Walk, path: readonly PathElement[], message: string): void {
  at.errors.push({ path: displayPath(path), message });
}

function walk(type: Type, value: unknown, path: PathElement[], at: Walk): void {
  const objection = objectionTo(type, value);
  if (objection !== undefined) {
    report(at, path, objection);
    return;
  }
  const shape = shapeOf(type, value);
  if (shape.kind === "Map" && isMap(value)) walkMap(shape, value, path, at);
  if (shape.kind === "List" && isList(value)) walkList(shape, value, path, at);
}

function objectionTo(type: Type, value: unknown): string | undefined {
  if (type.fault !== undefined) return type.fault;
  if (value === null || value === undefined) return undefined;
  switch (shapeOf(type, value).kind) {
    case "Map":
      return isMap(value) ? undefined : `expected map, got ${goValue(value)}`;
    case "List":
      return isList(value) ? undefined : `expected list, got ${goValue(value)}`;
    case "Scalar":
      return type.scalar && scalarObjection(type.scalar, value);
    case "None":
      return undefined;
  }
}

function walkMap(map: MapType, value: Readonly<Record<string, unknown>>, path: PathElement[], at: Walk): void {
  for (const name of Object.keys(value)) {
    const field = map.fields.get(name);
    const type = field ? field.type : map.element;
    path.push(fieldElementOf(field, name));
    if (type) walk(type, value[name], path, at);
    else report(at, path, "field not declared in schema");
    path.pop();
  }
}

function walkList(list: ListType, value: readonly unknown[], path: PathElement[], at: Walk): void {
  const seen = list.relationship === "atomic" ? undefined : new Set<PathElement>();
  for (let index = 0; index < value.length; index += 1) {
    let element = "";
    try {
      element = seen ? itemElement(list, value[index]) : indexElement(index);
    } catch (error) {
      if (!(error instanceof ItemWithoutIdentity)) throw error;
      // Without its identity there is no path under which the item's other faults could be told.
      report(at, path, `element ${index}: ${error.message}`);
      return;
    }
    if (seen?.has(element) && at.duplicates === "refused") {
      report(at, path, `duplicate entries for key ${displayElement(element)}`);
    }
    seen?.add(element);
    path.push(element);
    walk(list.element, value[index], path, at);
    path.pop();
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

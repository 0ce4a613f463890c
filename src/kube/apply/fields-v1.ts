/** The wire form of a field set: nested objects whose names are path elements; `.` says that the parent itself is meant. */
import { type FieldSet, leaf, sortedChildren } from "./field-set.ts";
import { isMap } from "./json-value.ts";
import { compareElements, type PathElement, readElement } from "./path-element.ts";

export interface FieldsV1 {
  readonly [element: string]: FieldsV1;
}

/**
 * Most entries pass through a write unchanged. Both forms are immutable, so each remembers the other and an unchanged set is
 * written as the very object that it was read from.
 */
const written = new WeakMap<FieldSet, FieldsV1>();
const read = new WeakMap<object, FieldSet>();

/** Plain objects whose names stand in the canonical order, so that their JSON is what Kubernetes writes. */
export function writeFieldsV1(set: FieldSet): FieldsV1 {
  const known = written.get(set);
  if (known) return known;
  const fields = writeNode(set);
  written.set(set, fields);
  read.set(fields, set);
  return fields;
}

function writeNode(set: FieldSet): FieldsV1 {
  const fields: Record<string, FieldsV1> = {};
  for (const [element, child] of sortedChildren(set)) {
    if (!child.children) fields[element] = {};
    else if (child.own) fields[element] = { ".": {}, ...writeNode(child) };
    else fields[element] = writeNode(child);
  }
  return fields;
}

export type ReadFields =
  | { readonly kind: "Read"; readonly set: FieldSet }
  | { readonly kind: "Malformed"; readonly message: string };

/** Reads what anyone may have stored; elements of a kind that we do not know are left out. */
export function readFieldsV1(fields: unknown): ReadFields {
  if (!isMap(fields)) return { kind: "Malformed", message: `expected an object, found ${JSON.stringify(fields)}` };
  const known = read.get(fields);
  if (known) return { kind: "Read", set: known };
  const reading: Reading = { canonical: true };
  try {
    const { children } = readNode(fields, reading);
    const set: FieldSet = { own: false, children };
    read.set(fields, set);
    if (reading.canonical) written.set(set, fields as FieldsV1);
    return { kind: "Read", set };
  } catch (error) {
    if (error instanceof MalformedFields) return { kind: "Malformed", message: error.message };
    throw error;
  }
}

class MalformedFields extends Error {}

interface Reading {
  /** Whether the text so far is exactly what would be written. */
  canonical: boolean;
}

function readNode(fields: unknown, reading: Reading): FieldSet {
  if (fields === null) {
    reading.canonical = false;
    return leaf;
  }
  if (!isMap(fields)) throw new MalformedFields(`expected an object, found ${JSON.stringify(fields)}`);
  let own = false;
  let previous: PathElement | undefined;
  let children: Map<PathElement, FieldSet> | undefined;
  for (const name of Object.keys(fields)) {
    if (name === ".") {
      own = true;
      if (children || Object.keys(fields).length === 1) reading.canonical = false;
      continue;
    }
    const element = readElement(name);
    if (element.kind === "Malformed") throw new MalformedFields(`parsing key as path element: ${element.message}`);
    if (element.kind === "Unknown") {
      reading.canonical = false;
      continue;
    }
    if (reading.canonical) {
      reading.canonical = element.element === name && (previous === undefined || compareElements(previous, name) < 0);
      previous = name;
    }
    children ??= new Map();
    children.set(element.element, readNode(fields[name], reading));
  }
  return children ? { own, children } : leaf;
}

/** The wire form of a field set: nested objects whose names are path elements; `.` says that the parent itself is meant. */
import { emptySet, type FieldSet, leaf, sortedChildren } from "./field-set.ts";
import { isMap } from "./json-value.ts";
import { type PathElement, readElement } from "./path-element.ts";

export interface FieldsV1 {
  readonly [element: string]: FieldsV1;
}

/** Plain objects whose names stand in the canonical order, so that their JSON is what Kubernetes writes. */
export function writeFieldsV1(set: FieldSet): FieldsV1 {
  const fields: Record<string, FieldsV1> = {};
  for (const [element, child] of sortedChildren(set)) {
    if (!child.children) fields[element] = {};
    else if (child.own) fields[element] = { ".": {}, ...writeFieldsV1(child) };
    else fields[element] = writeFieldsV1(child);
  }
  return fields;
}

export type ReadFields =
  | { readonly kind: "Read"; readonly set: FieldSet }
  | { readonly kind: "Malformed"; readonly message: string };

/** Reads what anyone may have stored; elements of a kind that we do not know are left out. */
export function readFieldsV1(fields: unknown): ReadFields {
  try {
    const { children } = readNode(fields);
    return { kind: "Read", set: children ? { own: false, children } : emptySet };
  } catch (error) {
    if (error instanceof MalformedFields) return { kind: "Malformed", message: error.message };
    throw error;
  }
}

class MalformedFields extends Error {}

function readNode(fields: unknown): FieldSet {
  if (fields === null || fields === undefined) return leaf;
  if (!isMap(fields)) throw new MalformedFields(`expected an object, found ${JSON.stringify(fields)}`);
  let own = false;
  let children: Map<PathElement, FieldSet> | undefined;
  for (const name of Object.keys(fields)) {
    if (name === ".") {
      own = true;
      continue;
    }
    const read = readElement(name);
    if (read.kind === "Unknown") continue;
    if (read.kind === "Malformed") throw new MalformedFields(`parsing key as path element: ${read.message}`);
    children ??= new Map();
    children.set(read.element, readNode(fields[name]));
  }
  return children ? { own, children } : leaf;
}

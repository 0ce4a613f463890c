/** Types by path: what is known about documents, functions and variables, in a tree that follows refs. */
import { constantValue } from "../evaluate/terms.ts";
import type { Term } from "../syntax/ast.ts";
import { selectType, valuesOf } from "../types/select.ts";
import {
  anyType,
  type MaybeType,
  type ObjectType,
  objectType,
  or,
  setType,
  stringType,
  type Type,
} from "../types/types.ts";
import { canonicalText } from "../values/value.ts";

export interface TypeNode {
  readonly part: Term | undefined;
  value: MaybeType;
  readonly children: Map<string, TypeNode>;
}

export function newTypeNode(part?: Term): TypeNode {
  return { part, value: undefined, children: new Map() };
}

export function childOf(node: TypeNode, part: Term): TypeNode | undefined {
  return node.children.get(keyOf(part));
}

/** Variables stand for themselves: a rule that could not be typed may leave a path with variables. */
function keyOf(part: Term): string {
  if (part.kind === "var") return part.name;
  const constant = constantValue(part);
  // No variable starts like these.
  if (typeof constant === "string") return `"${constant}`;
  return constant === undefined ? "?" : `#${canonicalText(constant)}`;
}

function grow(node: TypeNode, part: Term): TypeNode {
  const key = keyOf(part);
  let child = node.children.get(key);
  if (child === undefined) {
    child = newTypeNode(part);
    node.children.set(key, child);
  }
  return child;
}

export function putType(root: TypeNode, path: readonly Term[], type: MaybeType): void {
  let node = root;
  for (const part of path) node = grow(node, part);
  node.value = type;
}

/** Adds the type of one more rule; rules of one document add up, and objects take in what lies below them. */
export function insertType(root: TypeNode, path: readonly Term[], type: Type, typeOf: (part: Term) => MaybeType): void {
  let node = root;
  path.forEach((part, index) => {
    const isNew = childOf(node, part) === undefined;
    node = grow(node, part);
    if (!isNew && node.value?.kind === "object" && index + 1 < path.length) {
      node.value = insertIntoObject(node.value, path.slice(index + 1), type, typeOf);
    }
  });
  node.value = mergeTypes(node.value, type);
  if (type.kind !== "object" || node.value?.kind !== "object") return;
  for (const [below, leaf] of leafsBelow(node)) {
    if (node.value?.kind === "object") node.value = insertIntoObject(node.value, below, leaf, typeOf);
  }
}

function* leafsBelow(node: TypeNode): IterableIterator<readonly [readonly Term[], Type]> {
  for (const child of node.children.values()) {
    const part = child.part;
    if (part === undefined) continue;
    if (child.value !== undefined) yield [[part], child.value];
    else for (const [path, type] of leafsBelow(child)) yield [[part, ...path], type];
  }
}

function insertIntoObject(
  object: ObjectType,
  path: readonly Term[],
  type: Type,
  typeOf: (part: Term) => MaybeType,
): Type {
  const [part, ...rest] = path;
  if (part === undefined) return object;
  const inner = rest.length === 0 ? type : insertIntoObject(emptyObject, rest, type, typeOf);
  const key = typeOf(part);
  const { fields, rest: known } = object;
  return objectType(
    fields,
    known === undefined ? { key, value: inner } : { key: or(known.key, key), value: or(known.value, inner) },
  );
}

const emptyObject: ObjectType = { kind: "object", fields: [], rest: undefined };

/** Sets and objects without fixed keys become one type, others become alternatives. */
function mergeTypes(left: MaybeType, right: MaybeType): MaybeType {
  if (left === undefined) return right;
  if (right === undefined) return left;
  if (left.kind === "any" && right.kind !== "any") return mergeTypes(right, left);
  if (left.kind === "set" && right.kind === "set") return setType(or(left.item, right.item));
  if (left.kind === "object" && left.fields.length === 0) {
    if (right.kind === "object" && right.fields.length === 0) return mergeOpenObjects(left, right);
    const { rest } = left;
    if (right.kind === "any" && rest !== undefined) {
      const index = right.of.findIndex(
        (each) => each.kind === "object" && each.fields.length === 0 && each.rest !== undefined,
      );
      const found = right.of[index];
      if (found?.kind === "object" && found.rest !== undefined) {
        const merged = { key: or(found.rest.key, rest.key), value: or(found.rest.value, rest.value) };
        return { kind: "any", of: right.of.map((each, at) => (at === index ? objectType([], merged) : each)) };
      }
    }
  }
  return or(left, right);
}

function mergeOpenObjects(left: ObjectType, right: ObjectType): MaybeType {
  if (left.rest === undefined) return right;
  if (right.rest === undefined) return left;
  return objectType([], {
    key: or(left.rest.key, right.rest.key),
    value: mergeTypes(left.rest.value, right.rest.value),
  });
}

/** The type of everything at and below a node: base documents may add fields to a package. */
export function extentOf(node: TypeNode): MaybeType {
  if (node.value !== undefined) return node.value;
  const fields = [...node.children.values()].flatMap(
    (child): readonly (readonly [string | number | boolean, MaybeType])[] => {
      const key = child.part === undefined ? undefined : constantValue(child.part);
      return typeof key === "string" || typeof key === "number" || typeof key === "boolean"
        ? [[key, extentOf(child)]]
        : [];
    },
  );
  return objectType(fields, { key: stringType, value: anyType });
}

/** The type at the end of the rest of a ref; what a variable part selects may be any member. */
export function selectAlong(type: MaybeType, parts: readonly Term[]): MaybeType {
  let found = type;
  for (const part of parts) {
    if (found === undefined) return undefined;
    const key = part.kind === "scalar" ? part.value : undefined;
    found = key === undefined ? valuesOf(found) : selectType(found, key);
  }
  return found;
}

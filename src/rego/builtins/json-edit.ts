/** `json.filter`, `json.remove` and `json.patch`. */
import { BuiltinFault } from "../evaluate/errors.ts";
import { equalValues, typeName } from "../values/compare.ts";
import { formatValue } from "../values/format.ts";
import { isNumber, numberText } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { type Args, arrayAt, type Builtins, membersAt, objectAt, operand, operandFault } from "./operands.ts";

export const jsonEditBuiltins: Builtins = {
  "json.filter": (args) => filter(objectAt(args, 0), pathTree(pathsAt(args))),
  "json.remove": (args) => remove(objectAt(args, 0), pathTree(pathsAt(args))),
  "json.patch": patch,
};

type Path = readonly Value[];

function pathsAt(args: Args): readonly Path[] {
  return membersAt(args, 1).map(parsePath);
}

/** A JSON pointer (the leading slash may be missing) or an array of keys. */
function parsePath(path: Value): Path {
  if (isArray(path)) return path;
  if (typeof path !== "string") {
    throw operandFault(
      1,
      `must be one of {set, array} containing string paths or array of path segments but got ${typeName(path)}`,
    );
  }
  if (path === "") return [];
  return path
    .replace(/^\/+/, "")
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Paths as a tree; `null` marks the end of one, and nothing below it matters. */
function pathTree(paths: readonly Path[]): RegoObject {
  const root = new RegoObject();
  for (const path of paths) {
    if (path.length === 0) continue;
    let node = root;
    let isCovered = false;
    for (const key of path.slice(0, -1)) {
      const child = node.get(key);
      if (child === null) {
        isCovered = true;
        break;
      }
      if (child instanceof RegoObject) node = child;
      else {
        const inner = new RegoObject();
        node.set(key, inner);
        node = inner;
      }
    }
    if (!isCovered) node.set(path.at(-1) ?? null, null);
  }
  return root;
}

function filter(value: Value, tree: Value): Value {
  if (!(tree instanceof RegoObject)) return value;
  if (value instanceof RegoObject) {
    const result = new RegoObject();
    for (const [key, field] of value.entries()) {
      const part = tree.get(key);
      if (part === undefined) continue;
      result.set(key, filter(field, part));
    }
    return result;
  }
  if (isArray(value)) {
    const result: Value[] = [];
    value.forEach((item, index) => {
      const part = tree.get(String(index));
      if (part !== undefined) result.push(filter(item, part));
    });
    return result;
  }
  if (value instanceof RegoSet) {
    const result = new RegoSet();
    for (const item of value) {
      const part = tree.get(item);
      if (part !== undefined) result.add(filter(item, part));
    }
    return result;
  }
  return value;
}

function remove(value: Value, tree: Value | undefined): Value | undefined {
  if (tree === undefined) return value;
  if (tree === null) return undefined;
  if (!(tree instanceof RegoObject)) return value;
  if (value instanceof RegoObject) {
    const result = new RegoObject();
    for (const [key, field] of value.entries()) {
      const kept = remove(field, tree.get(key));
      if (kept !== undefined) result.set(key, kept);
    }
    return result;
  }
  if (isArray(value)) {
    return value.flatMap((item, index) => {
      const kept = remove(item, tree.get(String(index)));
      return kept === undefined ? [] : [kept];
    });
  }
  if (value instanceof RegoSet) {
    const result = new RegoSet();
    for (const item of value) {
      const kept = remove(item, tree.get(item));
      if (kept !== undefined) result.add(kept);
    }
    return result;
  }
  return value;
}

function patch(args: Args): Value {
  let document: Value = operand(args, 0);
  for (const operation of arrayAt(args, 1)) {
    if (!(operation instanceof RegoObject)) {
      throw new BuiltinFault("must be an array of JSON-Patch objects, but at least one element is not an object");
    }
    document = applyOperation(document, operation);
  }
  return document;
}

function applyOperation(document: Value, operation: RegoObject): Value {
  const rawPath = required(operation, "path");
  const kind = required(operation, "op");
  if (typeof kind !== "string") throw new BuiltinFault(`attribute 'op' must be a string but found: ${typeName(kind)}`);
  const path = parsePath(rawPath);
  switch (kind) {
    case "add":
      return insertAt(document, path, required(operation, "value"));
    case "remove":
      return deleteAt(document, path);
    case "replace": {
      const without = deleteAt(document, path);
      return insertAt(without, path, required(operation, "value"));
    }
    case "move": {
      const from = parsePath(required(operation, "from"));
      const moved = valueAt(document, from);
      return insertAt(deleteAt(document, from), path, moved);
    }
    case "copy": {
      const copied = valueAt(document, parsePath(required(operation, "from")));
      return insertAt(document, path, copied);
    }
    case "test": {
      const found = valueAt(document, path);
      const value = required(operation, "value");
      if (equalValues(found, value)) return document;
      throw new BuiltinFault(
        `value from EditTree != patch value.\n\nExpected: ${formatValue(value)}\n\nFound: ${formatValue(found)}`,
      );
    }
    default:
      throw new BuiltinFault(`unrecognized op: '${kind}'`);
  }
}

function required(operation: RegoObject, name: string): Value {
  const value = operation.field(name);
  if (value === undefined) throw new BuiltinFault(`missing required attribute '${name}'`);
  return value;
}

/** An index into an array; `-` is the place after the last element. */
function indexOf(key: Value, length: number): number {
  if (isNumber(key)) {
    const index = Number(numberText(key));
    if (!Number.isInteger(index)) throw new BuiltinFault("invalid number type for indexing");
    return index;
  }
  if (typeof key !== "string") throw new BuiltinFault("invalid type for indexing");
  if (key === "-") return length;
  if (!/^-?\d+$/.test(key)) throw new BuiltinFault("invalid string for indexing");
  if (key.length > 1 && key.startsWith("0")) throw new BuiltinFault("leading zeros are not allowed in JSON paths");
  return Number(key);
}

function childAt(container: Value, key: Value): Value {
  if (container instanceof RegoObject) {
    const child = container.get(key);
    if (child !== undefined) return child;
  } else if (isArray(container)) {
    const child = container[indexOf(key, container.length)];
    if (child !== undefined) return child;
  } else if (container instanceof RegoSet) {
    if (container.has(key)) return key;
  } else {
    throw new BuiltinFault(
      `expected composite type for path ${formatValue(key)}, found value: ${formatValue(container)}`,
    );
  }
  throw new BuiltinFault(
    `path ${formatValue(key)} does not exist in ${typeName(container)} term ${formatValue(container)}`,
  );
}

function valueAt(document: Value, path: Path): Value {
  let value = document;
  for (const key of path) value = childAt(value, key);
  return value;
}

/** A copy with the child at `key` replaced by the result of `change`; undefined removes it. */
function changeChild(container: Value, key: Value, change: (child: Value) => Value): Value {
  const next = change(childAt(container, key));
  if (container instanceof RegoObject) {
    const copy = container.copy();
    copy.set(key, next);
    return copy;
  }
  if (isArray(container)) return container.with(indexOf(key, container.length), next);
  if (container instanceof RegoSet) {
    return new RegoSet([...container.items().filter((item) => !equalValues(item, key)), next]);
  }
  return container;
}

function insertAt(document: Value, path: Path, value: Value): Value {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (rest.length > 0) return changeChild(document, key, (child) => insertAt(child, rest, value));
  if (document instanceof RegoObject) {
    const copy = document.copy();
    copy.set(key, value);
    return copy;
  }
  if (isArray(document)) {
    const index = indexOf(key, document.length);
    if (index < 0 || index > document.length) throw new BuiltinFault("index for array insertion out of bounds");
    return document.toSpliced(index, 0, value);
  }
  if (document instanceof RegoSet) {
    if (!equalValues(key, value)) {
      throw new BuiltinFault(`set key ${formatValue(key)} does not equal value to be inserted ${formatValue(value)}`);
    }
    return new RegoSet([...document.items(), value]);
  }
  throw new BuiltinFault(`expected composite type, found value: ${formatValue(document)}`);
}

function deleteAt(document: Value, path: Path): Value {
  const [key, ...rest] = path;
  // Removing the whole document leaves nothing to patch; `replace` puts the new one there.
  if (key === undefined) return null;
  if (rest.length > 0) return changeChild(document, key, (child) => deleteAt(child, rest));
  if (document instanceof RegoObject) {
    if (!document.has(key)) throw new BuiltinFault(`cannot delete child key ${formatValue(key)} that does not exist`);
    const copy = document.copy();
    copy.delete(key);
    return copy;
  }
  if (isArray(document)) {
    const index = indexOf(key, document.length);
    if (index < 0 || index >= document.length) throw new BuiltinFault("index for array delete out of bounds");
    return document.toSpliced(index, 1);
  }
  if (document instanceof RegoSet) {
    if (!document.has(key)) throw new BuiltinFault(`cannot delete child key ${formatValue(key)} that does not exist`);
    return new RegoSet(document.items().filter((item) => !equalValues(item, key)));
  }
  throw new BuiltinFault(`expected composite type, found value: ${formatValue(document)}`);
}

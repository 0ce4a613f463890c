/** Aggregates, arrays, sets, objects, graphs and types. */
import { BuiltinFault } from "../evaluate/errors.ts";
import { lookup } from "../evaluate/lookup.ts";
import { product, sum } from "../values/arithmetic.ts";
import { compareValues, equalValues, typeName } from "../values/compare.ts";
import { type Decimal, isNumber } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import {
  type Args,
  arrayAt,
  type Builtins,
  elementFault,
  membersAt,
  objectAt,
  operand,
  type Relation,
  setAt,
  smallIntegerAt,
  typeFault,
} from "./operands.ts";

export const collectionBuiltins: Builtins = {
  count,
  sum: (args) => sum(numbersOf(args)),
  product: (args) => product(numbersOf(args)),
  max: (args) => extreme(membersAt(args, 0), 1),
  min: (args) => extreme(membersAt(args, 0), -1),
  sort: (args) => [...membersAt(args, 0)].sort(compareValues),
  all: (args) => membersAt(args, 0, ["array", "set"]).every((item) => item === true),
  any: (args) => membersAt(args, 0, ["array", "set"]).some((item) => item === true),

  "internal.member_2": (args) => isMember(operand(args, 0), operand(args, 1)),
  "internal.member_3": (args) => {
    const container = operand(args, 2);
    if (container === null || typeof container !== "object") return false;
    const found = lookup(container, operand(args, 0));
    return found !== undefined && equalValues(found, operand(args, 1));
  },

  "array.concat": (args, machine) => {
    const joined = [...arrayAt(args, 0), ...arrayAt(args, 1)];
    machine.grow(joined.length);
    return joined;
  },
  "array.flatten": (args) => arrayAt(args, 0).flatMap((item) => (isArray(item) ? [...item] : [item])),
  "array.reverse": (args) => [...arrayAt(args, 0)].reverse(),
  "array.slice": slice,

  and: (args) => intersect([setAt(args, 0), setAt(args, 1)]),
  or: (args, machine) => {
    const left = setAt(args, 0);
    const right = setAt(args, 1);
    machine.grow(left.size + right.size);
    return new RegoSet([...left.items(), ...right.items()]);
  },
  set_diff: (args) => {
    const right = setAt(args, 1);
    return new RegoSet(
      setAt(args, 0)
        .items()
        .filter((item) => !right.has(item)),
    );
  },
  union: (args) => new RegoSet(setsOf(args).flatMap((set) => set.items())),
  intersection: (args) => intersect(setsOf(args)),

  "object.get": objectGet,
  "object.keys": (args) => new RegoSet(objectAt(args, 0).keys()),
  "object.remove": (args) => {
    const removed = keysOperand(args, 1);
    const result = objectAt(args, 0).copy();
    for (const key of removed) result.delete(key);
    return result;
  },
  "object.filter": (args) => {
    const object = objectAt(args, 0);
    const result = new RegoObject();
    for (const key of keysOperand(args, 1)) {
      const value = object.get(key);
      if (value !== undefined) result.set(key, value);
    }
    return result;
  },
  "object.union": (args) => unite(objectAt(args, 0), objectAt(args, 1)),
  "object.union_n": (args) => {
    const items = arrayAt(args, 0);
    let result: Value = new RegoObject();
    for (const item of items) {
      if (!(item instanceof RegoObject)) throw elementFault(0, items, item, "object");
      result = unite(result, item);
    }
    return result;
  },
  "object.subset": subset,

  "graph.reachable": (args) => {
    const graph = objectAt(args, 0);
    const queue = [...membersAt(args, 1, ["{array, set}"])];
    const reached = new RegoSet();
    for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
      if (reached.has(node)) continue;
      const edges = graph.get(node);
      if (edges === undefined) continue;
      reached.add(node);
      queue.push(...neighbours(edges));
    }
    return reached;
  },
  "graph.reachable_paths": reachablePaths,

  is_array: (args) => isArray(operand(args, 0)),
  is_boolean: (args) => typeof operand(args, 0) === "boolean",
  is_null: (args) => operand(args, 0) === null,
  is_number: (args) => isNumber(operand(args, 0)),
  is_object: (args) => operand(args, 0) instanceof RegoObject,
  is_set: (args) => operand(args, 0) instanceof RegoSet,
  is_string: (args) => typeof operand(args, 0) === "string",
  type_name: (args) => typeName(operand(args, 0)),

  cast_array: (args) => [...membersAt(args, 0, ["array", "set"])],
  cast_set: (args) => new RegoSet(membersAt(args, 0, ["array", "set"])),
  cast_string: (args) => castTo(args, "string"),
  cast_boolean: (args) => castTo(args, "boolean"),
  cast_null: (args) => castTo(args, "null"),
  cast_object: (args) => castTo(args, "object"),
};

/** `walk(x)`: every path into a value, with what is there. */
export const walk: Relation = (machine, args, visit) => {
  const step = (path: readonly Value[], value: Value): boolean => {
    machine.grow(path.length + 1);
    if (visit([path, value])) return true;
    if (value === null || typeof value !== "object") return false;
    if (isArray(value)) return value.some((item, index) => step([...path, index], item));
    if (value instanceof RegoObject) {
      return value.keys().some((key) => step([...path, key], value.get(key) ?? null));
    }
    if (value instanceof RegoSet) return value.items().some((item) => step([...path, item], item));
    return false;
  };
  return step([], operand(args, 0));
};

function count(args: Args): Value {
  const value = operand(args, 0);
  if (typeof value === "string") {
    let length = 0;
    for (const _ of value) length++;
    return length;
  }
  if (isArray(value)) return value.length;
  if (value instanceof RegoObject || value instanceof RegoSet) return value.size;
  throw typeFault(0, value, "array", "object", "set", "string");
}

function numbersOf(args: Args): readonly (number | Decimal)[] {
  return membersAt(args, 0).map((item) => {
    if (!isNumber(item)) throw elementFault(0, operand(args, 0), item, "number");
    return item;
  });
}

function extreme(items: readonly Value[], sign: number): Value | undefined {
  let best: Value | undefined;
  // Of numbers that are equal but written differently, the last one counts.
  for (const item of items) if (best === undefined || compareValues(item, best) * sign >= 0) best = item;
  return best;
}

function isMember(item: Value, container: Value): boolean {
  if (container instanceof RegoSet) return container.has(item);
  if (isArray(container)) return container.some((other) => equalValues(other, item));
  if (container instanceof RegoObject) {
    return container.keys().some((key) => equalValues(container.get(key) ?? null, item));
  }
  return false;
}

function slice(args: Args): Value {
  const items = arrayAt(args, 0);
  const start = Math.max(0, smallIntegerAt(args, 1));
  const end = Math.min(items.length, smallIntegerAt(args, 2));
  return end <= start ? [] : items.slice(start, end);
}

function setsOf(args: Args): readonly RegoSet[] {
  const outer = setAt(args, 0);
  return outer.items().map((item) => {
    if (!(item instanceof RegoSet)) throw elementFault(0, outer, item, "set");
    return item;
  });
}

function intersect(sets: readonly RegoSet[]): RegoSet {
  const [first, ...rest] = sets;
  if (first === undefined) return new RegoSet();
  return new RegoSet(first.items().filter((item) => rest.every((set) => set.has(item))));
}

function objectGet(args: Args): Value {
  const object = objectAt(args, 0);
  const key = operand(args, 1);
  const fallback = operand(args, 2);
  if (!isArray(key)) return object.get(key) ?? fallback;
  let value: Value = object;
  for (const part of key) {
    const next: Value | undefined = value === null || typeof value !== "object" ? undefined : lookup(value, part);
    if (next === undefined) return fallback;
    value = next;
  }
  return value;
}

function keysOperand(args: Args, index: number): readonly Value[] {
  const value = operand(args, index);
  if (value instanceof RegoObject) return value.keys();
  return membersAt(args, index, ["object", "set", "array"]);
}

function unite(left: Value, right: Value): Value {
  if (!(left instanceof RegoObject) || !(right instanceof RegoObject)) return right;
  const result = left.copy();
  for (const key of right.keys()) {
    const own = left.get(key);
    const other = right.get(key) ?? null;
    result.set(key, own === undefined ? other : unite(own, other));
  }
  return result;
}

function subset(args: Args): Value {
  const sup = operand(args, 0);
  const sub = operand(args, 1);
  if (sup instanceof RegoObject && sub instanceof RegoObject) return isObjectSubset(sup, sub);
  if (sup instanceof RegoSet && sub instanceof RegoSet) return sub.items().every((item) => sup.has(item));
  if (isArray(sup) && isArray(sub)) return isSubarray(sup, sub);
  if (isArray(sup) && sub instanceof RegoSet) {
    const members = new RegoSet(sup);
    return sub.items().every((item) => members.has(item));
  }
  throw new BuiltinFault("both arguments object.subset must be of the same type or array and set", "eval_type_error");
}

function isObjectSubset(sup: RegoObject, sub: RegoObject): boolean {
  return sub.keys().every((key) => {
    const own = sup.get(key);
    return own !== undefined && isValueSubset(own, sub.get(key) ?? null);
  });
}

function isValueSubset(sup: Value, sub: Value): boolean {
  if (equalValues(sup, sub)) return true;
  if (sup instanceof RegoObject && sub instanceof RegoObject) return isObjectSubset(sup, sub);
  if (sup instanceof RegoSet && sub instanceof RegoSet) return sub.items().every((item) => sup.has(item));
  if (isArray(sup) && isArray(sub)) return isSubarray(sup, sub);
  return false;
}

/** The elements of `sub` stand next to each other, in order, somewhere in `sup`. */
function isSubarray(sup: readonly Value[], sub: readonly Value[]): boolean {
  if (sub.length === 0) return true;
  for (let start = 0; start + sub.length <= sup.length; start++) {
    if (sub.every((item, index) => isValueSubset(sup[start + index] ?? null, item))) return true;
  }
  return false;
}

function neighbours(edges: Value): readonly Value[] {
  if (isArray(edges)) return edges;
  return edges instanceof RegoSet ? edges.items() : [];
}

function reachablePaths(args: Args, machine: { grow(size: number): void }): Value {
  const graph = objectAt(args, 0);
  const result = new RegoSet();
  const follow = (node: Value, path: readonly Value[], seen: RegoSet): void => {
    const edges = graph.get(node);
    if (edges === undefined) {
      if (path.length > 0) result.add(path);
      return;
    }
    const nextPath = [...path, node];
    machine.grow(nextPath.length);
    const nextSeen = new RegoSet([...seen.items(), node]);
    const targets = neighbours(edges);
    if (targets.length === 0) {
      result.add(nextPath);
      return;
    }
    for (const target of targets) {
      if (nextSeen.has(target)) result.add(nextPath);
      else follow(target, nextPath, nextSeen);
    }
  };
  for (const root of membersAt(args, 1, ["{array, set}"])) if (graph.has(root)) follow(root, [], new RegoSet());
  return result;
}

function castTo(args: Args, kind: string): Value {
  const value = operand(args, 0);
  if (typeName(value) !== kind) throw typeFault(0, value, kind);
  return value;
}

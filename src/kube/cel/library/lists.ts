import { fixed, multiply, unbounded } from "../cost.ts";
import { declare, type FunctionDeclaration, fn, method } from "../declaration.ts";
import { compareValues, equalValues } from "../equal.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  paramType,
  stringType,
  timestampType,
  uintType,
} from "../type.ts";
import {
  ArrayList,
  CelError,
  CelList,
  type CelValue,
  Duration,
  keyIdentity,
  noSuchOverload,
  sizeOf,
  Uint,
} from "../value.ts";
import { deepWork } from "../work.ts";
import { duration, int64 } from "./arithmetic.ts";
import { maxListLength } from "./limits.ts";
import {
  allocated,
  allocates,
  comparesAll,
  integerLiteral,
  listEstimate,
  sliceEstimate,
  sortEstimate,
  traverses,
} from "./list-costs.ts";

const T = paramType("T");
const listOfT = listType(T);
const comparable: readonly CelType[] = [
  intType,
  uintType,
  doubleType,
  boolType,
  durationType,
  timestampType,
  stringType,
  bytesType,
];
const summable: readonly CelType[] = [intType, uintType, doubleType, durationType];

/** Functions on lists: Kubernetes' own, and those that sort, slice and flatten. */
export const listsLibrary: readonly FunctionDeclaration[] = [
  declare(
    "isSorted",
    ...comparable.map((type) =>
      method(`list_${type.kind}_is_sorted_bool`, [listType(type)], boolType, isSorted, traverses),
    ),
  ),
  declare(
    "sum",
    ...summable.map((type) =>
      method(`list_${type.kind}_sum_${type.kind}`, [listType(type)], type, sum(type), traverses),
    ),
  ),
  declare(
    "min",
    ...comparable.map((type) =>
      method(`list_${type.kind}_min_${type.kind}`, [listType(type)], type, extreme("min", 1), traverses),
    ),
  ),
  declare(
    "max",
    ...comparable.map((type) =>
      method(`list_${type.kind}_max_${type.kind}`, [listType(type)], type, extreme("max", -1), traverses),
    ),
  ),
  declare("indexOf", method("list_a_index_of_int", [listOfT, T], intType, indexOf, traverses)),
  declare("lastIndexOf", method("list_a_last_index_of_int", [listOfT, T], intType, lastIndexOf, traverses)),
  declare(
    "slice",
    method("list_slice", [listOfT, intType, intType], listOfT, slice, { ...allocates, estimate: sliceEstimate }),
  ),
  declare(
    "flatten",
    method("list_flatten", [listType(listOfT)], listOfT, (list) => flatten(list, 1n), {
      cost: ([list = null]) => allocated(sizeOf(list)),
      estimate: ({ target }) => target && listEstimate(1, target.size),
    }),
    method("list_flatten_int", [listType(dynType), intType], listType(dynType), flatten, {
      cost: ([list = null, depth]) => allocated(sizeOf(list) * Math.max(0, Number(depth as bigint))),
      estimate: ({ target, args: [depth] }) => target && listEstimate(integerLiteral(depth, unbounded), target.size),
    }),
  ),
  declare(
    "reverse",
    method("list_reverse", [listOfT], listOfT, (list) => new ArrayList([...(list as CelList)].reverse()), {
      ...allocates,
      estimate: ({ target }) => target && listEstimate(1, target.size),
    }),
  ),
  declare(
    "distinct",
    method("list_distinct", [listOfT], listOfT, distinct, {
      cost: ([list]) => comparesAll(list),
      work: ([list = null]) => deepWork(list),
      estimate: ({ target }) => target && listEstimate(2, multiply(target.size, target.size)),
    }),
  ),
  declare(
    "sort",
    ...comparable.map((type) =>
      method(`list_${type.name}_sort`, [listType(type)], listType(type), (list) => sortBy(list, list), {
        cost: ([list]) => comparesAll(list),
        estimate: ({ target }) => target && sortEstimate(target, type),
      }),
    ),
  ),
  declare(
    "@sortByAssociatedKeys",
    ...comparable.map((type) =>
      method(`list_${type.name}_sortByAssociatedKeys`, [listOfT, listType(type)], listOfT, sortBy, {
        cost: ([, keys]) => comparesAll(keys),
        estimate: ({ args: [keys] }) => keys && sortEstimate(keys, type),
      }),
    ),
  ),
  declare(
    "lists.range",
    fn("lists_range", [intType], listType(intType), range, {
      cost: ([count]) => allocated(Math.max(0, Number(count as bigint))),
      estimate: ({ args: [count] }) => listEstimate(1, fixed(integerLiteral(count, unbounded))),
    }),
  ),
];

function isSorted(list: CelValue): CelValue {
  let previous: CelValue | undefined;
  for (const item of list as CelList) {
    if (item instanceof CelError) return item;
    if (previous !== undefined) {
      const order = compareValues(previous, item);
      if (order === undefined) return noSuchOverload;
      if (order instanceof CelError) return order;
      if (order > 0) return false;
    }
    previous = item;
  }
  return true;
}

function sum(type: CelType): (list: CelValue) => CelValue {
  return (list) => {
    let total = 0n;
    let floating = 0;
    for (const item of list as CelList) {
      if (item instanceof CelError) return item;
      if (typeof item === "number") floating += item;
      else if (typeof item === "bigint") total += item;
      else if (item instanceof Uint) total += item.value;
      else if (item instanceof Duration) total += item.nanoseconds;
      else return noSuchOverload;
    }
    if (type.kind === "double") return floating;
    if (type.kind === "duration") return duration(total);
    if (type.kind === "int") return int64(total);
    return BigInt.asUintN(64, total) === total ? new Uint(total) : new CelError("unsigned integer overflow");
  };
}

function extreme(name: string, replacedWhen: 1 | -1): (list: CelValue) => CelValue {
  return (list) => {
    let best: CelValue | undefined;
    for (const item of list as CelList) {
      if (item instanceof CelError) return item;
      const order = best === undefined ? replacedWhen : compareValues(best, item);
      if (order === undefined) return noSuchOverload;
      if (order instanceof CelError) return order;
      if (Math.sign(order) === replacedWhen) best = item;
    }
    return best === undefined ? new CelError(`${name} called on empty list`) : best;
  };
}

function indexOf(list: CelValue, item: CelValue): CelValue {
  const items = list as CelList;
  for (let index = 0; index < items.length; index += 1) {
    if (equalValues(items.at(index), item) === true) return BigInt(index);
  }
  return -1n;
}

function lastIndexOf(list: CelValue, item: CelValue): CelValue {
  const items = list as CelList;
  for (let index = items.length - 1; index >= 0; index -= 1) {
    if (equalValues(items.at(index), item) === true) return BigInt(index);
  }
  return -1n;
}

function slice(list: CelValue, start: CelValue, end: CelValue): CelValue {
  const items = list as CelList;
  const [from, to] = [start as bigint, end as bigint];
  const refuse = (why: string): CelError => new CelError(`cannot slice(${from}, ${to}), ${why}`);
  if (from < 0n || to < 0n) return refuse("negative indexes not supported");
  if (from > to) return refuse("start index must be less than or equal to end index");
  if (BigInt(items.length) < to) return refuse(`list is length ${items.length}`);
  return new ArrayList([...items].slice(Number(from), Number(to)));
}

function flatten(list: CelValue, depth: CelValue): CelValue {
  if ((depth as bigint) < 0n) return new CelError("level must be non-negative");
  const flat: CelValue[] = [];
  const visit = (items: CelList, left: bigint): void => {
    for (let index = 0; index < items.length && flat.length <= maxListLength; index += 1) {
      const item = items.at(index);
      if (item instanceof CelList && left > 0n) visit(item, left - 1n);
      else flat.push(item);
    }
  };
  visit(list as CelList, depth as bigint);
  return flat.length > maxListLength ? new CelError("the list becomes too long") : new ArrayList(flat);
}

/** Scalars are told apart by a table; only lists and objects are compared one by one. */
function distinct(list: CelValue): CelValue {
  const seen = new Set<string>();
  const others: CelValue[] = [];
  const kept: CelValue[] = [];
  for (const item of list as CelList) {
    const identity = keyIdentity(item);
    if (identity !== undefined) {
      if (seen.has(identity)) continue;
      seen.add(identity);
    } else if (others.some((other) => equalValues(item, other) === true)) continue;
    else others.push(item);
    kept.push(item);
  }
  return new ArrayList(kept);
}

function sortBy(list: CelValue, keys: CelValue): CelValue {
  const items = [...(list as CelList)];
  const by = [...(keys as CelList)];
  if (items.length !== by.length) {
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${items.length} and ${by.length} elements respectively`,
    );
  }
  let problem: CelError | undefined;
  const order = by
    .map((_key, index) => index)
    .sort((left, right) => {
      const compared = compareValues(by[left] ?? null, by[right] ?? null);
      if (typeof compared === "number") return compared;
      problem ??= compared ?? new CelError("list elements must have the same type");
      return 0;
    });
  return problem ?? new ArrayList(order.map((index) => items[index] ?? null));
}

function range(count: CelValue): CelValue {
  const numbers: CelValue[] = [];
  for (let number = 0n; number < (count as bigint); number += 1n) numbers.push(number);
  return new ArrayList(numbers);
}

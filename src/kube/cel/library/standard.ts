import { declare, type FunctionDeclaration, fn, method, type Overload } from "../declaration.ts";
import { compareValues, equalValues } from "../equal.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  listType,
  mapType,
  paramType,
  stringType,
  timestampType,
  uintType,
} from "../type.ts";
import {
  CelError,
  type CelList,
  type CelMap,
  type CelValue,
  characterCount,
  noSuchOverload,
  sizeOf,
} from "../value.ts";
import { deepWork } from "../work.ts";
import { arithmetic } from "./arithmetic.ts";
import { conversions } from "./conversions.ts";
import { findPattern } from "./regex.ts";
import { comparedTexts, containsCost, equality, matchCost, readsTarget } from "./text-cost.ts";
import { timeAccessors } from "./time-accessors.ts";

const A = paramType("A");
const B = paramType("B");
const listOfA = listType(A);
const mapOfAB = mapType(A, B);

/** What every CEL has: operators, sizes, texts, conversions and times. */
export const standardLibrary: readonly FunctionDeclaration[] = [
  // The evaluator carries these out itself, because they do not always look at all of their arguments.
  declare("_?_:_", fn("conditional", [boolType, A, A], A)),
  declare("_&&_", fn("logical_and", [boolType, boolType], boolType)),
  declare("_||_", fn("logical_or", [boolType, boolType], boolType)),
  declare("@not_strictly_false", fn("not_strictly_false", [boolType], boolType)),
  declare("_[_]", fn("index_list", [listOfA, intType], A), fn("index_map", [mapOfAB, A], B)),

  declare(
    "!_",
    fn("logical_not", [boolType], boolType, (value) => !value),
  ),
  declare("_==_", fn("equals", [A, A], boolType, equal, equality)),
  declare("_!=_", fn("not_equals", [A, A], boolType, notEqual, comparedTexts)),
  ...ordering("_<_", "less", (order) => order < 0),
  ...ordering("_<=_", "less_equals", (order) => order <= 0),
  ...ordering("_>_", "greater", (order) => order > 0),
  ...ordering("_>=_", "greater_equals", (order) => order >= 0),
  ...arithmetic,
  declare(
    "@in",
    fn("in_list", [A, listOfA], boolType, (item, list) => contains(list, item), {
      cost: (args) => sizeOf(args[1] ?? null),
      work: ([, list = null]) => deepWork(list),
      estimate: ({ args }) => args[1] && { cost: args[1].size },
    }),
    fn("in_map", [A, mapOfAB], boolType, (key, map) => {
      const found = (map as CelMap).find(key);
      return found instanceof CelError ? found : found !== undefined;
    }),
  ),
  declare(
    "size",
    ...sized("string", stringType, (text) => characterCount(text as string)),
    ...sized("bytes", bytesType, (bytes) => (bytes as Uint8Array).length),
    ...sized("list", listOfA, (list) => (list as CelList).length),
    ...sized("map", mapOfAB, (map) => (map as CelMap).size),
  ),
  declare(
    "contains",
    method(
      "contains_string",
      [stringType, stringType],
      boolType,
      (text, part) => (text as string).includes(part as string),
      containsCost,
    ),
  ),
  declare(
    "startsWith",
    method(
      "starts_with_string",
      [stringType, stringType],
      boolType,
      (text, start) => (text as string).startsWith(start as string),
      readsTarget("argument"),
    ),
  ),
  declare(
    "endsWith",
    method(
      "ends_with_string",
      [stringType, stringType],
      boolType,
      (text, end) => (text as string).endsWith(end as string),
      readsTarget("argument"),
    ),
  ),
  declare(
    "matches",
    fn("matches", [stringType, stringType], boolType, matches, matchCost),
    method("matches_string", [stringType, stringType], boolType, matches, matchCost),
  ),
  ...conversions,
  ...timeAccessors,
];

function equal(left: CelValue, right: CelValue): CelValue {
  return equalValues(left, right);
}

function notEqual(left: CelValue, right: CelValue): CelValue {
  const equal = equalValues(left, right);
  return equal instanceof CelError ? equal : !equal;
}

/** Numbers compare across their kinds; everything else only with its own. */
function ordering(name: string, id: string, holds: (order: number) => boolean): readonly FunctionDeclaration[] {
  const compare = (left: CelValue, right: CelValue): CelValue => {
    const order = compareValues(left, right);
    if (order === undefined) return noSuchOverload;
    return order instanceof CelError ? order : holds(order);
  };
  const numbers: readonly (readonly [string, CelType])[] = [
    ["int64", intType],
    ["uint64", uintType],
    ["double", doubleType],
  ];
  const others: readonly (readonly [string, CelType])[] = [
    ["bool", boolType],
    ["timestamp", timestampType],
    ["duration", durationType],
  ];
  return [
    declare(
      name,
      ...numbers.flatMap(([leftName, left]) =>
        numbers.map(([rightName, right]) =>
          fn(
            leftName === rightName ? `${id}_${leftName}` : `${id}_${leftName}_${rightName}`,
            [left, right],
            boolType,
            compare,
          ),
        ),
      ),
      ...others.map(([type, of]) => fn(`${id}_${type}`, [of, of], boolType, compare)),
      fn(`${id}_string`, [stringType, stringType], boolType, compare, comparedTexts),
      fn(`${id}_bytes`, [bytesType, bytesType], boolType, compare, comparedTexts),
    ),
  ];
}

function sized(name: string, type: CelType, size: (value: CelValue) => number): readonly Overload[] {
  return [
    fn(`size_${name}`, [type], intType, (value) => BigInt(size(value))),
    method(`${name}_size`, [type], intType, (value) => BigInt(size(value))),
  ];
}

export function contains(list: CelValue, item: CelValue): CelValue {
  let error: CelError | undefined;
  for (const candidate of list as CelList) {
    const equal = equalValues(candidate, item);
    if (equal === true) return true;
    if (equal instanceof CelError) error ??= equal;
  }
  return error ?? false;
}

function matches(text: CelValue, pattern: CelValue): CelValue {
  const found = findPattern(pattern as string);
  return found.ok ? found.pattern.matches(text as string) : new CelError(found.message);
}

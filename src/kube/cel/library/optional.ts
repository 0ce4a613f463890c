import { declare, type FunctionDeclaration, fn, method } from "../declaration.ts";
import { boolType, dynType, intType, listType, mapType, optionalType, paramType, stringType } from "../type.ts";
import {
  ArrayList,
  CelError,
  CelList,
  CelMap,
  type CelValue,
  Duration,
  none,
  Optional,
  Timestamp,
  Uint,
} from "../value.ts";

const K = paramType("K");
const V = paramType("V");
const optionalV = optionalType(V);
const listOfV = listType(V);
const mapOfKV = mapType(K, V);

/** Values that may be missing. */
export const optionalLibrary: readonly FunctionDeclaration[] = [
  declare(
    "optional.of",
    fn("optional_of", [V], optionalV, (value) => new Optional(value)),
  ),
  declare(
    "optional.ofNonZeroValue",
    fn("optional_ofNonZeroValue", [V], optionalV, (value) => (isZero(value) ? none : new Optional(value))),
  ),
  declare(
    "optional.none",
    fn("optional_none", [], optionalV, () => none),
  ),
  declare(
    "value",
    method("optional_value", [optionalV], V, (optional) => (optional as Optional).value ?? dereferenced(optional)),
  ),
  declare(
    "hasValue",
    method("optional_hasValue", [optionalV], boolType, (optional) => (optional as Optional).value !== undefined),
  ),
  // The evaluator carries these out, because the second part is only looked at when the first is empty.
  declare("or", method("optional_or_optional", [optionalV, optionalV], optionalV)),
  declare("orValue", method("optional_orValue_value", [optionalV, V], V)),
  declare("_?._", fn("select_optional_field", [dynType, stringType], optionalV)),
  declare(
    "_[?_]",
    fn("list_optindex_optional_int", [listOfV, intType], optionalV),
    fn("optional_list_optindex_optional_int", [optionalType(listOfV), intType], optionalV),
    fn("map_optindex_optional_value", [mapOfKV, K], optionalV),
    fn("optional_map_optindex_optional_value", [optionalType(mapOfKV), K], optionalV),
  ),
  declare(
    "_[_]",
    fn("optional_list_index_int", [optionalType(listOfV), intType], optionalV),
    fn("optional_map_index_value", [optionalType(mapOfKV), K], optionalV),
  ),
  declare(
    "first",
    method("list_first", [listOfV], optionalV, (list) => itemAt(list as CelList, 0)),
  ),
  declare(
    "last",
    method("list_last", [listOfV], optionalV, (list) => itemAt(list as CelList, (list as CelList).length - 1)),
  ),
  declare("optional.unwrap", fn("optional_unwrap", [listType(optionalV)], listOfV, unwrap)),
  declare("unwrapOpt", method("optional_unwrapOpt", [listType(optionalV)], listOfV, unwrap)),
];

const dereferenced = (optional: CelValue): CelValue =>
  (optional as Optional).value === undefined ? new CelError("optional.none() dereference") : null;

const itemAt = (list: CelList, index: number): CelValue => (list.length === 0 ? none : new Optional(list.at(index)));

function unwrap(list: CelValue): CelValue {
  const values: CelValue[] = [];
  for (const item of list as CelList) {
    if (!(item instanceof Optional)) return new CelError("value is not optional");
    if (item.value !== undefined) values.push(item.value);
  }
  return new ArrayList(values);
}

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === "") return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanoseconds === 0n;
  if (value instanceof Timestamp) return false;
  if (value instanceof Uint8Array || value instanceof CelList) return value.length === 0;
  if (value instanceof CelMap) return value.size === 0;
  return value instanceof Optional && value.value === undefined;
}

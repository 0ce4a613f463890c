import { declare, type FunctionDeclaration, fn } from "../declaration.ts";
import { mapType, paramType } from "../type.ts";
import { CelError, type CelMap, type CelValue, type MemoryMap } from "../value.ts";

const K = paramType("K");
const V = paramType("V");
const mapOfKV = mapType(K, V);

/** What `transformMap` and `transformMapEntry` build their results with. */
export const mapsLibrary: readonly FunctionDeclaration[] = [
  declare(
    "cel.@mapInsert",
    fn("@mapInsert_map_key_value", [mapOfKV, K, V], mapOfKV, insert),
    fn("@mapInsert_map_map", [mapOfKV, mapOfKV], mapOfKV, insertAll),
  ),
];

function insert(map: CelValue, key: CelValue, value: CelValue): CelValue {
  return (map as MemoryMap).with(key, value);
}

function insertAll(map: CelValue, added: CelValue): CelValue {
  let result = map as MemoryMap;
  for (const key of (added as CelMap).keys()) {
    const next = result.with(key, (added as CelMap).find(key) ?? null);
    if (next instanceof CelError) return next;
    result = next;
  }
  return result;
}

import type { Overload } from "./declaration.ts";
import { type CelType, isOptional } from "./type.ts";
import { CelList, CelMap, type CelValue, Duration, Opaque, Optional, Timestamp, TypeValue, Uint } from "./value.ts";

/** Whether values fit an overload; types were checked before, but dynamic values are only known now. */
export function accepts(overload: Overload, values: readonly CelValue[]): boolean {
  return (
    overload.params.length === values.length &&
    overload.params.every((type, index) => isOfType(values[index] ?? null, type))
  );
}

function isOfType(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case "dyn":
    case "param":
    case "error":
      return true;
    case "bool":
      return typeof value === "boolean";
    case "int":
      return typeof value === "bigint";
    case "uint":
      return value instanceof Uint;
    case "double":
      return typeof value === "number";
    case "string":
      return typeof value === "string";
    case "bytes":
      return value instanceof Uint8Array;
    case "null":
      return value === null;
    case "duration":
      return value instanceof Duration;
    case "timestamp":
      return value instanceof Timestamp;
    case "list":
      return value instanceof CelList;
    case "map":
      return value instanceof CelMap;
    case "type":
      return value instanceof TypeValue;
    case "object":
    case "opaque":
      if (isOptional(type)) return value instanceof Optional;
      return value instanceof Opaque ? value.type.name === type.name : value instanceof CelMap;
  }
}

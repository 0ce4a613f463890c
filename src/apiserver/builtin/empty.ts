import { isRecord } from "./json.ts";
import type { WireField, WireStruct, WireType } from "./wire-types.ts";

/** What an absent field reads as, and whether an empty one is written at all. */

/** The zero value as JSON writes it; undefined where that is null or nothing. */
export function emptyValue(type: WireType): unknown {
  switch (type.kind) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "float64":
    case "intorstring":
      return 0;
    case "quantity":
      return "0";
    case "duration":
      return "0s";
    case "struct":
      return emptyStruct(type.struct());
    default:
      return undefined;
  }
}

export function isLeftOut(field: WireField, value: unknown): boolean {
  if (field.pointer) return value === undefined && (field.omitEmpty || field.omitZero);
  switch (field.type.kind) {
    case "struct":
      // Go's omitempty never leaves out a struct, however empty; omitzero does.
      return field.omitZero && isEmptyStruct(field.type.struct(), value);
    case "time":
    case "microtime":
      return value === undefined && field.omitZero;
    case "quantity":
    case "intorstring":
    case "duration":
      return false;
    case "list":
    case "map":
      return (field.omitEmpty || field.omitZero) && isNothing(value);
    default:
      return (field.omitEmpty || field.omitZero) && isNothing(value);
  }
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0);

/** A fresh one each time, because defaults are filled into it. */
function emptyStruct(struct: WireStruct): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  for (const field of struct.fields) {
    const value = field.pointer ? undefined : emptyValue(field.type);
    if (!isLeftOut(field, value)) result[field.name] = value ?? null;
  }
  return result;
}

const isEmptyStruct = (struct: WireStruct, value: unknown): boolean =>
  value === undefined || JSON.stringify(value) === JSON.stringify(emptyStruct(struct));

/** Keeps types small: one that shares parts may be endless to go through. */
import { anyType, type MaybeType, type Type } from "./types.ts";

/** What is known of a value with a larger type than this is not worth knowing. */
const maxTypeSize = 10_000;
const knownSizes = new WeakMap<Type, number>();

export function withinReason(type: Type): Type {
  return sizeOf(type) > maxTypeSize ? anyType : type;
}

function sizeOf(type: MaybeType): number {
  if (type === undefined) return 0;
  // Most types are scalars, and not worth remembering.
  if (isScalar(type)) return 1;
  const known = knownSizes.get(type);
  if (known !== undefined) return known;
  const size = partsOf(type).reduce((sum, part) => sum + sizeOf(part), 1);
  knownSizes.set(type, size);
  return size;
}

function isScalar({ kind }: Type): boolean {
  return kind === "string" || kind === "number" || kind === "boolean" || kind === "null";
}

function partsOf(type: Type): readonly MaybeType[] {
  switch (type.kind) {
    case "array":
      return [...type.items, type.rest];
    case "set":
      return [type.item];
    case "object":
      return [...type.fields.map(([, field]) => field), type.rest?.key, type.rest?.value];
    case "any":
      return type.of;
    case "function":
      return [...type.args, type.variadic, type.result];
    default:
      return [];
  }
}

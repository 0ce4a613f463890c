import { goFloat } from "../go-text.ts";
import { checkedFormat, jsonType, typesOf } from "./check-type.ts";
import type { Schema } from "./schema.ts";
import type { Walk } from "./walk.ts";

/**
 * Range, bounds and multiples. kube-apiserver compares integers with the bound cut to an integer, and complains about a
 * bound that does not fit the type; both are kept, because clients see the same answers then.
 */
export function compileNumber(schema: Schema): (value: number, walk: Walk) => void {
  const types = typesOf(schema);
  const type = types.length === 1 ? (types[0] ?? "") : "";
  const format = checkedFormat(schema);
  const fits = (value: number): boolean => fitsType(value, type, format);
  const wanted = `must be of type ${type} ${format === "" ? "(default format)" : `with format ${format}`}`;
  const bounds: readonly Bound[] = [
    ...boundOf("MultipleOf", schema.multipleOf, multipleError),
    ...boundOf("Minimum boundary", schema.minimum, minimumError(schema.exclusiveMinimum === true)),
    ...boundOf("Maximum boundary", schema.maximum, maximumError(schema.exclusiveMaximum === true)),
  ];
  return (value, walk) => {
    walk.matches += 2;
    if (!fits(value)) walk.addUnplaced(`Checked value ${wanted} in ${walk.path()}`);
    const isInteger = jsonType(value) === "integer";
    for (const { name, bound, error } of bounds) {
      const boundFits = fits(bound);
      if (!boundFits) walk.addUnplaced(`${name} value ${wanted} in ${walk.path()}`);
      const compared: Compared =
        isInteger && boundFits ? { bound: Math.trunc(bound), text: String } : { bound, text: goFloat };
      error(value, compared, walk);
    }
  };
}

interface Bound {
  readonly name: string;
  readonly bound: number;
  readonly error: (value: number, compared: Compared, walk: Walk) => void;
}
interface Compared {
  readonly bound: number;
  readonly text: (bound: number) => string;
}

const boundOf = (name: string, bound: number | undefined, error: Bound["error"]): readonly Bound[] =>
  bound === undefined ? [] : [{ name, bound, error }];

const minimumError =
  (exclusive: boolean): Bound["error"] =>
  (value, { bound, text }, walk) => {
    if (exclusive ? value > bound : value >= bound) return;
    walk.addInvalid(value, `should be greater than ${exclusive ? "" : "or equal to "}${text(bound)}`);
  };

const maximumError =
  (exclusive: boolean): Bound["error"] =>
  (value, { bound, text }, walk) => {
    if (exclusive ? value < bound : value <= bound) return;
    walk.addInvalid(value, `should be less than ${exclusive ? "" : "or equal to "}${text(bound)}`);
  };

function multipleError(value: number, { bound, text }: Compared, walk: Walk): void {
  if (bound <= 0) {
    const detail = `factor MultipleOf declared for ${walk.path()} must be positive: ${text(bound)}`;
    walk.add({ type: "Invalid", field: walk.field(), value: bound, detail });
    return;
  }
  const quotient = bound < 1 ? (1 / bound) * value : value / bound;
  const isMultiple = text === String ? value % bound === 0 : isJsonInteger(quotient);
  if (!isMultiple) walk.addInvalid(value, `should be a multiple of ${text(bound)}`);
}

/** Within the integers that JSON carries safely, and close enough to one for a division to have been exact. */
function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const nearest = Math.trunc(value);
  const difference = Math.abs(value - nearest);
  return difference === 0 || difference / Math.min(Math.abs(value) + Math.abs(nearest), Number.MAX_VALUE) < 1e-9;
}

function fitsType(value: number, type: string, format: string): boolean {
  if (type === "integer") {
    const limit = format === "int32" ? 2 ** 31 : 2 ** 63;
    return Number.isInteger(value) && value >= -limit && value < limit;
  }
  return type !== "number" || format !== "float" || Math.abs(value) <= maxFloat32;
}

const maxFloat32 = 3.4028234663852886e38;

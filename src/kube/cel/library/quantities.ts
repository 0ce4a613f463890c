import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityNumber,
  subtractQuantities,
} from "../../quantity.ts";
import { declare, type FunctionDeclaration, fn, method } from "../declaration.ts";
import { boolType, doubleType, intType, libraryType, stringType } from "../type.ts";
import { CelError, type CelValue, Opaque } from "../value.ts";
import { readsTarget } from "./text-cost.ts";

export const quantityType = libraryType("kubernetes.Quantity");

class QuantityValue extends Opaque {
  readonly type = quantityType;
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }
  equals(other: CelValue): boolean {
    return other instanceof QuantityValue && compareQuantities(this.quantity, other.quantity) === 0;
  }
}

const of = (value: CelValue): Quantity => (value as QuantityValue).quantity;
const whole = (value: CelValue): Quantity => ({ nanos: (value as bigint) * 1_000_000_000n, format: "DecimalSI" });
const compare = (left: CelValue, right: CelValue): number => compareQuantities(of(left), of(right));
const Q = quantityType;

const reading = readsTarget("argument");
const sizeless: typeof reading = {
  ...reading,
  estimate: (sizes) => {
    const estimate = reading.estimate?.(sizes);
    return estimate && { cost: estimate.cost };
  },
};

/** Resource quantities: `quantity("1.5Gi").isGreaterThan(quantity("1G"))`. */
export const quantityLibrary: readonly FunctionDeclaration[] = [
  declare("quantity", fn("string_to_quantity", [stringType], Q, parse, sizeless)),
  declare(
    "isQuantity",
    fn("is_quantity_string", [stringType], boolType, (text) => parseQuantity(text as string).ok, sizeless),
  ),
  declare(
    "sign",
    fn("quantity_sign", [Q], intType, (value) => (of(value).nanos < 0n ? -1n : of(value).nanos > 0n ? 1n : 0n)),
  ),
  declare(
    "isGreaterThan",
    method("quantity_is_greater_than", [Q, Q], boolType, (left, right) => compare(left, right) > 0),
  ),
  declare(
    "isLessThan",
    method("quantity_is_less_than", [Q, Q], boolType, (left, right) => compare(left, right) < 0),
  ),
  declare(
    "compareTo",
    method("quantity_compare_to", [Q, Q], intType, (left, right) => BigInt(compare(left, right))),
  ),
  declare(
    "asApproximateFloat",
    method("quantity_get_float", [Q], doubleType, (value) => quantityNumber(of(value))),
  ),
  declare("asInteger", method("quantity_get_int", [Q], intType, asInteger)),
  declare(
    "isInteger",
    method("quantity_is_integer", [Q], boolType, (value) => !(asInteger(value) instanceof CelError)),
  ),
  declare(
    "add",
    method("quantity_add", [Q, Q], Q, (left, right) => new QuantityValue(addQuantities(of(left), of(right)))),
    method(
      "quantity_add_int",
      [Q, intType],
      Q,
      (left, right) => new QuantityValue(addQuantities(of(left), whole(right))),
    ),
  ),
  declare(
    "sub",
    method("quantity_sub", [Q, Q], Q, (left, right) => new QuantityValue(subtractQuantities(of(left), of(right)))),
    method(
      "quantity_sub_int",
      [Q, intType],
      Q,
      (left, right) => new QuantityValue(subtractQuantities(of(left), whole(right))),
    ),
  ),
];

function parse(text: CelValue): CelValue {
  const parsed = parseQuantity(text as string);
  return parsed.ok ? new QuantityValue(parsed.value) : new CelError(parsed.message);
}

function asInteger(value: CelValue): CelValue {
  const { nanos } = of(value);
  const integer = nanos / 1_000_000_000n;
  const isExact = integer * 1_000_000_000n === nanos && BigInt.asIntN(64, integer) === integer;
  return isExact ? integer : new CelError("cannot convert value to integer");
}

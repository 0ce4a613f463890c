import { type CelType, dynType, isDyn, isDynOrError, isExactType } from "./type.ts";

/** What type parameters stand for, found while an expression is checked. */
export type Bindings = ReadonlyMap<string, CelType>;

/** The bindings under which a value of the second type can be used as the first, or undefined when it cannot. */
export function assign(bindings: Bindings, to: CelType, from: CelType): Bindings | undefined {
  const trial = new Map(bindings);
  return isAssignable(trial, to, from) ? trial : undefined;
}

export function assignAll(bindings: Bindings, to: readonly CelType[], from: readonly CelType[]): Bindings | undefined {
  const trial = new Map(bindings);
  return areAssignable(trial, to, from) ? trial : undefined;
}

/** The type with every bound parameter replaced; free ones become dyn when asked. */
export function substitute(bindings: Bindings, type: CelType, freeToDyn: boolean): CelType {
  if (type.kind === "param") {
    const bound = bindings.get(type.name);
    if (bound !== undefined) return substitute(bindings, bound, freeToDyn);
    return freeToDyn ? dynType : type;
  }
  if (type.params.length === 0) return type;
  return { ...type, params: type.params.map((param) => substitute(bindings, param, freeToDyn)) };
}

export const mostGeneral = (left: CelType, right: CelType): CelType =>
  isEqualOrLessSpecific(left, right) ? left : right;

function isAssignable(bindings: Map<string, CelType>, left: CelType, right: CelType): boolean {
  if (right.kind === "param") {
    const { valid, bound } = canStandFor(bindings, left, right);
    if (valid) return true;
    if (bound) return false;
  }
  if (left.kind === "param") return canStandFor(bindings, right, left).valid;
  if (isDynOrError(left) || isDynOrError(right)) return true;
  if (left.kind === "null") return isNullable(right);
  if (right.kind === "null") return isNullable(left);
  switch (left.kind) {
    case "type":
      return right.kind === "type";
    case "opaque":
    case "list":
    case "map":
      return left.kind === right.kind && left.name === right.name && areAssignable(bindings, left.params, right.params);
    default:
      return isExactType(left, right);
  }
}

function areAssignable(bindings: Map<string, CelType>, left: readonly CelType[], right: readonly CelType[]): boolean {
  if (left.length !== right.length) return false;
  return left.every((type, index) => isAssignable(bindings, type, right[index] ?? dynType));
}

/** Whether the parameter may stand for the type; binds it when it is still free. */
function canStandFor(
  bindings: Map<string, CelType>,
  type: CelType,
  param: CelType,
): { readonly valid: boolean; readonly bound: boolean } {
  if (type.kind === "param" && type.name === param.name) return { valid: true, bound: true };
  const known = bindings.get(param.name);
  if (known !== undefined) {
    if (type.kind === known.kind && isExactType(type, known)) return { valid: true, bound: true };
    if (!isAssignable(bindings, type, known)) return { valid: false, bound: true };
    const general = mostGeneral(type, known);
    if (isFreeOf(bindings, param, general)) bindings.set(param.name, general);
    return { valid: true, bound: true };
  }
  if (!isFreeOf(bindings, param, type)) return { valid: false, bound: false };
  bindings.set(param.name, type);
  return { valid: true, bound: false };
}

/** A parameter may not be bound to a type that contains it. */
function isFreeOf(bindings: Bindings, param: CelType, within: CelType): boolean {
  if (within.kind === "param") {
    if (within.name === param.name) return false;
    const bound = bindings.get(within.name);
    return bound === undefined || isFreeOf(bindings, param, bound);
  }
  return within.params.every((inner) => isFreeOf(bindings, param, inner));
}

const isNullable = (type: CelType): boolean =>
  type.kind === "null" ||
  type.kind === "opaque" ||
  type.kind === "object" ||
  type.kind === "duration" ||
  type.kind === "timestamp";

function isEqualOrLessSpecific(left: CelType, right: CelType): boolean {
  if (isDyn(left) || left.kind === "param") return true;
  if (isDyn(right) || right.kind === "param") return false;
  if (left.kind !== right.kind) return false;
  if (left.kind === "opaque" || left.kind === "list" || left.kind === "map") {
    if (left.name !== right.name || left.params.length !== right.params.length) return false;
    return left.params.every((param, index) => isEqualOrLessSpecific(param, right.params[index] ?? dynType));
  }
  return left.kind === "type" || isExactType(left, right);
}

import type { CallEstimate, CallSizes } from "./cost.ts";
import type { CelType } from "./type.ts";
import type { CelValue } from "./value.ts";

/** One way to call a function. Which one is meant is decided by types before, and by values while an expression runs. */
export interface Overload {
  readonly id: string;
  /** Called on its first parameter: `text.size()`. */
  readonly isMember: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /** Absent for the operators that the evaluator itself carries out. Errors are values. */
  readonly call?: (...args: CelValue[]) => CelValue;
  /** The cost of a call before it is made; without it, a call costs 1. */
  readonly cost?: (args: readonly CelValue[]) => number;
  /** The part of the cost that only the result tells. */
  readonly resultCost?: (args: readonly CelValue[], result: CelValue) => number;
  /**
   * How much a call really has to look at, where that is more than its texts; costs follow the real server and do not
   * always tell.
   */
  readonly work?: (args: readonly CelValue[]) => number;
  /** The result shares what it is made from, so that it costs nothing to write it down. */
  readonly isGrowing?: boolean;
  /** The cost of a call before anything is known but sizes. */
  readonly estimate?: (sizes: CallSizes) => CallEstimate | undefined;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

/** Functions by name. */
export type Library = ReadonlyMap<string, FunctionDeclaration>;

/** Later declarations add overloads to earlier ones of the same name. */
export function mergeLibraries(...parts: readonly (readonly FunctionDeclaration[])[]): Library {
  const merged = new Map<string, FunctionDeclaration>();
  for (const declaration of parts.flat()) {
    const overloads = [...(merged.get(declaration.name)?.overloads ?? []), ...declaration.overloads];
    merged.set(declaration.name, { name: declaration.name, overloads });
  }
  return merged;
}

export const declare = (name: string, ...overloads: readonly Overload[]): FunctionDeclaration => ({ name, overloads });

type Call = NonNullable<Overload["call"]>;
type Costs = Pick<Overload, "cost" | "resultCost" | "estimate" | "work" | "isGrowing">;

/** A function that is called by its name: `size(x)`. */
export const fn = (
  id: string,
  params: readonly CelType[],
  result: CelType,
  call?: Call,
  costs: Costs = {},
): Overload => ({ id, isMember: false, params, result, ...(call && { call }), ...costs });

/** A function that is called on its first parameter: `x.size()`. */
export const method = (
  id: string,
  params: readonly CelType[],
  result: CelType,
  call?: Call,
  costs: Costs = {},
): Overload => ({ id, isMember: true, params, result, ...(call && { call }), ...costs });

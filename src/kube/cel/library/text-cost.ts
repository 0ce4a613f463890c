import { type CallSizes, multiply, patternFactor, type Range, textFactor, times } from "../cost.ts";
import type { Overload } from "../declaration.ts";
import { isExactType } from "../type.ts";
import { type CelValue, Opaque, sizeOf } from "../value.ts";
import { deepWork } from "../work.ts";

/** What it costs to read texts, in the three forms that functions need. */
type Costs = Pick<Overload, "cost" | "estimate" | "work">;

const one: Range = { min: 1, max: 1 };
const comparedCost = (left: CelValue, right: CelValue): number =>
  Math.ceil(Math.min(sizeOf(left), sizeOf(right)) * textFactor);
const reading = (value: CelValue | undefined, factor = textFactor): number => Math.ceil(sizeOf(value ?? null) * factor);

/** Comparing stops at the end of the shorter one. */
export const comparedTexts: Costs = {
  work: ([left = null]) => deepWork(left),
  cost: ([left = null, right = null]) => comparedCost(left, right),
  estimate: ({ args: [left, right] }) => {
    const max = Math.min(left?.size.max ?? 0, right?.size.max ?? 0);
    return { cost: times({ min: max > 0 ? 1 : 0, max }, textFactor) };
  },
};

/** Values of library types are compared at a glance, except for formats and URLs, which are texts inside. */
export const equality: Costs = {
  // Whether two values are equal may only show at the very end of the deepest list.
  work: ([left = null]) => deepWork(left),
  cost: ([left = null, right = null]) => (left instanceof Opaque ? 1 : comparedCost(left, right)),
  estimate: (sizes) => {
    const [left, right] = sizes.args;
    const name = left !== undefined && right !== undefined && isExactType(left.type, right.type) ? left.type.name : "";
    if (glanced.has(name)) return { cost: one };
    if (name === "kubernetes.NamedFormat") return { cost: times({ min: 1, max: 64 }, textFactor) };
    if (name === "kubernetes.URL") return { cost: times({ min: 1, max: right?.size.max ?? 1 }, textFactor) };
    return comparedTexts.estimate?.(sizes);
  },
};

const glanced: ReadonlySet<string> = new Set(["net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"]);

/** One pass over a text: over the one that the function is called on, or over its argument. */
export const readsTarget = (estimated: "target" | "argument" = "target", factor = textFactor): Costs => ({
  cost: ([target]) => reading(target, factor),
  estimate: ({ target, args }) => {
    const sized = estimated === "target" ? (target ?? args[0]) : args[0];
    return sized && { cost: times(sized.size, factor), size: sized.size };
  },
});

/** One pass over the argument, which comes out in another size. */
export const resized =
  (resize: (size: Range) => Range): NonNullable<Overload["estimate"]> =>
  ({ args: [argument] }) =>
    argument && { cost: times(argument.size, textFactor), size: resize(argument.size) };

export const containsCost: Costs = {
  cost: ([text, part]) => reading(text) * reading(part),
  estimate: ({ target, args: [part] }) =>
    target && part && { cost: multiply(times(target.size, textFactor), times(part.size, textFactor)) },
};

/** A pattern is tried against every character; an empty text still costs the pattern. */
export const matchCost: Costs = {
  cost: ([text = null, pattern]) => Math.ceil((1 + sizeOf(text)) * textFactor) * reading(pattern, patternFactor),
  estimate: (sizes) => patternEstimate(sizes),
};

export function patternEstimate({ target, args }: CallSizes): { readonly cost: Range } | undefined {
  const [text, pattern] = target ? [target, args[0]] : args;
  if (text === undefined || pattern === undefined) return undefined;
  const reads = times({ min: text.size.min + one.min, max: text.size.max + one.max }, textFactor);
  return { cost: multiply(reads, times(pattern.size, patternFactor)) };
}

import { add, type CallEstimate, type CallSizes, fixed, multiply, type Range, textFactor, times } from "../cost.ts";
import type { Overload } from "../declaration.ts";
import { sizeOf } from "../value.ts";

/** What the functions on texts cost, before and while they run. */
type Costs = Pick<Overload, "cost" | "resultCost" | "estimate">;

/** Finding walks over what it searches: a text here, a list in the list library. */
export const search: Costs = {
  cost: ([text = null]) => Math.trunc(Buffer.byteLength(text as string) * textFactor),
  estimate: ({ target }) => target && { cost: times(target.size, textFactor) },
};

/** Reading the text, and writing the result. */
export const replaceCost: Costs = {
  cost: ([text = null]) => Math.ceil(sizeOf(text) * 2 * textFactor),
  estimate: replaceEstimate,
};

function replaceEstimate({ target, args: [old, by] }: CallSizes): CallEstimate | undefined {
  if (target === undefined || old === undefined || by === undefined) return undefined;
  const text = target.size;
  const count = { min: 0, max: 0 };
  const kept = { min: 0, max: 0 };
  if (old.size.min === 0) {
    count.max = text.max + 1;
    kept.max = text.max;
  } else if (by.size.max <= old.size.min) kept.max = text.max;
  else count.max = Math.ceil(text.max / old.size.min);
  if (old.size.max === 0) {
    count.min = text.min + 1;
    kept.min = text.min;
  } else if (old.size.max <= by.size.min) kept.min = text.min;
  else count.min = Math.ceil(text.min / old.size.max);
  return { cost: times(text, 2 * textFactor), size: add(multiply(count, by.size), kept) };
}

export const splitCost: Costs = {
  cost: ([text = null]) => Math.ceil(sizeOf(text) * 2 * textFactor),
  estimate: ({ target, args: [, limit] }) => {
    if (target === undefined) return undefined;
    const max = typeof limit?.literal === "bigint" ? Number(limit.literal) : target.size.max;
    return { cost: times(target.size, 2 * textFactor), size: { min: 0, max: max < 0 ? 2 ** 64 : max } };
  },
};

export const joinCost: Costs = {
  cost: () => 0,
  resultCost: (_args, result) => Math.ceil(sizeOf(result) * 2 * textFactor),
  estimate: ({ target, args: [separator] }) => {
    if (target === undefined) return undefined;
    const items = target.item ? multiply(target.size, target.item) : fixed(0);
    const gaps: Range = { min: Math.max(0, target.size.min - 1), max: Math.max(0, target.size.max - 1) };
    const size = separator ? add(items, multiply(separator.size, gaps)) : items;
    return { cost: times(size, textFactor), size };
  },
};

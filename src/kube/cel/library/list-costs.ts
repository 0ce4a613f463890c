import {
  add,
  type CallEstimate,
  fixed,
  listCost,
  multiply,
  type Range,
  type Sized,
  textFactor,
  times,
} from "../cost.ts";
import type { Overload } from "../declaration.ts";
import type { CelType } from "../type.ts";
import { CelList, CelMap, type CelValue, sizeOf } from "../value.ts";
import { deepWork } from "../work.ts";

/** What the functions on lists cost, before and while they run. */
type Costs = Pick<Overload, "cost" | "resultCost" | "estimate" | "work">;

/** One visit to every item, and to every character of every text. */
export const traverses: Costs = {
  work: ([list = null]) => deepWork(list),
  cost: ([list = null]) => traversal(list),
  estimate: ({ target }) => {
    if (target === undefined) return undefined;
    const kind = target.type.params[0]?.kind;
    const each =
      (kind === "string" || kind === "bytes") && target.item ? add(fixed(1), times(target.item, textFactor)) : fixed(1);
    return { cost: multiply(target.size, each) };
  },
};

export function traversal(value: CelValue): number {
  if (typeof value === "string") return Math.trunc(Buffer.byteLength(value) * textFactor);
  if (value instanceof Uint8Array) return Math.trunc(value.length * textFactor);
  if (value instanceof CelList) {
    let cost = 0;
    for (const item of value) cost += traversal(item);
    return cost;
  }
  if (value instanceof CelMap) {
    let cost = 0;
    for (const key of value.keys()) cost += traversal(key) + traversal(value.find(key) ?? null);
    return cost;
  }
  return 1;
}

export const allocated = (size: number): number => Math.trunc(size) + 1 + listCost;
export const allocates: Costs = { cost: () => 0, resultCost: (_args, result) => allocated(sizeOf(result)) };

export function comparesAll(list: CelValue | undefined): number {
  const items = list as CelList;
  const first = items.length === 0 ? null : items.at(0);
  const factor = typeof first === "string" || first instanceof Uint8Array ? 2 + textFactor : 2;
  return allocated(items.length ** 2 * factor);
}

export const listEstimate = (factor: number, size: Range): CallEstimate => ({
  cost: add(times(size, factor), fixed(1 + listCost)),
  size,
});

export function sortEstimate(keys: Sized, type: CelType): CallEstimate {
  const factor = type.kind === "string" || type.kind === "bytes" ? 2 + textFactor : 2;
  return listEstimate(factor, multiply(keys.size, keys.size));
}

export function sliceEstimate({
  target,
  args: [start, end],
}: Parameters<NonNullable<Overload["estimate"]>>[0]): CallEstimate | undefined {
  if (target === undefined) return undefined;
  return listEstimate(1, fixed(Math.max(0, integerLiteral(end, target.size.max) - integerLiteral(start, 0))));
}

export const integerLiteral = (sized: Sized | undefined, otherwise: number): number =>
  typeof sized?.literal === "bigint" ? Math.max(0, Number(sized.literal)) : otherwise;

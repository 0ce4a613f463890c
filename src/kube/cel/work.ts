import { CelList, CelMap, type CelValue } from "./value.ts";

/**
 * Work is counted beside costs: characters and items that are really touched. Costs are defined by Kubernetes and now and
 * then let a cheap-looking step touch a lot; with both counted, no expression can keep a server busy.
 */
export const maxWork = 10_000_000;

/** The characters of all texts. */
export function textWork(values: readonly CelValue[]): number {
  let work = 0;
  for (const value of values) if (typeof value === "string" || value instanceof Uint8Array) work += value.length;
  return work;
}

/** What had to be written down. */
export const resultWork = (value: CelValue): number =>
  typeof value === "string" || value instanceof CelList ? value.length : 0;

/** Everything inside of a value, counted no further than what is allowed at all. */
export function deepWork(value: CelValue, sofar = 0): number {
  if (sofar > maxWork) return sofar;
  if (typeof value === "string" || value instanceof Uint8Array) return sofar + 1 + value.length;
  let work = sofar + 1;
  if (value instanceof CelList) {
    for (let index = 0; index < value.length && work <= maxWork; index += 1) work = deepWork(value.at(index), work);
  } else if (value instanceof CelMap) {
    for (const key of value.keys()) {
      work = deepWork(value.find(key) ?? null, work);
      if (work > maxWork) return work;
    }
  }
  return work;
}

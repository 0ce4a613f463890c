import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from "../quantity.ts";

/** Amounts of resources by their names: what a container asks for, what a quota allows, what is used of it. */
export type ResourceList = ReadonlyMap<string, Quantity>;

/** As objects hold them; an amount that cannot be read counts for nothing. */
export type WrittenResources = Readonly<Record<string, string | number>>;

export function readResources(written: WrittenResources | undefined): ResourceList {
  const list = new Map<string, Quantity>();
  for (const [name, amount] of Object.entries(written ?? {})) {
    const read = parseQuantity(String(amount));
    if (read.ok) list.set(name, read.value);
  }
  return list;
}

export const writeResources = (list: ResourceList): Readonly<Record<string, string>> =>
  Object.fromEntries(byName(list).map(([name, amount]) => [name, formatQuantity(amount)]));

/** `pods=1,requests.cpu=500m`: how refusals tell amounts. */
export const formatResources = (list: ResourceList): string =>
  byName(list)
    .map(([name, amount]) => `${name}=${formatQuantity(amount)}`)
    .join(",");

export function addResources(left: ResourceList, right: ResourceList): ResourceList {
  const sum = new Map(left);
  for (const [name, amount] of right) {
    const present = sum.get(name);
    sum.set(name, present ? addQuantities(present, amount) : amount);
  }
  return sum;
}

/** The greater amount of each. */
export function greaterResources(left: ResourceList, right: ResourceList): ResourceList {
  const greater = new Map(left);
  for (const [name, amount] of right) {
    const present = greater.get(name);
    if (!present || compareQuantities(amount, present) > 0) greater.set(name, amount);
  }
  return greater;
}

/** What the first has more than the second; nothing becomes negative. */
export function surplusOf(left: ResourceList, right: ResourceList): ResourceList {
  const surplus = new Map<string, Quantity>();
  for (const [name, { nanos, format }] of left) {
    const more = nanos - (right.get(name)?.nanos ?? 0n);
    if (more > 0n) surplus.set(name, { nanos: more, format });
  }
  return surplus;
}

export const keepResources = (list: ResourceList, keeps: (name: string, amount: Quantity) => boolean): ResourceList =>
  new Map([...list].filter(([name, amount]) => keeps(name, amount)));

export const sameResources = (left: ResourceList, right: ResourceList): boolean =>
  left.size === right.size && [...left].every(([name, { nanos }]) => right.get(name)?.nanos === nanos);

const byName = (list: ResourceList): readonly (readonly [string, Quantity])[] =>
  [...list].sort(([left], [right]) => (left < right ? -1 : 1));

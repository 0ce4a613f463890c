import type { KubeObject } from "../object.ts";
import type { Quantity } from "../quantity.ts";
import type { Measure } from "./measure.ts";
import { addResources, keepResources, type ResourceList } from "./resource-list.ts";
import { type ScopedSpec, selectorsOf } from "./scopes.ts";

/** What all objects of one resource use of the names that a quota limits; a name of which nothing is used is there too. */
export function totalUsage(
  spec: ScopedSpec,
  names: Iterable<string>,
  measure: Measure,
  objects: readonly KubeObject[],
  now: Date,
): ResourceList {
  const measured = new Set(measure.matching(names));
  const selectors = selectorsOf(spec);
  const zero: Quantity = { nanos: 0n, format: "DecimalSI" };
  let total: ResourceList = new Map([...measured].map((name) => [name, zero]));
  for (const object of objects) {
    if (!selectors.every((selector) => measure.matchesScope(selector, object))) continue;
    total = addResources(
      total,
      keepResources(measure.usage(object, now), (name) => measured.has(name)),
    );
  }
  return total;
}

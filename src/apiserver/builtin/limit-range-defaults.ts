import { type Draft, ensure, entries, fill, text } from "./draft.ts";

/** Of containers: the maximum is also the default limit, and that the default request, which is at least the minimum. */
export function limitRangeItem(draft: Draft): void {
  if (text(draft, "type") !== "Container") return;
  fillAmounts(draft, "default", "max");
  fillAmounts(draft, "defaultRequest", "default");
  fillAmounts(draft, "defaultRequest", "min");
}

function fillAmounts(draft: Draft, field: string, source: string): void {
  const given = entries(draft, source);
  if (given.length === 0) return;
  const amounts = ensure(draft, field);
  for (const [name, amount] of given) fill(amounts, name, amount);
  draft[field] = Object.fromEntries(Object.entries(amounts).sort(([left], [right]) => (left < right ? -1 : 1)));
}

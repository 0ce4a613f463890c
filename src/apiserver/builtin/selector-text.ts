import { type Draft, entries, items, strings, text } from "./draft.ts";

/** Selectors and label sets as kubectl prints them. */

/** `app=web,tier in (a,b),!old`; empty for a selector that says nothing. */
export function selectorText(selector: Draft | undefined): string {
  const terms = [
    ...entries(selector, "matchLabels").map(([key, value]) => ({ key, term: `${key}=${value}` })),
    ...items(selector, "matchExpressions").map((expression) => ({
      key: text(expression, "key"),
      term: expressionText(expression),
    })),
  ];
  return terms
    .toSorted((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0))
    .map(({ term }) => term)
    .join(",");
}

export const selectorOrNone = (selector: Draft | undefined): string => selectorText(selector) || "<none>";

export function labelsOrNone(holder: Draft | undefined, field: string): string {
  const pairs = entries(holder, field).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(",") || "<none>";
}

function expressionText(expression: Draft): string {
  const key = text(expression, "key");
  const values = strings(expression, "values").toSorted().join(",");
  switch (text(expression, "operator")) {
    case "In":
      return `${key} in (${values})`;
    case "NotIn":
      return `${key} notin (${values})`;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return key;
  }
}

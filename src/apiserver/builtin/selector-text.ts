import { formatLabelSelector, type LabelSelector, labelSelectorRequirements } from "../../kube/label-selector.ts";
import { type Draft, entries } from "./draft.ts";

/** Selectors and label sets as kubectl prints them. */

/** `app=web,tier in (a,b),!old`; empty for a selector that says nothing. */
export function selectorText(selector: Draft | undefined, whenInvalid = "<invalid>"): string {
  if (!selector) return "";
  const requirements = labelSelectorRequirements(selector as LabelSelector);
  return requirements.ok ? formatLabelSelector(requirements.value) : whenInvalid;
}

export const selectorOrNone = (selector: Draft | undefined): string => selectorText(selector, "<error>") || "<none>";

export function labelsOrNone(holder: Draft | undefined, field: string): string {
  const pairs = entries(holder, field).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(",") || "<none>";
}

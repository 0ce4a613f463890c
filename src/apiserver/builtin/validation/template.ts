import { type FieldError, forbidden, invalid, notSupported, required } from "../../../kube/field-error.ts";
import {
  type LabelSelector,
  type Labels,
  labelSelectorRequirements,
  matchesLabels,
  validateLabelSelector,
} from "../../../kube/label-selector.ts";
import { child, type Draft, entries, items, strings, text } from "../draft.ts";
import { validateAnnotations, validateLabels } from "../object-meta.ts";
import { validatePodSpec } from "./pod-spec.ts";
import { type Errors, invalidText } from "./rules.ts";

/** Pod templates, and the selectors that must find what they make. */

export function validateTemplate(template: Draft | undefined, path: string): Errors {
  const metadata = child(template, "metadata");
  return [
    ...validateLabels(metadata, "labels", `${path}.labels`),
    ...validateAnnotations(metadata, `${path}.annotations`),
    ...validatePodSpec(child(template, "spec") ?? {}, `${path}.spec`),
  ];
}

export interface SelectorRule {
  /** `deployment`, as the message about an empty selector says it. */
  readonly owner: string;
  /** What the message about an unreadable selector says. */
  readonly unreadable?: string;
}

/** Selector and template together, for controllers that keep their pods running. */
export function validateSelectedTemplate(spec: Draft, { owner, unreadable = "" }: SelectorRule): Errors {
  const selector = child(spec, "selector");
  const template = child(spec, "template");
  const errors: FieldError[] = [...selectorErrors(selector, owner)];
  const matches = selects(selector, template);
  if (matches === undefined) return [...errors, unreadableSelector(selector, unreadable)];
  if (!matches) errors.push(mismatch(template));
  return [...errors, ...validateTemplate(template, "spec.template")];
}

function unreadableSelector(selector: Draft | undefined, detail: string): FieldError {
  return detail === ""
    ? { type: "Invalid", field: "spec.selector", detail: selectorJson(selector) }
    : invalidText("spec.selector", selectorJson(selector), detail);
}

export function selectorErrors(selector: Draft | undefined, owner: string): Errors {
  if (!selector) return [required("spec.selector")];
  const isEmpty = entries(selector, "matchLabels").length + items(selector, "matchExpressions").length === 0;
  return [
    ...validateLabelSelector(selector as LabelSelector, "spec.selector"),
    ...(isEmpty ? [invalid("spec.selector", {}, `empty selector is invalid for ${owner}`)] : []),
  ];
}

/** Undefined when the selector cannot be read; a missing one selects nothing. */
export function selects(selector: Draft | undefined, template: Draft | undefined): boolean | undefined {
  const requirements = labelSelectorRequirements(selector as LabelSelector | undefined);
  if (!requirements.ok) return undefined;
  return matchesLabels(requirements.value, (child(child(template, "metadata"), "labels") as Labels | undefined) ?? {});
}

export const mismatch = (template: Draft | undefined): FieldError =>
  invalid(
    "spec.template.metadata.labels",
    child(child(template, "metadata"), "labels") ?? null,
    "`selector` does not match template `labels`",
  );

/** A selector in the order of its type, which is not the order of the alphabet. */
export function selectorJson(selector: Draft | undefined): string {
  if (!selector) return "null";
  const labels = entries(selector, "matchLabels").toSorted(([left], [right]) => (left < right ? -1 : 1));
  const expressions = items(selector, "matchExpressions").map((expression) => ({
    key: text(expression, "key"),
    operator: text(expression, "operator"),
    ...(strings(expression, "values").length > 0 && { values: strings(expression, "values") }),
  }));
  return JSON.stringify({
    ...(labels.length > 0 && { matchLabels: Object.fromEntries(labels) }),
    ...(expressions.length > 0 && { matchExpressions: expressions }),
  });
}

/** Controllers that restart pods themselves leave no choice here. */
export function validateAlwaysRestarted(spec: Draft, owner: string): Errors {
  const pod = child(child(spec, "template"), "spec");
  const errors: FieldError[] = [];
  const restartPolicy = text(pod, "restartPolicy");
  if (restartPolicy !== "Always")
    errors.push(notSupported("spec.template.spec.restartPolicy", restartPolicy, ["Always"]));
  if (pod?.["activeDeadlineSeconds"] !== undefined) {
    const field = "spec.template.spec.activeDeadlineSeconds";
    errors.push(forbidden(field, `activeDeadlineSeconds in ${owner} is not Supported`));
  }
  return errors;
}

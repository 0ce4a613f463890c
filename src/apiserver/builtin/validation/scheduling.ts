import { type FieldError, forbidden, invalid, notSupported, required } from "../../../kube/field-error.ts";
import { type LabelSelector, validateLabelSelector } from "../../../kube/label-selector.ts";
import { labelKeyErrors, labelValueErrors } from "../../../kube/names.ts";
import { child, type Draft, items, numeral, strings, text } from "../draft.ts";
import { checkLabel, checkOneOf, checkQualifiedName, type Errors } from "./rules.ts";

/** Where a pod may run: affinities, tolerations and spreading. */

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function validateTolerations(tolerations: readonly Draft[], path: string): Errors {
  return tolerations.flatMap((toleration, index) => tolerationErrors(toleration, `${path}[${index}]`));
}

function tolerationErrors(toleration: Draft, path: string): Errors {
  const key = text(toleration, "key");
  const operator = text(toleration, "operator");
  const effect = text(toleration, "effect");
  const errors: FieldError[] = [];
  if (key !== "") errors.push(...checkQualifiedName(key, `${path}.key`));
  else if (operator !== "Exists") {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalid(`${path}.operator`, operator, detail));
  }
  if (toleration["tolerationSeconds"] !== undefined && effect !== "NoExecute") {
    errors.push(invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (operator === "Exists") {
    const value = text(toleration, "value");
    if (value !== "")
      errors.push(invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  } else if (operator === "Equal" || operator === "") {
    const value = text(toleration, "value");
    errors.push(...labelValueErrors(value).map((error) => invalid(`${path}.operator`, value, error)));
  } else errors.push(...checkOneOf(operator, `${path}.operator`, ["Equal", "Exists"]));
  errors.push(...checkOneOf(effect, `${path}.effect`, taintEffects));
  return errors;
}

export function validateSpread(constraints: readonly Draft[], path: string): Errors {
  return constraints.flatMap((constraint, index) => {
    const at = `${path}[${index}]`;
    const skew = numeral(constraint, "maxSkew") ?? 0;
    const errors: FieldError[] = [];
    if (skew <= 0) errors.push(invalid(`${at}.maxSkew`, skew, "must be greater than zero"));
    if (text(constraint, "topologyKey") === "") errors.push(required(`${at}.topologyKey`, "can not be empty"));
    else errors.push(...checkQualifiedName(text(constraint, "topologyKey"), `${at}.topologyKey`));
    const whenUnsatisfiable = text(constraint, "whenUnsatisfiable");
    const choices = ["DoNotSchedule", "ScheduleAnyway"];
    if (!choices.includes(whenUnsatisfiable))
      errors.push(notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, choices));
    const domains = numeral(constraint, "minDomains");
    if (domains !== undefined && domains <= 0)
      errors.push(invalid(`${at}.minDomains`, domains, "must be greater than zero"));
    errors.push(...selectorErrors(constraint, "labelSelector", at));
    return errors;
  });
}

const selectorErrors = (holder: Draft, field: string, path: string): Errors =>
  validateLabelSelector(child(holder, field) as LabelSelector | undefined, `${path}.${field}`);

export function validateAffinity(affinity: Draft | undefined, path: string): Errors {
  if (!affinity) return [];
  return [
    ...nodeAffinityErrors(child(affinity, "nodeAffinity"), `${path}.nodeAffinity`),
    ...podAffinityErrors(child(affinity, "podAffinity"), `${path}.podAffinity`),
    ...podAffinityErrors(child(affinity, "podAntiAffinity"), `${path}.podAntiAffinity`),
  ];
}

const requiredField = "requiredDuringSchedulingIgnoredDuringExecution";
const preferredField = "preferredDuringSchedulingIgnoredDuringExecution";

function nodeAffinityErrors(affinity: Draft | undefined, path: string): Errors {
  const selector = child(affinity, requiredField);
  const errors: FieldError[] = [];
  if (selector) {
    const terms = items(selector, "nodeSelectorTerms");
    const at = `${path}.${requiredField}.nodeSelectorTerms`;
    if (terms.length === 0) errors.push(required(at, "must have at least one node selector term"));
    errors.push(...terms.flatMap((term, index) => nodeTermErrors(term, `${at}[${index}]`)));
  }
  for (const [index, preference] of items(affinity, preferredField).entries()) {
    const at = `${path}.${preferredField}[${index}]`;
    errors.push(
      ...weightErrors(preference, at),
      ...nodeTermErrors(child(preference, "preference"), `${at}.preference`),
    );
  }
  return errors;
}

function nodeTermErrors(term: Draft | undefined, path: string): Errors {
  return [
    ...items(term, "matchExpressions").flatMap((rule, index) =>
      nodeRuleErrors(rule, `${path}.matchExpressions[${index}]`),
    ),
    ...items(term, "matchFields").flatMap((rule, index) => fieldRuleErrors(rule, `${path}.matchFields[${index}]`)),
  ];
}

function nodeRuleErrors(rule: Draft, path: string): Errors {
  const values = strings(rule, "values");
  const operator = text(rule, "operator");
  const key = text(rule, "key");
  const errors: FieldError[] = [];
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0)
      errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0)
      errors.push(forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1)
      errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else errors.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  return [...errors, ...labelKeyErrors(key).map((error) => invalid(`${path}.key`, key, error))];
}

function fieldRuleErrors(rule: Draft, path: string): Errors {
  const values = strings(rule, "values");
  const errors: FieldError[] = [];
  if (text(rule, "operator") === "In" || text(rule, "operator") === "NotIn") {
    if (values.length !== 1)
      errors.push(
        required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"),
      );
  } else errors.push(invalid(`${path}.operator`, text(rule, "operator"), "not a valid selector operator"));
  if (text(rule, "key") !== "metadata.name")
    errors.push(invalid(`${path}.key`, text(rule, "key"), "not a valid field selector key"));
  return errors;
}

function podAffinityErrors(affinity: Draft | undefined, path: string): Errors {
  return [
    ...items(affinity, requiredField).flatMap((term, index) =>
      podTermErrors(term, `${path}.${requiredField}[${index}]`),
    ),
    ...items(affinity, preferredField).flatMap((preference, index) => {
      const at = `${path}.${preferredField}[${index}]`;
      return [
        ...weightErrors(preference, at),
        ...podTermErrors(child(preference, "podAffinityTerm") ?? {}, `${at}.podAffinityTerm`),
      ];
    }),
  ];
}

function weightErrors(preference: Draft, path: string): Errors {
  const weight = numeral(preference, "weight") ?? 0;
  return weight <= 0 || weight > 100 ? [invalid(`${path}.weight`, weight, "must be in the range 1-100")] : [];
}

function podTermErrors(term: Draft, path: string): Errors {
  const key = text(term, "topologyKey");
  return [
    ...selectorErrors(term, "labelSelector", path),
    ...selectorErrors(term, "namespaceSelector", path),
    ...strings(term, "namespaces").flatMap((namespace) => checkLabel(namespace, `${path}.namespace`)),
    ...(key === "" ? [required(`${path}.topologyKey`, "can not be empty")] : []),
    ...checkQualifiedName(key, `${path}.topologyKey`),
  ];
}

import { duplicate, type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { labelKeyErrors } from "../../../kube/names.ts";
import { compareQuantities, quantity, quantityMillis } from "../../../kube/quantity.ts";
import { child, type Draft, entries, items, text } from "../draft.ts";
import { containerNameErrors, mayExceed, read, resourceNameErrors } from "./quantities.ts";
import type { Errors } from "./rules.ts";

/** LimitRange: one entry for each type, whose amounts do not contradict each other. */
export function validateLimitRange(range: Draft): Errors {
  const limits = items(child(range, "spec"), "limits");
  return limits.flatMap((limit, index) => {
    const path = `spec.limits[${index}]`;
    const type = text(limit, "type");
    const isRepeated = limits.slice(0, index).some((other) => text(other, "type") === type);
    return [
      ...typeErrors(type, `${path}.type`),
      ...(isRepeated ? [duplicate(`${path}.type`, type)] : []),
      ...resourceErrors(limit, type, path),
      ...namesOf(limit, type).flatMap((name) => amountErrors(limit, name, path)),
    ];
  });
}

const standardTypes: ReadonlySet<string> = new Set(["Pod", "Container", "PersistentVolumeClaim"]);

function typeErrors(type: string, path: string): Errors {
  const wrong = labelKeyErrors(type);
  if (wrong.length > 0) return wrong.map((error) => invalid(path, type, error));
  if (type.includes("/") || standardTypes.has(type)) return [];
  return [invalid(path, type, "must be a standard limit type or fully qualified")];
}

const defaultFields = ["default", "defaultRequest"];

function resourceErrors(limit: Draft, type: string, path: string): Errors {
  const rule = type === "Pod" || type === "Container" ? containerNameErrors : resourceNameErrors;
  const wrongNames = (field: string): Errors =>
    entries(limit, field).flatMap(([name]) => rule(name, `${path}.${field}[${name}]`));
  const errors: FieldError[] = [...wrongNames("max"), ...wrongNames("min")];
  for (const field of defaultFields) {
    if (type !== "Pod") errors.push(...wrongNames(field));
    else if (entries(limit, field).length > 0) {
      errors.push(forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
    }
  }
  const limitsStorage = ["min", "max"].some((field) => child(limit, field)?.["storage"] !== undefined);
  if (type === "PersistentVolumeClaim" && !limitsStorage) {
    const detail = "either minimum or maximum storage value is required, but neither was provided";
    errors.push(required(`${path}.limits`, detail));
  }
  return [...errors, ...wrongNames("maxLimitRequestRatio")];
}

const namesOf = (limit: Draft, type: string): readonly string[] => [
  ...new Set(
    ["max", "min", ...(type === "Pod" ? [] : defaultFields), "maxLimitRequestRatio"].flatMap((field) =>
      entries(limit, field).map(([name]) => name),
    ),
  ),
];

interface Contradiction {
  readonly lower: string;
  readonly upper: string;
  readonly field: string;
  /** Whose amount is shown, which is not always the field's own. */
  readonly shown: string;
  readonly words: readonly [string, string];
}

/** The first of each pair may not be greater than the second. */
const contradictions: readonly Contradiction[] = [
  { lower: "min", upper: "max", field: "min", shown: "min", words: ["min", "max"] },
  {
    lower: "min",
    upper: "defaultRequest",
    field: "defaultRequest",
    shown: "defaultRequest",
    words: ["min", "default request"],
  },
  {
    lower: "defaultRequest",
    upper: "max",
    field: "defaultRequest",
    shown: "defaultRequest",
    words: ["default request", "max"],
  },
  {
    lower: "defaultRequest",
    upper: "default",
    field: "defaultRequest",
    shown: "defaultRequest",
    words: ["default request", "default limit"],
  },
  { lower: "min", upper: "default", field: "default", shown: "min", words: ["min", "default"] },
  { lower: "default", upper: "max", field: "default", shown: "max", words: ["default", "max"] },
];

function amountErrors(limit: Draft, name: string, path: string): Errors {
  const amount = (field: string): unknown =>
    text(limit, "type") === "Pod" && defaultFields.includes(field) ? undefined : child(limit, field)?.[name];
  const at = (field: string): string => `${path}.${field}[${name}]`;
  const errors: FieldError[] = [];
  for (const { lower, upper, field, shown, words } of contradictions) {
    const [low, high] = [amount(lower), amount(upper)];
    if (low === undefined || high === undefined || compareQuantities(read(low), read(high)) <= 0) continue;
    const detail = `${words[0]} value ${String(low)} is greater than ${words[1]} value ${String(high)}`;
    errors.push(invalid(at(field), amount(shown), detail));
  }
  errors.push(...ratioErrors(amount, at("maxLimitRequestRatio")));
  const [standard, request] = [amount("default"), amount("defaultRequest")];
  const differs =
    standard !== undefined && request !== undefined && compareQuantities(read(standard), read(request)) !== 0;
  if (!mayExceed(name) && differs) {
    const detail = `default value ${String(standard)} must equal to defaultRequest value ${String(request)} in ${name}`;
    errors.push(invalid(at("defaultRequest"), request, detail));
  }
  return errors;
}

function ratioErrors(amount: (field: string) => unknown, path: string): Errors {
  const [ratio, min, max] = [amount("maxLimitRequestRatio"), amount("min"), amount("max")];
  if (ratio === undefined) return [];
  const errors: FieldError[] = [];
  if (compareQuantities(read(ratio), quantity("1")) < 0) {
    errors.push(invalid(path, ratio, `ratio ${String(ratio)} is less than 1`));
  }
  if (min === undefined || max === undefined) return errors;
  const most = Number(quantityMillis(read(max))) / Number(quantityMillis(read(min)));
  if (Number(quantityMillis(read(ratio))) / 1000 > most) {
    errors.push(invalid(path, ratio, `ratio ${String(ratio)} is greater than max/min = ${most.toFixed(6)}`));
  }
  return errors;
}

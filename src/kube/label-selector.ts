import { type FieldError, forbidden, formatFieldError, invalid, required } from "./field-error.ts";
import { compareUtf8, goQuote } from "./go-text.ts";
import { labelKeyErrors, labelValueErrors } from "./names.ts";
import { type Parsed, parsed, refused } from "./parsed.ts";

/** One condition on an object's labels; a selector is a list of them, and all must hold. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted and without repetition. */
  readonly values: readonly string[];
}

/** The signs of the string form; `exists` and `!` take no values, `>` and `<` compare integers. */
export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | ">" | "<";

export type Labels = Readonly<Record<string, string>>;

/** The object form, as specs carry it. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelSelectorExpression[];
}
export interface LabelSelectorExpression {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | (string & {});
  readonly values?: readonly string[];
}

/** A selector that no object matches: what a missing LabelSelector means. */
export const matchesNothing: readonly LabelRequirement[] = [{ key: "", operator: "in", values: [] }];

export function matchesLabels(selector: readonly LabelRequirement[], labels: Labels | undefined): boolean {
  return selector.every((requirement) => matchesRequirement(requirement, labels));
}

export function formatLabelSelector(selector: readonly LabelRequirement[]): string {
  return selector.map(formatRequirement).join(",");
}

/** An empty selector matches everything, a missing one nothing. */
export function labelSelectorRequirements(selector: LabelSelector | undefined): Parsed<readonly LabelRequirement[]> {
  if (selector === undefined) return parsed(matchesNothing);
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    const made = labelRequirement(key, "=", [value]);
    if (!made.ok) return made;
    requirements.push(made.value);
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const sign = objectOperators[operator];
    if (sign === undefined) return refused(`${goQuote(operator)} is not a valid label selector operator`);
    const made = labelRequirement(key, sign, values ?? []);
    if (!made.ok) return made;
    requirements.push(made.value);
  }
  return parsed(sortByKey(requirements));
}

/** What a writer of a LabelSelector object did wrong. */
export function validateLabelSelector(selector: LabelSelector | undefined, path: string): readonly FieldError[] {
  const errors = Object.entries(selector?.matchLabels ?? {}).flatMap(([key, value]) => [
    ...labelKeyErrors(key).map((detail) => invalid(`${path}.matchLabels`, key, detail)),
    ...labelValueErrors(value).map((detail) => invalid(`${path}.matchLabels`, value, detail)),
  ]);
  for (const [index, expression] of (selector?.matchExpressions ?? []).entries()) {
    errors.push(...validateExpression(expression, `${path}.matchExpressions[${index}]`));
  }
  return errors;
}

/** Checks a requirement in the words that the server uses for a selector in a request. */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): Parsed<LabelRequirement> {
  const errors: FieldError[] = [];
  const keyErrors = labelKeyErrors(key);
  if (keyErrors.length > 0) errors.push(invalid("key", key, keyErrors.join("; ")));
  const countError = wrongCount(operator, values.length);
  if (countError !== undefined) errors.push(invalid("values", values, countError));
  for (const [index, value] of values.entries()) {
    if ((operator === ">" || operator === "<") && !isInt64(value)) {
      errors.push(invalid(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  }
  for (const [index, value] of values.entries()) {
    const valueErrors = labelValueErrors(value);
    if (valueErrors.length > 0) errors.push(invalid(`values[${index}][${key}]`, value, valueErrors.join("; ")));
  }
  if (errors.length === 0) return parsed({ key, operator, values: [...new Set(values)].sort(compareUtf8) });
  const messages = [...new Set(errors.map(formatFieldError))];
  return refused(messages.length === 1 ? (messages[0] ?? "") : `[${messages.join(", ")}]`);
}

export const sortByKey = (requirements: readonly LabelRequirement[]): readonly LabelRequirement[] =>
  [...requirements].sort((left, right) => compareUtf8(left.key, right.key));

const objectOperators: Readonly<Record<string, LabelOperator>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
};

function matchesRequirement({ key, operator, values }: LabelRequirement, labels: Labels | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case ">":
      return value !== undefined && isInt64(value) && int64(value) > int64(values[0] ?? "0");
    case "<":
      return value !== undefined && isInt64(value) && int64(value) < int64(values[0] ?? "0");
  }
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === "exists") return key;
  if (operator === "!") return `!${key}`;
  if (operator === "in" || operator === "notin") return `${key} ${operator} (${values.join(",")})`;
  return `${key}${operator}${values.join(",")}`;
}

function wrongCount(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case "in":
    case "notin":
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case "=":
    case "==":
    case "!=":
      return count === 1 ? undefined : "exact-match compatibility requires one single value";
    case "exists":
    case "!":
      return count === 0 ? undefined : "values set must be empty for exists and does not exist";
    case ">":
    case "<":
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
  }
}

function validateExpression(expression: LabelSelectorExpression, path: string): readonly FieldError[] {
  const { key, operator, values = [] } = expression;
  const errors: FieldError[] = [];
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0)
      errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) {
      errors.push(forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else errors.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  errors.push(...labelKeyErrors(key).map((detail) => invalid(`${path}.key`, key, detail)));
  for (const [index, value] of values.entries()) {
    errors.push(...labelValueErrors(value).map((detail) => invalid(`${path}.values[${index}]`, value, detail)));
  }
  return errors;
}

const int64 = (text: string): bigint => BigInt(text.replace(/^\+/, ""));

function isInt64(text: string): boolean {
  if (!/^[+-]?\d{1,32}$/.test(text)) return false;
  return BigInt.asIntN(64, int64(text)) === int64(text);
}

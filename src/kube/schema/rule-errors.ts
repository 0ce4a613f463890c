import { compileCel } from "../cel/compile.ts";
import { unbounded } from "../cel/cost.ts";
import type { DeclaredType } from "../cel/declared-type.ts";
import { optionalType } from "../cel/type.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import { compileRule } from "./rule-compile.ts";
import { normalizeFieldPath } from "./rule-field-path.ts";
import type { Schema, ValidationRule } from "./schema.ts";
import { costMessage, schemaCostLimit } from "./validate-schema.ts";

/** What one rule may cost, estimated, times as often as it can apply in one object. */
export const ruleCostLimit = 10_000_000;

/** The costs of all rules of a schema; the most expensive ones are named when the sum is too high. */
export interface RuleCosts {
  total: number;
  most: { readonly path: string; readonly cost: number }[];
}

/** Mistakes in how a rule is written down, before it is looked at as an expression. */
export function ruleTextErrors(schema: Schema, path: string): readonly FieldError[] {
  return (schema["x-kubernetes-validations"] ?? []).flatMap((rule, index) =>
    textErrors(rule, schema, `${path}.x-kubernetes-validations[${index}]`),
  );
}

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

function textErrors(rule: ValidationRule, schema: Schema, path: string): readonly FieldError[] {
  const { message = "", messageExpression = "", fieldPath = "" } = rule;
  const errors: FieldError[] = [];
  if (rule.rule.trim() === "") errors.push(required(`${path}.rule`, "rule is not specified"));
  else if (message !== "" && message.trim() === "") {
    errors.push(invalid(`${path}.message`, message, "must be non-empty if specified"));
  } else if (hasLineBreak(message.trim())) {
    errors.push(invalid(`${path}.message`, message, "must not contain line breaks"));
  } else if (hasLineBreak(rule.rule.trim()) && message.trim() === "") {
    errors.push(required(`${path}.message`, "message must be specified if rule contains line breaks"));
  }
  if (messageExpression !== "" && messageExpression.trim() === "") {
    errors.push(required(`${path}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    errors.push(notSupported(`${path}.reason`, rule.reason, reasons));
  }
  if (fieldPath === "") return errors;
  if (fieldPath.trim() === "") errors.push(invalid(`${path}.fieldPath`, fieldPath, "must be non-empty if specified"));
  if (hasLineBreak(fieldPath)) errors.push(invalid(`${path}.fieldPath`, fieldPath, "must not contain line breaks"));
  if (normalizeFieldPath(fieldPath, schema).error !== undefined) {
    errors.push(invalid(`${path}.fieldPath`, fieldPath, "must be a valid path"));
  }
  return errors;
}

/** Rules that do not compile, cost too much, or look at an old value that cannot be found. */
export function ruleErrors(
  schema: Schema,
  declared: DeclaredType,
  path: string,
  cardinality: number,
  uncorrelatable: string | undefined,
  costs: RuleCosts,
): readonly FieldError[] {
  return (schema["x-kubernetes-validations"] ?? []).flatMap((rule, index) => {
    const at = `${path}[${index}]`;
    const compiled = compileRule(rule, declared, schema);
    const cost = Math.min((compiled.program?.estimateCost().max ?? 0) * cardinality, unbounded);
    const errors: FieldError[] = [];
    if (cost > ruleCostLimit)
      errors.push(forbidden(`${at}.rule`, costMessage("estimated rule cost", cost, ruleCostLimit)));
    observe(costs, `${at}.rule`, cost);
    if (compiled.compileError !== undefined) errors.push(invalid(`${at}.rule`, shownRule(rule), compiled.compileError));
    else errors.push(...messageErrors(rule, declared, at, costs));
    if (compiled.usesOldSelf && uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
      errors.push(invalid(`${at}.rule`, rule.rule, detail));
    } else if (!compiled.usesOldSelf && rule.optionalOldSelf !== undefined) {
      errors.push(
        invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, "may not be set if oldSelf is not used in rule"),
      );
    }
    return errors;
  });
}

function messageErrors(
  rule: ValidationRule,
  declared: DeclaredType,
  path: string,
  costs: RuleCosts,
): readonly FieldError[] {
  if (!rule.messageExpression) return [];
  const field = `${path}.messageExpression`;
  const oldSelf = rule.optionalOldSelf === true ? { ...declared, type: optionalType(declared.type) } : declared;
  const compiled = compileCel(rule.messageExpression, { self: declared, oldSelf });
  if (!compiled.ok) {
    const stage = compiled.stage === "compile" ? "compilation" : "instantiation";
    return [invalid(field, shownRule(rule), `messageExpression ${stage} failed: ${compiled.message}`)];
  }
  if (compiled.program.type.kind !== "string") {
    return [invalid(field, shownRule(rule), "messageExpression must evaluate to a string")];
  }
  const cost = compiled.program.estimateCost().max;
  observe(costs, field, cost);
  return cost > ruleCostLimit
    ? [forbidden(field, costMessage("estimated messageExpression cost", cost, ruleCostLimit))]
    : [];
}

const mostNamed = 4;

/** Rules below a hundredth of the limit are never worth naming. */
function observe(costs: RuleCosts, path: string, cost: number): void {
  costs.total = Math.min(costs.total + cost, unbounded);
  if (cost < schemaCostLimit / 100) return;
  costs.most.push({ path, cost });
  costs.most.sort((left, right) => right.cost - left.cost);
  costs.most.length = Math.min(costs.most.length, mostNamed);
}

/** The real server shows its own inner form of a rule. */
const shownRule = (rule: ValidationRule): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ["Rule", rule.rule],
    ["Message", rule.message ?? ""],
    ["MessageExpression", rule.messageExpression ?? ""],
    ["Reason", rule.reason ?? null],
    ["FieldPath", rule.fieldPath ?? ""],
    ["OptionalOldSelf", rule.optionalOldSelf ?? null],
  ]);

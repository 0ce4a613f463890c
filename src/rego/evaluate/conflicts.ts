/**
 * What is said when a complete rule or a function has two values. Evaluation stops at the second one; only then are the
 * rules asked once more, so that the message can list the value of every rule that takes part.
 */
import { dataRef } from "../compile/globals.ts";
import { printRef } from "../syntax/print.ts";
import { equalValues } from "../values/compare.ts";
import { formatValue } from "../values/format.ts";
import type { Value } from "../values/value.ts";
import { RegoError } from "./errors.ts";
import type { CompiledRule, RuleGroup } from "./program.ts";

/** Two values of one rule, met while a conflict is being described. */
export class SecondValue extends Error {
  readonly values: readonly [Value, Value];

  constructor(values: readonly [Value, Value]) {
    super("second value");
    this.values = values;
  }
}

/** The values of one rule, two at most; undefined if it ended in an error, and nothing more can be learned. */
export type ValuesOf = (rule: CompiledRule) => readonly Value[] | undefined;

interface Claim {
  readonly rule: CompiledRule;
  readonly value: Value;
}

const maxListedValues = 10;
const maxValueLength = 80;

/** `rule` is the one whose value was the second. */
export function conflictError(
  group: RuleGroup,
  rule: CompiledRule,
  candidates: readonly CompiledRule[],
  valuesOf: ValuesOf,
): RegoError {
  const path = printRef(dataRef(group.path));
  const message =
    group.kind === "function"
      ? `function ${path} produced conflicting values for the same inputs`
      : `rule ${path} produced conflicting values`;
  const claims = collectClaims(candidates, valuesOf);
  if (claims.length < 2) return new RegoError("eval_conflict_error", message, rule.loc);
  const listed = claims
    .slice(0, maxListedValues)
    .sort(bySource)
    .map((claim) => `\n  ${shortened(formatValue(claim.value))} at ${claim.rule.loc.file}:${claim.rule.loc.row}`);
  const more = claims.length > maxListedValues ? "\n  ..." : "";
  return new RegoError("eval_conflict_error", `${message}:${listed.join("")}${more}`, rule.loc);
}

/** The first value, and from every rule one that differs from it. */
function collectClaims(candidates: readonly CompiledRule[], valuesOf: ValuesOf): readonly Claim[] {
  const claims: Claim[] = [];
  for (const candidate of candidates) {
    for (let rule: CompiledRule | undefined = candidate; rule !== undefined; rule = rule.elseRule) {
      const values = valuesOf(rule);
      if (values === undefined) return claims;
      const [first] = claims;
      if (first === undefined) claims.push(...values.map((value) => ({ rule: rule as CompiledRule, value })));
      else {
        const other = values.find((value) => !equalValues(first.value, value));
        if (other !== undefined) claims.push({ rule, value: other });
      }
      if (claims.length > maxListedValues) return claims;
      if (values.length > 0) break;
    }
  }
  return claims;
}

function bySource(left: Claim, right: Claim): number {
  const [a, b] = [left.rule.loc, right.rule.loc];
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.row - b.row || a.col - b.col;
}

function shortened(text: string): string {
  const characters = [...text.split(/\s+/).join(" ")];
  return characters.length <= maxValueLength
    ? characters.join("")
    : `${characters.slice(0, maxValueLength).join("")}...`;
}

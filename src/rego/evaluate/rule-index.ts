/**
 * Which rules of a group can succeed at all. Many rules begin with a condition such as `input.kind == "Pod"`; the index
 * looks the value up once and leaves out the rules that want another one.
 */
import { type Expr, operatorName, stringPath, type Term } from "../syntax/ast.ts";
import { scalarKeyOf } from "../values/number.ts";
import { RegoObject, type Value } from "../values/value.ts";
import type { Machine } from "./machine.ts";
import type { CompiledRule, RuleGroup } from "./program.ts";

export interface RuleIndex {
  /** Undefined if the group has nothing to look up. */
  readonly subject: Subject | undefined;
  /** Rules by the value that they want, each list with those that do not care, in the order of the source. */
  readonly byValue: ReadonlyMap<unknown, readonly CompiledRule[]>;
  /** Rules that do not care. */
  readonly others: readonly CompiledRule[];
}

type Subject =
  | { readonly kind: "input"; readonly path: readonly string[] }
  | { readonly kind: "argument"; readonly position: number };

export function candidateRules(
  group: RuleGroup,
  indexes: (RuleIndex | undefined)[],
  machine: Machine,
  args: readonly Value[] | undefined,
): readonly CompiledRule[] {
  let index = indexes[group.id];
  if (index === undefined) {
    index = buildIndex(group.rules);
    indexes[group.id] = index;
  }
  const { subject } = index;
  if (subject === undefined) return group.rules;
  const value = subject.kind === "input" ? inputAt(machine.input, subject.path) : args?.[subject.position];
  if (value === undefined) return index.others;
  const key = scalarKeyOf(value);
  if (key === undefined)
    return value !== null && typeof value === "object" && "text" in value ? group.rules : index.others;
  return index.byValue.get(key) ?? index.others;
}

function inputPath(term: Term): readonly string[] | undefined {
  if (term.kind !== "ref") return undefined;
  const [head, ...rest] = term.parts;
  if (head?.kind !== "var" || head.name !== "input") return undefined;
  const path = stringPath(rest);
  return path.length === rest.length && path.length > 0 ? path : undefined;
}

function inputAt(input: Value | undefined, path: readonly string[]): Value | undefined {
  let value = input;
  for (const name of path) {
    if (!(value instanceof RegoObject)) return undefined;
    value = value.field(name);
  }
  return value;
}

interface Condition {
  readonly key: string;
  readonly subject: Subject;
  readonly value: unknown;
}

function buildIndex(rules: readonly CompiledRule[]): RuleIndex {
  // An `else` may succeed where the first branch cannot, so such rules are always candidates.
  const conditions = rules.map((rule) => (rule.elseRule === undefined ? conditionsOf(rule) : []));
  const counts = new Map<string, number>();
  for (const list of conditions) for (const { key } of list) counts.set(key, (counts.get(key) ?? 0) + 1);
  const [best] = [...counts].sort(([, left], [, right]) => right - left);
  if (best === undefined || best[1] < 2) return { subject: undefined, byValue: new Map(), others: rules };
  const [bestKey] = best;
  const wanted = conditions.map((list) => list.find(({ key }) => key === bestKey));
  const subject = wanted.find((condition) => condition !== undefined)?.subject;
  const values = new Set(wanted.flatMap((condition) => (condition === undefined ? [] : [condition.value])));
  const byValue = new Map(
    [...values].map((value) => [
      value,
      rules.filter((_, index) => wanted[index] === undefined || wanted[index].value === value),
    ]),
  );
  return { subject, byValue, others: rules.filter((_, index) => wanted[index] === undefined) };
}

function conditionsOf(rule: CompiledRule): readonly Condition[] {
  const conditions: Condition[] = [];
  const positions = new Map<string, number>();
  rule.head.args?.forEach((arg, position) => {
    if (arg.kind === "var") positions.set(arg.name, position);
    const value = arg.kind === "scalar" ? scalarKeyOf(arg.value) : undefined;
    if (value !== undefined) {
      conditions.push({ key: `argument ${position}`, subject: { kind: "argument", position }, value });
    }
  });
  for (const expr of rule.body) {
    const condition = conditionOf(expr, positions);
    if (condition !== undefined && !conditions.some(({ key }) => key === condition.key)) conditions.push(condition);
  }
  return conditions;
}

function conditionOf(expr: Expr, positions: ReadonlyMap<string, number>): Condition | undefined {
  if (expr.kind !== "expr-call" || expr.negated || expr.withs.length > 0) return undefined;
  if (operatorName(expr.operator) !== "eq") return undefined;
  const [left, right] = expr.args;
  if (left === undefined || right === undefined) return undefined;
  return match(left, right, positions) ?? match(right, left, positions);
}

function match(subject: Term, constant: Term, positions: ReadonlyMap<string, number>): Condition | undefined {
  const value = constant.kind === "scalar" ? scalarKeyOf(constant.value) : undefined;
  if (value === undefined) return undefined;
  if (subject.kind === "var") {
    const position = positions.get(subject.name);
    if (position === undefined) return undefined;
    return { key: `argument ${position}`, subject: { kind: "argument", position }, value };
  }
  const path = inputPath(subject);
  if (path === undefined) return undefined;
  return { key: `input ${path.join("\u0000")}`, subject: { kind: "input", path }, value };
}

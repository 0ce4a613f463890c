/**
 * Whether a rule is started at all. OPA's index leaves out a rule if a place of the input or of the base documents,
 * which one of its expressions compares or takes, does not have a fitting value. Mostly that only saves time, but
 * nothing in such a rule can fail either; so this looks at expressions that stand behind one that could fail.
 */
import { once } from "../compile/once.ts";
import { type Body, type Expr, operatorName, type RefTerm, type Term } from "../syntax/ast.ts";
import { equalValues } from "../values/compare.ts";
import { isArray, type Value } from "../values/value.ts";
import type { Exec } from "./frame.ts";
import { lookup } from "./lookup.ts";
import type { Machine } from "./machine.ts";
import type { CompiledRule, Program } from "./program.ts";
import { constantValue } from "./terms.ts";

interface Condition {
  readonly root: "input" | "data";
  readonly path: readonly Value[];
  fits(value: Value): boolean;
}

export function startsOnlyIfPossible(rule: CompiledRule, machine: Machine, program: Program, run: Exec): Exec {
  const start = rule.body.findIndex(mayFail);
  const conditions = start === -1 ? [] : conditionsOf(rule.body.slice(start + 1), program);
  return conditions.length === 0 ? run : (frame) => hold(conditions, machine) && run(frame);
}

/** The whole question, which only those ask who see when a rule starts. */
export function startCheck(rule: CompiledRule, machine: Machine, program: Program): () => boolean {
  const conditions = once(() => conditionsOf(rule.body, program));
  return () => hold(conditions(), machine);
}

function hold(conditions: readonly Condition[], machine: Machine): boolean {
  for (const { root, path, fits } of conditions) {
    const value = valueAt(root === "input" ? machine.input : machine.data, path);
    if (value === undefined || !fits(value)) return false;
  }
  return true;
}

function valueAt(start: Value | undefined, path: readonly Value[]): Value | undefined {
  let value = start;
  for (const key of path) {
    if (value === undefined) return undefined;
    value = lookup(value, key);
  }
  return value;
}

function conditionsOf(body: Body, program: Program): readonly Condition[] {
  return body.flatMap((expr) => {
    const condition = conditionOf(expr, program);
    return condition === undefined ? [] : [condition];
  });
}

function conditionOf(expr: Expr, program: Program): Condition | undefined {
  if (expr.negated || expr.withs.length > 0) return undefined;
  if (expr.kind === "expr-term") return expr.term.kind === "ref" ? place(expr.term, program, () => true) : undefined;
  if (expr.kind !== "expr-call" || operatorName(expr.operator) !== "eq") return undefined;
  const [left, right] = expr.args;
  if (left?.kind === "ref" && right !== undefined) return comparison(left, right, program);
  return right?.kind === "ref" && left !== undefined ? comparison(right, left, program) : undefined;
}

function comparison(ref: RefTerm, other: Term, program: Program): Condition | undefined {
  const fits = fitting(other);
  return fits === undefined ? undefined : place(ref, program, fits);
}

/** Scalars and arrays of them are compared, a variable takes anything; whatever else is left to the rule. */
function fitting(term: Term): ((value: Value) => boolean) | undefined {
  if (term.kind === "var") return () => true;
  if (term.kind === "scalar") return (value) => equalValues(value, term.value);
  if (term.kind !== "array" || !term.items.every(({ kind }) => kind === "var" || kind === "scalar")) return undefined;
  const items = term.items.map(fitting);
  return (value) =>
    isArray(value) && value.length === items.length && value.every((item, index) => items[index]?.(item) ?? false);
}

/** Undefined unless the ref is a fixed place of the input or of base documents. */
function place(ref: RefTerm, program: Program, fits: Condition["fits"]): Condition | undefined {
  const [head, ...parts] = ref.parts;
  if (head?.kind !== "var" || (head.name !== "input" && head.name !== "data") || parts.length === 0) return undefined;
  const path: Value[] = [];
  for (const part of parts) {
    const key = constantValue(part);
    if (key === undefined) return undefined;
    path.push(key);
  }
  if (head.name === "data" && isVirtual(path, program)) return undefined;
  return { root: head.name, path, fits };
}

function isVirtual(path: readonly Value[], program: Program): boolean {
  let node = program.root;
  for (const key of path) {
    const child = typeof key === "string" ? node.children.get(key) : undefined;
    if (child === undefined) return false;
    if (child.group !== undefined) return true;
    node = child;
  }
  return true;
}

/** Calls, rules and bodies inside may end in an error; comparing and taking values of documents cannot. */
function mayFail(expr: Expr): boolean {
  if (expr.withs.length > 0) return true;
  if (expr.kind === "expr-term") return termMayFail(expr.term);
  if (expr.kind !== "expr-call" || operatorName(expr.operator) !== "eq") return true;
  return expr.args.some(termMayFail);
}

function termMayFail(term: Term): boolean {
  switch (term.kind) {
    case "scalar":
    case "var":
      return false;
    case "ref": {
      const [head] = term.parts;
      return (head?.kind === "var" && head.name === "data") || term.parts.some(termMayFail);
    }
    case "array":
    case "set":
      return term.items.some(termMayFail);
    case "object":
      return term.entries.flat().some(termMayFail);
    default:
      return true;
  }
}

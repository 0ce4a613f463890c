/**
 * Test rules with cases: `test_sum[name] if { some name, c in cases; c.got == c.want }`. A case that fails has no place in
 * the document of the rule, so the rule is made to say which case it is at, as soon as it knows: by a call of a built-in
 * that only the runner of tests brings.
 */
import { type Body, callExpr, type Expr, operatorName, type Rule, type Term } from "../syntax/ast.ts";
import { eachVar, varsOfClosures, varsOfExpr } from "./variables.ts";

/** Gets the names of the case as an array. */
export const noteTestCase = "internal.test_case";

/** For rules whose bodies have their final order. */
export function withTestCases(rule: Rule): Rule {
  const [name, ...keys] = rule.head.ref.parts;
  const isTest = name?.kind === "var" && name.name.startsWith("test_") && rule.head.value !== undefined;
  if (!isTest || keys.length === 0 || rule.isDefault) return rule;
  const body = keys.reduce(withKeyEarly, rule.body);
  const known = Math.max(-1, ...keys.map((key) => (key.kind === "var" ? firstMention(key.name, body) : -1)));
  const note: Expr = {
    ...callExpr(noteTestCase, [{ kind: "array", items: keys, loc: rule.loc }], rule.loc),
    generated: true,
  };
  return { ...rule, body: [...body.slice(0, known + 1), note, ...body.slice(known + 1)] };
}

/** What computes a key for the head stands at the end; it moves up to where all that it needs is known. */
function withKeyEarly(body: Body, key: Term): Body {
  const at = body.findLastIndex((expr) => key.kind === "var" && isComputedFor(key.name, expr));
  const computing = body[at];
  if (computing?.kind !== "expr-call") return body;
  const needed = new Set<string>();
  for (const arg of computing.args.slice(1)) eachVar(arg, (name) => needed.add(name));
  const before = body.slice(0, at);
  const known = Math.max(-1, ...[...needed].map((name) => firstMention(name, before)));
  return [...before.slice(0, known + 1), computing, ...before.slice(known + 1), ...body.slice(at + 1)];
}

function isComputedFor(name: string, expr: Expr): boolean {
  if (expr.kind !== "expr-call" || expr.generated !== true || operatorName(expr.operator) !== "eq") return false;
  const [target] = expr.args;
  return target?.kind === "var" && target.name === name;
}

/** Where a variable gets its value, or -1. */
function firstMention(name: string, body: Body): number {
  return body.findIndex((expr) => varsOfExpr(expr).has(name) || varsOfClosures(expr).has(name));
}

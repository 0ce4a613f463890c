/** Parentheses around `and`/`or`/`not`: a group is read only when it holds or leads an operator, otherwise a term. */
import { type Body, type Expr, operatorName } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { attachWiths, parseOperand, parseOperators, reportWithOnOperand } from "./literals.ts";
import { parseTerm } from "./terms.ts";

export type GroupResult =
  | { readonly kind: "group"; readonly body: Body; readonly explicit: boolean }
  /** Not a group: the cursor is back at the parenthesis. */
  | { readonly kind: "term" }
  | { readonly kind: "failed" };

const failed: GroupResult = { kind: "failed" };

/** `isOperand` says that the parenthesis already stands where only an operand can. */
export function parseGroup(p: Cursor, isOperand: boolean, prefix: string): GroupResult {
  if (!p.enter()) return failed;
  try {
    return readGroup(p, isOperand, prefix);
  } finally {
    p.leave();
  }
}

function readGroup(p: Cursor, isOperand: boolean, prefix: string): GroupResult {
  const mark = p.mark();
  const openLoc = p.here();
  p.advance();
  if (p.is(")")) {
    if (isOperand) {
      p.error(openLoc, "empty parenthesized group");
      return failed;
    }
    p.reset(mark);
    return { kind: "term" };
  }
  const innerStart = p.token;
  const operand = parseOperand(p, "");
  if (operand === undefined) {
    p.reset(mark);
    return { kind: "term" };
  }
  if (p.isLogicalOperator()) {
    const folded = parseOperators(p, innerStart, operand.body, operand.explicit);
    const whole = folded === undefined ? undefined : attachWiths(p, innerStart, folded);
    if (whole === undefined || !closes(p)) return failed;
    return { kind: "group", body: [whole], explicit: false };
  }
  const [only] = operand.body;
  if (p.isKeyword("with") && !operand.explicit && only !== undefined && operand.body.length === 1) {
    const withLoc = p.here();
    const modified = attachWiths(p, innerStart, only);
    if (modified === undefined) return failed;
    if (p.isLogicalOperator()) {
      reportWithOnOperand(p, withLoc, p.token.text);
      return failed;
    }
    if (!closes(p)) return failed;
    if (isOperand || p.isLogicalOperator()) return { kind: "group", body: [modified], explicit: false };
    p.reset(mark);
    return { kind: "term" };
  }
  if (operand.explicit) {
    const braces = p.lexed.source.slice(innerStart.start, p.lastEnd);
    p.reset(mark);
    p.advance();
    const isValue = parseTerm(p) !== undefined;
    p.reset(mark);
    if (isValue) return { kind: "term" };
    p.hints.push(`drop the parens to keep the body: \`${prefix}${braces}\``);
    p.error(openLoc, "`(...)` in an operand position cannot contain a body");
    return failed;
  }
  if (only !== undefined && (isLogical(only) || only.negated || only.kind === "expr-not")) {
    return closes(p) ? { kind: "group", body: operand.body, explicit: false } : failed;
  }
  p.reset(mark);
  return { kind: "term" };
}

function closes(p: Cursor): boolean {
  if (!p.is(")")) {
    p.error(p.here(), "expected ) to close parenthesized group");
    return false;
  }
  p.advance();
  return true;
}

function isLogical(expr: Expr): boolean {
  return expr.kind === "expr-and" || expr.kind === "expr-or";
}

/** `{ a | b }` as an operand could be a comprehension as well as a body with a union. */
export function isAmbiguousUnion(body: Body): boolean {
  const [first] = body;
  if (first?.kind !== "expr-call" || operatorName(first.operator) !== "or") return false;
  return first.operator.loc.text === "|" && !first.loc.text.trim().startsWith("(");
}

/** An operand that begins with `{` but is a value must be in parentheses. */
export function braceMeansValue(p: Cursor, expr: Expr, operator: string): undefined {
  if (expr.kind === "expr-term" && expr.term.kind === "object" && expr.term.entries.length === 0) {
    p.error(expr.loc, "found empty body");
    return undefined;
  }
  p.hints.push(`wrap the operand to keep the value: \`(${expr.loc.text}) ${operator} ...\``);
  p.error(expr.loc, `operand of \`${operator}\` cannot begin with \`{\` unless the braces hold a body`);
  return undefined;
}

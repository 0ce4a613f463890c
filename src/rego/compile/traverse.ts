/** One way through expressions and terms, for everybody who looks for something in them. */
import type { Body, Comprehension, Expr, Term } from "../syntax/ast.ts";

export interface Visitor {
  readonly expr?: (expr: Expr) => void;
  /** The answer `true` means not to look inside it. */
  readonly comprehension?: (term: Comprehension) => boolean;
}

/** Every expression of a body, and of the bodies inside it; outer ones come first. */
export function eachExpr(body: Body, visit: (expr: Expr) => void): void {
  traverseBody(body, { expr: visit });
}

/** Every expression of the bodies inside a term. */
export function eachExprInTerm(term: Term, visit: (expr: Expr) => void): void {
  traverseTerm(term, { expr: visit });
}

/** Every comprehension of an expression, also those inside other bodies of it. */
export function eachComprehension(expr: Expr, visit: (comprehension: Comprehension) => boolean): void {
  traverseExpr(expr, { comprehension: visit });
}

function traverseBody(body: Body, visitor: Visitor): void {
  for (const expr of body) traverseExpr(expr, visitor);
}

function traverseExpr(expr: Expr, visitor: Visitor): void {
  visitor.expr?.(expr);
  switch (expr.kind) {
    case "expr-term":
      traverseTerm(expr.term, visitor);
      break;
    case "expr-call":
      traverseTerms(expr.args, visitor);
      break;
    case "expr-some":
      traverseTerms(expr.symbols, visitor);
      break;
    case "expr-every":
      traverseTerm(expr.domain, visitor);
      traverseBody(expr.body, visitor);
      break;
    case "expr-not":
      traverseBody(expr.body, visitor);
      break;
    case "expr-and":
    case "expr-or":
      traverseBody(expr.left, visitor);
      traverseBody(expr.right, visitor);
      break;
  }
  for (const modifier of expr.withs) traverseTerm(modifier.value, visitor);
}

function traverseTerms(terms: readonly Term[], visitor: Visitor): void {
  for (const term of terms) traverseTerm(term, visitor);
}

function traverseTerm(term: Term, visitor: Visitor): void {
  switch (term.kind) {
    case "ref":
      traverseTerms(term.parts, visitor);
      return;
    case "array":
    case "set":
      traverseTerms(term.items, visitor);
      return;
    case "object":
      for (const [key, value] of term.entries) {
        traverseTerm(key, visitor);
        traverseTerm(value, visitor);
      }
      return;
    case "call":
      traverseTerms(term.args, visitor);
      return;
    case "array-comprehension":
    case "set-comprehension":
      if (visitor.comprehension?.(term)) return;
      traverseTerm(term.head, visitor);
      traverseBody(term.body, visitor);
      return;
    case "object-comprehension":
      if (visitor.comprehension?.(term)) return;
      traverseTerm(term.key, visitor);
      traverseTerm(term.value, visitor);
      traverseBody(term.body, visitor);
      return;
    default:
      return;
  }
}

/** Finds the comprehensions of an expression, also those inside other bodies of it. */
import type { Body, Comprehension, Expr, Term } from "../syntax/ast.ts";

/** Calls back with each comprehension; the answer `true` means not to look inside it. */
export function eachComprehension(expr: Expr, visit: (comprehension: Comprehension) => boolean): void {
  const inBody = (body: Body): void => {
    for (const inner of body) eachComprehension(inner, visit);
  };
  const inTerm = (term: Term): void => {
    switch (term.kind) {
      case "ref":
        term.parts.forEach(inTerm);
        return;
      case "array":
      case "set":
        term.items.forEach(inTerm);
        return;
      case "object":
        term.entries.flat().forEach(inTerm);
        return;
      case "array-comprehension":
      case "set-comprehension":
        if (visit(term)) return;
        inTerm(term.head);
        inBody(term.body);
        return;
      case "object-comprehension":
        if (visit(term)) return;
        inTerm(term.key);
        inTerm(term.value);
        inBody(term.body);
        return;
      default:
        return;
    }
  };
  switch (expr.kind) {
    case "expr-term":
      inTerm(expr.term);
      break;
    case "expr-call":
      expr.args.forEach(inTerm);
      break;
    case "expr-every":
      inTerm(expr.domain);
      inBody(expr.body);
      break;
    case "expr-not":
      inBody(expr.body);
      break;
    case "expr-and":
    case "expr-or":
      inBody(expr.left);
      inBody(expr.right);
      break;
    default:
      break;
  }
  for (const modifier of expr.withs) inTerm(modifier.value);
}

/** Queries answer with the value of each expression: terms and calls get a variable that holds it. */
import { signatures } from "../builtins/signatures.ts";
import {
  type Body,
  callExpr,
  type Expr,
  type Location,
  operatorName,
  type Term,
  termExpr,
  variable,
} from "../syntax/ast.ts";

export interface CapturedQuery {
  readonly body: Body;
  /** One per expression of the query; without a variable its value is `true`. */
  readonly expressions: readonly { readonly variable: string | undefined; readonly location: Location }[];
}

export function captureValues(query: Body): CapturedQuery {
  const body: Expr[] = [];
  const checks: Expr[] = [];
  // A lone expression may answer `false`; among others, or while iterating, it has to hold.
  const mustHold = query.length > 1 || query.some(iterates);
  const expressions = query.map((expr, index) => {
    // Names that start like this can not be written in a source.
    const name = `$value${index}`;
    const captured = captureIn(expr, name);
    body.push(captured ?? expr);
    if (captured === undefined) return { variable: undefined, location: expr.loc };
    if (mustHold) checks.push({ ...termExpr(variable(name, expr.loc)), generated: true });
    return { variable: name, location: expr.loc };
  });
  return { body: [...body, ...checks], expressions };
}

function captureIn(expr: Expr, name: string): Expr | undefined {
  if (expr.negated) return undefined;
  if (expr.kind === "expr-term") {
    return { ...callExpr("eq", [expr.term, variable(name, expr.loc)], expr.loc, expr.withs) };
  }
  if (expr.kind !== "expr-call") return undefined;
  const operator = operatorName(expr.operator) ?? "";
  if (operator === "eq" || operator === "assign") return undefined;
  const signature = signatures.get(operator);
  if (signature !== undefined && (signature.result === undefined || signature.operands.length !== expr.args.length)) {
    return undefined;
  }
  return { ...expr, args: [...expr.args, variable(name, expr.loc)] };
}

function iterates(expr: Expr): boolean {
  const inTerm = (term: Term): boolean => {
    switch (term.kind) {
      case "ref":
        return term.parts.slice(1).some((part) => part.kind !== "scalar") || term.parts.some(inTerm);
      case "array":
      case "set":
        return term.items.some(inTerm);
      case "object":
        return term.entries.some(([key, value]) => inTerm(key) || inTerm(value));
      case "call":
        return operatorName(term.operator) === "walk" || term.args.some(inTerm);
      default:
        return false;
    }
  };
  if (expr.kind === "expr-term") return inTerm(expr.term);
  if (expr.kind === "expr-call") return operatorName(expr.operator) === "walk" || expr.args.some(inTerm);
  return expr.kind === "expr-some";
}

/**
 * Binds refs and comprehensions inside terms to variables before the expression that uses them, so that operands are
 * plain values: `count(data.xs[i])` becomes `a = data.xs[i]; count(a)`. Runs after safety, whose order it keeps.
 */
import {
  type Body,
  callExpr,
  type Expr,
  operatorName,
  type Rule,
  refOf,
  type Term,
  variable,
  type With,
} from "../syntax/ast.ts";
import type { Names } from "./names.ts";

export function hoistRule(rule: Rule, names: Names): Rule {
  const elseRule = rule.elseRule === undefined ? undefined : hoistRule(rule.elseRule, names);
  return { ...rule, body: hoistBody(rule.body, names), elseRule };
}

export function hoistBody(body: Body, names: Names): Body {
  const result: Expr[] = [];
  for (const expr of body) hoistExpr(expr, names, result);
  return result;
}

function hoistExpr(expr: Expr, names: Names, result: Expr[]): void {
  const withs = expr.withs.map((modifier) => ({ ...modifier, value: inner(modifier.value, [], names, result) }));
  switch (expr.kind) {
    case "expr-term": {
      const term = outer(expr.term, withs, names, result);
      result.push({ ...expr, withs, term });
      return;
    }
    case "expr-call": {
      const name = operatorName(expr.operator);
      // `==` is a unification of two sides that are bound already; as such its refs are not needed before it.
      const isEquality = (name === "eq" || name === "equal") && expr.args.length === 2;
      const place = isEquality ? outer : inner;
      const args = expr.args.map((arg) => place(arg, withs, names, result));
      result.push(
        isEquality ? { ...callExpr("eq", args, expr.loc), ...sameShape(expr), withs } : { ...expr, withs, args },
      );
      return;
    }
    case "expr-every":
      result.push({
        ...expr,
        withs,
        domain: inner(expr.domain, withs, names, result),
        body: hoistBody(expr.body, names),
      });
      return;
    case "expr-not":
      result.push({ ...expr, withs, body: hoistBody(expr.body, names) });
      return;
    case "expr-and":
    case "expr-or":
      result.push({ ...expr, withs, left: hoistBody(expr.left, names), right: hoistBody(expr.right, names) });
      return;
    case "expr-some":
      return;
  }
}

function sameShape(expr: Expr): Pick<Expr, "negated" | "generated"> {
  return { negated: expr.negated, ...(expr.generated === undefined ? {} : { generated: expr.generated }) };
}

/** A term that stands at the top of an expression: refs and comprehensions may stay. */
function outer(term: Term, withs: readonly With[], names: Names, result: Expr[]): Term {
  switch (term.kind) {
    case "ref":
      return hoistRefParts(term, withs, names, result);
    case "array-comprehension":
    case "set-comprehension":
    case "object-comprehension":
      return { ...term, body: hoistBody(term.body, names) };
    default:
      return inner(term, withs, names, result);
  }
}

function inner(term: Term, withs: readonly With[], names: Names, result: Expr[]): Term {
  switch (term.kind) {
    case "ref":
      return bind(hoistRefParts(term, withs, names, result), withs, names, result);
    case "array-comprehension":
    case "set-comprehension":
    case "object-comprehension":
      return bind({ ...term, body: hoistBody(term.body, names) }, withs, names, result);
    case "array":
    case "set":
      return { ...term, items: term.items.map((item) => inner(item, withs, names, result)) };
    case "object":
      return {
        ...term,
        entries: term.entries.map(([key, value]) => [
          inner(key, withs, names, result),
          inner(value, withs, names, result),
        ]),
      };
    default:
      return term;
  }
}

function hoistRefParts(
  ref: Term & { readonly kind: "ref" },
  withs: readonly With[],
  names: Names,
  result: Expr[],
): Term {
  const [head, ...rest] = ref.parts;
  if (head === undefined) return ref;
  return refOf([head, ...rest.map((part) => inner(part, withs, names, result))], ref.loc);
}

function bind(term: Term, withs: readonly With[], names: Names, result: Expr[]): Term {
  const local = variable(names.fresh(), term.loc);
  result.push({ ...callExpr("eq", [local, term], term.loc, withs), generated: true });
  return local;
}

/** What the words in a body stand for. The order is OPA's: what an expression says comes before its `with`. */
import {
  type Body,
  callExpr,
  type Expr,
  isWildcard,
  type Location,
  operatorName,
  refOf,
  type Term,
  variable,
  type With,
} from "../syntax/ast.ts";
import { declare, declarePattern, refusesAssignment } from "./declare.ts";
import { eachMatchVar } from "./outputs.ts";
import { resolveNested, resolveOperator, resolveTerm } from "./resolve-terms.ts";
import { type Declaration, declaredNames, type Resolving, Scope } from "./scope.ts";
import { reportUnused } from "./unused.ts";
import { eachVar } from "./variables.ts";

export function resolveBody(body: Body, scope: Scope, resolving: Resolving): Body {
  const result: Expr[] = [];
  for (const expr of body) result.push(...resolveExpr(expr, scope, resolving));
  return result;
}

/** Declarations are gone afterwards. */
export function resolveExpr(expr: Expr, scope: Scope, resolving: Resolving): readonly Expr[] {
  const withs = (): readonly With[] => expr.withs.map((modifier) => resolveWith(modifier, scope, resolving));
  switch (expr.kind) {
    case "expr-some": {
      const [only] = expr.symbols;
      if (only?.kind === "call") {
        const member = resolveSomeIn(only.args, expr.loc, scope, resolving);
        return [{ ...member, withs: withs() }];
      }
      for (const symbol of expr.symbols) if (symbol.kind === "var") declare(symbol, "declared", scope, resolving);
      return [];
    }
    case "expr-every":
      return [{ ...resolveEvery(expr, scope, resolving), withs: withs() }];
    case "expr-not": {
      if (!expr.explicit && refusesAssignment(expr.body, "not", resolving)) return [expr];
      const body = resolveOperand(expr.body, expr.explicit, scope, resolving).body;
      return [{ ...expr, body, withs: withs() }];
    }
    case "expr-and":
    case "expr-or": {
      const operator = expr.kind === "expr-and" ? "and" : "or";
      const isLeftRefused = !expr.explicitLeft && refusesAssignment(expr.left, operator, resolving);
      const isRightRefused = !expr.explicitRight && refusesAssignment(expr.right, operator, resolving);
      if (isLeftRefused || isRightRefused) return [expr];
      const left = resolveOperand(expr.left, expr.explicitLeft, scope, resolving);
      const right = resolveOperand(expr.right, expr.explicitRight, scope, resolving);
      for (const [name, { loc }] of [...left.seen, ...right.seen]) scope.see(name, loc);
      return [{ ...expr, left: left.body, right: right.body, withs: withs() }];
    }
    case "expr-term": {
      const term = resolveTerm(expr.term, scope, resolving);
      return [{ ...expr, term, withs: withs() }];
    }
    case "expr-call": {
      const [left, right] = expr.args;
      if (expr.negated && refusesAssignment([expr], "not", resolving)) return [expr];
      if (
        operatorName(expr.operator) === "assign" &&
        left !== undefined &&
        right !== undefined &&
        expr.args.length === 2
      ) {
        return [resolveAssignment(left, right, withs, expr.loc, scope, resolving)];
      }
      const operator = resolveOperator(expr.operator, scope, resolving);
      const args = expr.args.map((arg) => resolveTerm(arg, scope, resolving));
      return [{ ...expr, operator, args, withs: withs() }];
    }
  }
}

/** In braces, a body declares its own variables; without them it belongs to the body around it. */
function resolveOperand(
  body: Body,
  isExplicit: boolean,
  scope: Scope,
  resolving: Resolving,
): { readonly body: Body; readonly seen: readonly (readonly [string, Declaration])[] } {
  if (!isExplicit) return { body: resolveBody(body, scope, resolving), seen: [] };
  const nested = resolveNested(body, scope, resolving);
  reportUnused(nested.scope, resolving);
  const seen = [...nested.scope.declarations].filter(([name, { local }]) => local === name);
  return { body: nested.body, seen };
}

function resolveWith(modifier: With, scope: Scope, resolving: Resolving): With {
  const target = resolveTerm(modifier.target, scope, resolving);
  const parts = target.kind === "ref" ? target.parts : [target];
  const [head] = modifier.target.parts;
  // A variable may hide `input`, but only the document can be replaced; a rule of that name is a document itself.
  const isInput = head?.kind === "var" && head.name === "input" && parts[0]?.kind === "var" && parts[0].name !== "data";
  return {
    ...modifier,
    target: refOf(isInput ? [head, ...parts.slice(1)] : parts, target.loc),
    value: resolveTerm(modifier.value, scope, resolving),
  };
}

function resolveSomeIn(args: readonly Term[], loc: Location, scope: Scope, resolving: Resolving): Expr {
  const domain = args.at(-1);
  const value = args.at(-2);
  const key = args.length === 3 ? args[0] : undefined;
  if (domain === undefined || value === undefined) throw new RangeError("membership needs two operands");
  const fresh = new Set<string>();
  if (isUsedInDomain(key === undefined ? [value] : [key, value], domain, loc, resolving))
    return callExpr("eq", [value, value], loc);
  if (key !== undefined) declarePattern(key, "member", scope, resolving, fresh);
  declarePattern(value, "member", scope, resolving, fresh);
  const resolvedDomain = resolveTerm(domain, scope, resolving);
  const resolvedKey = key === undefined ? variable(resolving.names.fresh(), loc) : resolveTerm(key, scope, resolving);
  const container = resolvedDomain.kind === "ref" ? resolvedDomain.parts : [resolvedDomain];
  const element = refOf([...container, resolvedKey], resolvedDomain.loc);
  return { ...callExpr("eq", [resolveTerm(value, scope, resolving), element], loc), generated: false };
}

/** What `some … in` binds cannot come from the collection that it is taken from. */
function isUsedInDomain(bound: readonly Term[], domain: Term, loc: Location, { diagnostics }: Resolving): boolean {
  const names = new Set<string>();
  for (const term of bound) eachMatchVar(term, (name) => names.add(name));
  const used = new Set<string>();
  eachVar(domain, (name) => {
    if (names.has(name) && !isWildcard(name)) used.add(name);
  });
  for (const name of used) diagnostics.report("rego_compile_error", loc, `var ${name} assigned before`);
  return used.size > 0;
}

function resolveEvery(expr: Expr & { readonly kind: "expr-every" }, scope: Scope, resolving: Resolving): Expr {
  const domain = resolveTerm(expr.domain, scope, resolving);
  const inner = new Scope(scope, declaredNames(expr.body));
  if (expr.key?.kind === "var") declare(expr.key, "declared", inner, resolving);
  if (expr.value.kind === "var") declare(expr.value, "declared", inner, resolving);
  const key = expr.key === undefined ? undefined : resolveTerm(expr.key, inner, resolving, true);
  const value = resolveTerm(expr.value, inner, resolving, true);
  const body = resolveBody(expr.body, inner, resolving);
  reportUnused(inner, resolving);
  return { ...expr, domain, key, value, body };
}

function resolveAssignment(
  left: Term,
  right: Term,
  withs: () => readonly With[],
  loc: Location,
  scope: Scope,
  resolving: Resolving,
): Expr {
  const value = resolveTerm(right, scope, resolving);
  const modifiers = withs();
  declarePattern(left, "assigned", scope, resolving);
  return {
    ...callExpr("eq", [resolveTerm(left, scope, resolving, true), value], loc, modifiers),
    isAssignment: true,
  };
}

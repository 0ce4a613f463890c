/** Declares variables: the patterns of `:=` and `some … in`, `some x`, `every`, and the arguments of functions. */

import type { Body, Location, RefTerm, Term, VarTerm } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import { valueName } from "../syntax/print.ts";
import type { Occurrence, ResolveContext, Scope } from "./scope.ts";

export function declare(term: VarTerm, occurrence: Occurrence, scope: Scope, context: ResolveContext): void {
  const { name } = term;
  if (name.startsWith("$")) return;
  const known = scope.declarations.get(name);
  if (known !== undefined) {
    const message =
      known.occurrence === "argument" ? `arg ${name} redeclared` : `var ${name} ${verbs[known.occurrence]} above`;
    context.diagnostics.report("rego_compile_error", term.loc, message);
    return;
  }
  if (occurrence === "assigned" && scope.parent?.declarations.get(name)?.occurrence === "argument") {
    context.diagnostics.report("rego_compile_error", term.loc, `arg ${name} redeclared`);
    return;
  }
  scope.declarations.set(name, { local: context.names.fresh(name), occurrence, uses: 0, loc: term.loc });
}

const verbs = { assigned: "assigned", declared: "declared", member: "declared", seen: "referenced" };

/** A name may stand twice in one pattern; `fresh` collects those of this statement. */
export function declarePattern(
  term: Term,
  occurrence: Occurrence,
  scope: Scope,
  context: ResolveContext,
  fresh: Set<string> = new Set(),
): void {
  /** Inside the pattern of `some … in`, constants are compared. */
  const inner = (part: Term): void => {
    if (part.kind !== "scalar" || occurrence === "assigned") declarePattern(part, occurrence, scope, context, fresh);
  };
  switch (term.kind) {
    case "var":
      if (!fresh.has(term.name) || occurrence === "assigned") declare(term, occurrence, scope, context);
      fresh.add(term.name);
      return;
    case "array":
      term.items.forEach(inner);
      return;
    case "object":
      for (const [key, value] of term.entries) {
        if (occurrence === "member") inner(key);
        inner(value);
      }
      return;
    default:
      if (occurrence !== "assigned") return;
      if (isRootDocument(term)) declare(term.parts[0], occurrence, scope, context);
      else context.diagnostics.report("rego_compile_error", term.loc, `cannot assign to ${valueName(term)}`);
  }
}

/** `loc` is the place of the rule. */
export function declareArguments(term: Term, loc: Location, scope: Scope, context: ResolveContext): void {
  switch (term.kind) {
    case "var":
      if (!term.name.startsWith("$") && !scope.declarations.has(term.name)) {
        const local = context.names.fresh(term.name);
        scope.declarations.set(term.name, { local, occurrence: "argument", uses: -1, loc: term.loc });
      }
      return;
    case "ref":
      if (isRootDocument(term)) {
        const message = `args must not shadow ${term.parts[0].name} (use a different variable name)`;
        context.diagnostics.report("rego_compile_error", loc, message);
      }
      return;
    case "array":
      for (const item of term.items) declareArguments(item, loc, scope, context);
      return;
    case "object":
      for (const [, value] of term.entries) declareArguments(value, loc, scope, context);
      return;
    case "call":
      context.diagnostics.report("rego_compile_error", term.loc, "rule arguments cannot contain calls");
      return;
    default:
      return;
  }
}

/** `input` or `data` as a whole; v0 lets variables have these names. */
export function isRootDocument(term: Term): term is RefTerm & { readonly parts: readonly [VarTerm] } {
  const [head] = term.kind === "ref" && term.parts.length === 1 ? term.parts : [];
  return head?.kind === "var" && (head.name === "input" || head.name === "data");
}

const refusals = {
  not: "cannot assign vars inside negated expression",
  and: "cannot assign vars inside implicit and operand",
  or: "cannot assign vars inside implicit or operand",
};

/** A bare operand gives nothing to the body around it, so that an assignment in it could only be a mistake. */
export function refusesAssignment(
  body: Body,
  operator: keyof typeof refusals,
  { diagnostics }: ResolveContext,
): boolean {
  const found = body.filter((expr) => expr.kind === "expr-call" && operatorName(expr.operator) === "assign");
  for (const { loc } of found) diagnostics.report("rego_compile_error", loc, refusals[operator]);
  return found.length > 0;
}

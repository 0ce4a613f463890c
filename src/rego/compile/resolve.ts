/**
 * Names: what each word in a rule stands for. Declared variables (`:=`, `some`, `every`, arguments) get fresh names, words
 * that are imports or rules of the package become refs, and the rest are variables of the enclosing body. `some` and
 * `:=` are gone afterwards.
 */
import { builtinNames } from "../builtins/signatures.ts";
import { type Body, type Head, type RefTerm, type Rule, refOf, type Term } from "../syntax/ast.ts";
import { declareArguments } from "./declare.ts";
import { resolveBody } from "./resolve-bodies.ts";
import { resolveTerm } from "./resolve-terms.ts";
import { declaredNames, type ResolveContext, type Resolving, Scope } from "./scope.ts";
import { reportUnused, reportUnusedArguments } from "./unused.ts";
import { eachVar, varsOfExpr } from "./variables.ts";

export function resolveRule(rule: Rule, context: ResolveContext): Rule {
  const argumentScope = new Scope(undefined, new Set());
  for (const arg of rule.head.args ?? []) declareArguments(arg, rule.loc, argumentScope, context);
  const resolved = resolveBranch(rule, argumentScope, context);
  if (context.strict) reportUnusedArguments(rule, argumentScope, context);
  return resolved;
}

/** Resolves a query; the answer's variables keep the author's names, except those that a nested body declares. */
export function resolveQuery(
  body: Body,
  context: ResolveContext,
): { readonly body: Body; readonly declared: ReadonlyMap<string, string> } {
  const resolving = resolvingIn(context);
  const scope = new Scope(undefined, declaredNames(body));
  const resolved = resolveBody(body, scope, resolving);
  reportUnused(scope, resolving);
  const declared = new Map<string, string>();
  for (const [name, declaration] of scope.declarations) {
    if (declaration.occurrence !== "seen") declared.set(name, declaration.local);
  }
  return { body: resolved, declared };
}

function resolvingIn(context: ResolveContext): Resolving {
  const { length: errorsBefore } = context.diagnostics.errors;
  return { ...context, hasUnused: false, errorsBefore, headScope: undefined };
}

function resolveBranch(rule: Rule, argumentScope: Scope, context: ResolveContext): Rule {
  const resolving = resolvingIn(context);
  const scope = new Scope(argumentScope, declaredNames(rule.body));
  hideBuiltins(rule, scope, resolving);
  const body = resolveBody(rule.body, scope, resolving);
  const ref = resolveHeadRef(rule.head.ref, scope, resolving);
  const hasUnusedInBody = resolving.hasUnused;
  const head = { ...resolveHead(rule.head, scope, resolving), ref };
  resolving.hasUnused = hasUnusedInBody;
  reportUnused(scope, resolving);
  const elseRule = rule.elseRule === undefined ? undefined : resolveBranch(rule.elseRule, argumentScope, context);
  return { ...rule, head, body, elseRule };
}

/** A variable may have the name of a built-in; it gets another one, so that nothing takes it for the function. */
function hideBuiltins({ body, head }: Rule, scope: Scope, { globals, names }: ResolveContext): void {
  const mentioned = new Set<string>();
  const replaced = new Set<string>();
  for (const expr of body) {
    for (const name of varsOfExpr({ ...expr, withs: [] })) if (builtinNames.has(name)) mentioned.add(name);
    for (const { target, value } of expr.withs) {
      for (const term of [target, value]) eachVar(term, (name) => replaced.add(name));
    }
  }
  for (const part of head.ref.parts.slice(1)) {
    // A variable alone stays in the head, the rest belongs to the body.
    if (part.kind !== "var") eachVar(part, (name) => builtinNames.has(name) && mentioned.add(name));
  }
  const [first] = body;
  if (first === undefined) return;
  for (const name of mentioned) {
    if (globals.has(name) || scope.hidden.has(name) || replaced.has(name) || scope.knows(name)) continue;
    scope.declarations.set(name, { local: names.fresh(name), occurrence: "seen", uses: 0, loc: first.loc });
  }
}

/** What is computed in the ref of a head is computed in the body, and so follows the rules of the body. */
function resolveHeadRef(ref: RefTerm, scope: Scope, resolving: Resolving): RefTerm {
  const [name, ...rest] = ref.parts;
  if (name === undefined) return ref;
  return refOf([name, ...rest.map((part) => resolveTerm(part, scope, resolving))], ref.loc);
}

function resolveHead(head: Head, scope: Scope, resolving: Resolving): Head {
  const resolve = (term: Term): Term => resolveTerm(term, scope, resolving);
  resolving.headScope = scope;
  const resolved = {
    ...head,
    args: head.args?.map(resolve),
    key: head.key === undefined ? undefined : resolve(head.key),
    value: head.value === undefined ? undefined : resolve(head.value),
  };
  resolving.headScope = undefined;
  return resolved;
}

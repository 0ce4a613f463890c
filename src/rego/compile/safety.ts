/**
 * Safety: every variable must get its values from somewhere, and expressions are put into an order in which each one
 * finds its inputs bound. The order is OPA's: the first expression (in source order) that can run, runs.
 */
import type { Body, Expr, Location, Rule, Term } from "../syntax/ast.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Names } from "./names.ts";
import { type Arity, neededVars, outputsOf } from "./outputs.ts";
import { eachVar, varsOfBody, varsOfClosures } from "./variables.ts";

export interface SafetyContext {
  readonly arity: Arity;
  readonly diagnostics: Diagnostics;
  readonly names: Names;
  /** Variables of the rule that were reported: each one is, once. */
  readonly reported?: Set<string>;
}

export function orderRule(rule: Rule, given: SafetyContext): Rule {
  const context = { ...given, reported: new Set<string>() };
  const safe = new Set<string>();
  for (const arg of rule.head.args ?? []) eachVar(arg, (name) => safe.add(name));
  const body = orderBody(rule.body, safe, context);
  const bodyVars = varsOfBody(body);
  const checkHead = (term: Term | undefined): void => {
    if (term === undefined) return;
    eachVar(term, (name) => {
      if (name === "input" || name === "data" || safe.has(name) || bodyVars.has(name)) return;
      reportUnsafe(name, term.loc, context);
    });
  };
  for (const part of rule.head.ref.parts.slice(1)) checkHead(part);
  checkHead(rule.head.key);
  checkHead(rule.head.value);
  const elseRule = rule.elseRule === undefined ? undefined : orderRule(rule.elseRule, given);
  return { ...rule, body, elseRule };
}

/** The body in an order that can run; what cannot is reported. `globals` are bound from outside. */
export function orderBody(body: Body, globals: ReadonlySet<string>, context: SafetyContext): Body {
  const { arity } = context;
  const varsByExpr = new Map(body.map((expr) => [expr, neededVars(expr, arity)]));
  const bodyVars = new Set<string>();
  for (const names of varsByExpr.values()) for (const name of names) bodyVars.add(name);
  const safe = new Set<string>();
  for (const name of bodyVars) if (globals.has(name)) safe.add(name);
  const pending = new Map<Expr, Set<string>>();
  for (const [expr, names] of varsByExpr) {
    const open = new Set<string>();
    for (const name of names) if (!safe.has(name)) open.add(name);
    pending.set(expr, open);
  }
  const closures = new Map<Expr, ReadonlySet<string>>();
  for (const expr of body) {
    const shared = new Set<string>();
    for (const name of varsOfClosures(expr)) if (bodyVars.has(name) && !globals.has(name)) shared.add(name);
    if (shared.size > 0) closures.set(expr, shared);
  }
  const ordered: Expr[] = [];
  for (let progress = true; progress && pending.size > 0; ) {
    progress = false;
    for (const expr of body) {
      if (!pending.has(expr)) continue;
      const outputs = outputsOf(expr, safe, arity);
      const open = closures.get(expr) ?? empty;
      if (open.size > 0) {
        if (sameNames(open, outputs)) continue;
        // As in OPA, only what the bodies inside need is looked at from here on.
        pending.set(expr, new Set(open));
      }
      const needed = pending.get(expr) ?? new Set();
      for (const name of needed) if (outputs.has(name) || safe.has(name)) needed.delete(name);
      if (needed.size > 0) continue;
      pending.delete(expr);
      ordered.push(expr);
      for (const name of outputs) safe.add(name);
      progress = true;
    }
  }
  reportPending(pending, context);
  const bound = new Set(globals);
  const result = ordered.map((expr) => {
    const inner = orderClosures(expr, bound, context);
    for (const name of varsByExpr.get(expr) ?? []) bound.add(name);
    return inner;
  });
  return pending.size > 0 ? body : result;
}

function sameNames(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && [...left].every((name) => right.has(name));
}

function reportPending(pending: ReadonlyMap<Expr, ReadonlySet<string>>, context: SafetyContext): void {
  const unsafe: { readonly name: string; readonly loc: Location }[] = [];
  for (const [expr, names] of pending) {
    for (const name of names) unsafe.push({ name, loc: expr.loc });
  }
  // A generated variable is unsafe only because something that the author wrote is.
  const isWritten = ({ name }: { readonly name: string }): boolean =>
    name.startsWith("$") || !context.names.isAnonymous(name);
  const written = unsafe.filter(isWritten);
  // What is assigned is unsafe only because what it is assigned from is.
  const assigned = assignedVars(pending.keys());
  const sources = written.filter(({ name }) => !assigned.has(name));
  const shown = sources.length > 0 ? sources : written.length > 0 ? written : unsafe.slice(0, 1);
  for (const { name, loc } of shown) reportUnsafe(name, loc, context);
}

function assignedVars(exprs: Iterable<Expr>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const expr of exprs) {
    const [target] = expr.kind === "expr-call" && expr.isAssignment ? expr.args : [];
    if (target !== undefined) eachVar(target, (name) => names.add(name));
  }
  return names;
}

function reportUnsafe(name: string, loc: Location, context: SafetyContext): void {
  if (!name.startsWith("$")) {
    if (context.reported?.has(name)) return;
    context.reported?.add(name);
  }
  const isGenerated = context.names.isAnonymous(name) && !name.startsWith("$");
  const { errors } = context.diagnostics;
  if (isGenerated && errors.some((error) => error.code === "rego_unsafe_var_error")) return;
  const subject = isGenerated ? `expression ${loc.text}` : `var ${context.names.sourceOf(name)}`;
  context.diagnostics.report("rego_unsafe_var_error", loc, `${subject} is unsafe`);
}

/** Nothing is inside it. */
const isLeaf = ({ kind }: Term): boolean => kind === "scalar" || kind === "var";

/** Orders the bodies inside an expression, which see everything that is bound before it. */
function orderClosures(expr: Expr, bound: ReadonlySet<string>, context: SafetyContext): Expr {
  const inBody = (body: Body, extra: readonly Term[] = []): Body => {
    const globals = new Set(bound);
    for (const term of extra) eachVar(term, (name) => globals.add(name));
    return orderBody(body, globals, context);
  };
  const inTerm = (term: Term): Term => {
    switch (term.kind) {
      case "array-comprehension":
      case "set-comprehension": {
        const body = inBody(term.body);
        checkComprehensionHead([term.head], body, bound, context);
        return { ...term, body };
      }
      case "object-comprehension": {
        const body = inBody(term.body);
        checkComprehensionHead([term.key, term.value], body, bound, context);
        return { ...term, body };
      }
      case "ref":
        return term.parts.every(isLeaf) ? term : { ...term, parts: term.parts.map(inTerm) };
      case "array":
      case "set":
        return term.items.every(isLeaf) ? term : { ...term, items: term.items.map(inTerm) };
      case "object":
        return { ...term, entries: term.entries.map(([key, value]) => [inTerm(key), inTerm(value)]) };
      default:
        return term;
    }
  };
  const withs = expr.withs.map((modifier) => ({ ...modifier, value: inTerm(modifier.value) }));
  switch (expr.kind) {
    case "expr-term":
      return { ...expr, withs, term: inTerm(expr.term) };
    case "expr-call":
      return { ...expr, withs, args: expr.args.map(inTerm) };
    case "expr-every": {
      const own = expr.key === undefined ? [expr.value] : [expr.key, expr.value];
      return { ...expr, withs, body: inBody(expr.body, own) };
    }
    case "expr-not":
      return { ...expr, withs, body: inBody(expr.body) };
    case "expr-and":
    case "expr-or":
      return { ...expr, withs, left: inBody(expr.left), right: inBody(expr.right) };
    default:
      return expr;
  }
}

function checkComprehensionHead(
  terms: readonly Term[],
  body: Body,
  bound: ReadonlySet<string>,
  context: SafetyContext,
): void {
  const bodyVars = varsOfBody(body);
  for (const term of terms) {
    eachVar(term, (name) => {
      if (name === "input" || name === "data" || bound.has(name) || bodyVars.has(name)) return;
      reportUnsafe(name, term.loc, context);
    });
  }
}

const empty: ReadonlySet<string> = new Set();

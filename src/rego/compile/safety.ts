/**
 * Safety: every variable must get its values from somewhere, and expressions are put into an order in which each one
 * finds its inputs bound. The order is OPA's: the first expression (in source order) that can run, runs.
 */
import type { Body, Expr, Location, Rule, Term } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Names } from "./names.ts";
import { eachVar, varsOfBody, varsOfClosures, varsOfExpr } from "./variables.ts";

/** How many inputs a function has; undefined if there is no such function. */
export type Arity = (operator: Expr & { readonly kind: "expr-call" }) => number | undefined;

export interface SafetyContext {
  readonly arity: Arity;
  readonly diagnostics: Diagnostics;
  readonly names: Names;
}

export function orderRule(rule: Rule, context: SafetyContext): Rule {
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
  const elseRule = rule.elseRule === undefined ? undefined : orderRule(rule.elseRule, context);
  return { ...rule, body, elseRule };
}

/** The body in an order that can run; what cannot is reported. `globals` are bound from outside. */
export function orderBody(body: Body, globals: ReadonlySet<string>, context: SafetyContext): Body {
  const bodyVars = varsOfBody(body);
  const safe = new Set<string>();
  for (const name of bodyVars) if (globals.has(name)) safe.add(name);
  const pending = new Map<Expr, Set<string>>();
  for (const expr of body) pending.set(expr, varsOfExpr(expr));
  const closures = new Map<Expr, ReadonlySet<string>>();
  for (const expr of body) {
    const shared = new Set<string>();
    for (const name of varsOfClosures(expr)) if (bodyVars.has(name) && !globals.has(name)) shared.add(name);
    closures.set(expr, shared);
  }
  const unsafeInClosures = new Map<Expr, Set<string>>();
  const ordered: Expr[] = [];
  for (let progress = true; progress && pending.size > 0; ) {
    progress = false;
    for (const expr of body) {
      const needed = pending.get(expr);
      if (needed === undefined) continue;
      const outputs = outputsOf(expr, safe, context.arity);
      const open = [...(closures.get(expr) ?? [])].filter((name) => !safe.has(name));
      if (open.length > 0) {
        unsafeInClosures.set(expr, new Set(open));
        continue;
      }
      unsafeInClosures.delete(expr);
      for (const name of needed) if (outputs.has(name) || safe.has(name)) needed.delete(name);
      if (needed.size > 0) continue;
      pending.delete(expr);
      ordered.push(expr);
      for (const name of outputs) safe.add(name);
      progress = true;
    }
  }
  const unsafe: { readonly name: string; readonly loc: Location }[] = [];
  for (const [expr, needed] of pending) {
    const names = new Set([...needed].filter((name) => !safe.has(name)));
    for (const name of unsafeInClosures.get(expr) ?? []) names.add(name);
    for (const name of names) unsafe.push({ name, loc: locationOfVar(expr, name) ?? expr.loc });
  }
  // A generated variable is unsafe only because something that the author wrote is.
  const isWritten = ({ name }: { readonly name: string }): boolean =>
    name.startsWith("$") || !context.names.isAnonymous(name);
  const shown = unsafe.some(isWritten) ? unsafe.filter(isWritten) : unsafe.slice(0, 1);
  for (const { name, loc } of shown) reportUnsafe(name, loc, context);
  if (pending.size > 0) return body;
  const bound = new Set(globals);
  return ordered.map((expr) => {
    const inner = orderClosures(expr, bound, context);
    for (const name of varsOfExpr(expr)) bound.add(name);
    return inner;
  });
}

function reportUnsafe(name: string, loc: Location, context: SafetyContext): void {
  const isGenerated = context.names.isAnonymous(name) && !name.startsWith("$");
  const { errors } = context.diagnostics;
  if (isGenerated && errors.some((error) => error.code === "rego_unsafe_var_error")) return;
  const subject = isGenerated ? `expression ${loc.text}` : `var ${context.names.sourceOf(name)}`;
  context.diagnostics.report("rego_unsafe_var_error", loc, `${subject} is unsafe`);
}

function locationOfVar(expr: Expr, name: string): Location | undefined {
  let found: Location | undefined;
  const visit = (term: Term): void => {
    if (found !== undefined) return;
    if (term.kind === "var" && term.name === name) found = term.loc;
    else if (term.kind === "ref") term.parts.forEach(visit);
    else if (term.kind === "array" || term.kind === "set") term.items.forEach(visit);
    else if (term.kind === "object") {
      for (const [key, value] of term.entries) {
        visit(key);
        visit(value);
      }
    }
  };
  if (expr.kind === "expr-term") visit(expr.term);
  if (expr.kind === "expr-call") expr.args.forEach(visit);
  return found;
}

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
        return { ...term, parts: term.parts.map(inTerm) };
      case "array":
      case "set":
        return { ...term, items: term.items.map(inTerm) };
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

/** The variables that an expression binds when those in `safe` are bound before it. */
export function outputsOf(expr: Expr, safe: ReadonlySet<string>, arity: Arity): ReadonlySet<string> {
  if (expr.negated) return empty;
  for (const modifier of expr.withs) {
    let isOpen = false;
    eachVar(modifier.value, (name) => {
      if (name !== "input" && name !== "data" && !safe.has(name)) isOpen = true;
    });
    if (isOpen) return empty;
  }
  const outputs = new Set<string>();
  switch (expr.kind) {
    case "expr-term":
      refOutputs(expr.term, safe, outputs);
      return outputs;
    case "expr-every":
      refOutputs(expr.domain, safe, outputs);
      return outputs;
    case "expr-call":
      return operatorName(expr.operator) === "eq" ? equalityOutputs(expr.args, safe) : callOutputs(expr, safe, arity);
    default:
      return empty;
  }
}

const empty: ReadonlySet<string> = new Set();

function callOutputs(
  expr: Expr & { readonly kind: "expr-call" },
  safe: ReadonlySet<string>,
  arity: Arity,
): ReadonlySet<string> {
  const outputs = new Set<string>();
  for (const arg of expr.args) refOutputs(arg, safe, outputs);
  const inputs = arity(expr);
  if (inputs === undefined || inputs < 0 || expr.args.length <= inputs) return outputs;
  for (const arg of expr.args.slice(0, inputs)) {
    let isOpen = false;
    eachVar(arg, (name) => {
      if (name !== "input" && name !== "data" && !safe.has(name) && !outputs.has(name)) isOpen = true;
    });
    if (isOpen) return empty;
  }
  for (const arg of expr.args.slice(inputs)) patternVars(arg, outputs);
  return outputs;
}

/** Variables inside refs are found by iterating, if the ref's head is known. */
function refOutputs(term: Term, safe: ReadonlySet<string>, outputs: Set<string>): void {
  switch (term.kind) {
    case "ref": {
      const [head, ...rest] = term.parts;
      if (head?.kind !== "var" || !(head.name === "input" || head.name === "data" || safe.has(head.name))) return;
      for (const part of rest) {
        eachVar(part, (name) => {
          if (name !== "input" && name !== "data") outputs.add(name);
        });
        refOutputs(part, safe, outputs);
      }
      return;
    }
    case "array":
    case "set":
      for (const item of term.items) refOutputs(item, safe, outputs);
      return;
    case "object":
      for (const [key, value] of term.entries) {
        refOutputs(key, safe, outputs);
        refOutputs(value, safe, outputs);
      }
      return;
    default:
      return;
  }
}

/** Variables that unification can bind: not those in sets, object keys or refs. */
function patternVars(term: Term, names: Pick<Known, "add">): void {
  if (term.kind === "var") names.add(term.name);
  else if (term.kind === "array") for (const item of term.items) patternVars(item, names);
  else if (term.kind === "object") for (const [, value] of term.entries) patternVars(value, names);
}

function equalityOutputs(args: readonly Term[], safe: ReadonlySet<string>): ReadonlySet<string> {
  const [left, right] = args;
  if (left === undefined || right === undefined) return empty;
  const found = new Set<string>();
  refOutputs(left, safe, found);
  refOutputs(right, safe, found);
  const known: Known = {
    has: (name) => safe.has(name) || found.has(name),
    add: (name) => {
      if (!safe.has(name)) found.add(name);
    },
  };
  // What one pair of terms makes known may be what another one waits for.
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    unify(left, right, known);
  }
  return new Set([...found].filter((name) => !safe.has(name)));
}

/** Names that are bound; a view of two sets, so that long bodies are not copied for every expression. */
interface Known {
  has(name: string): boolean;
  add(name: string): void;
}

function unify(left: Term, right: Term, known: Known): void {
  if (left.kind === "array" && right.kind === "array") {
    if (left.items.length !== right.items.length) return;
    left.items.forEach((item, index) => {
      const other = right.items[index];
      if (other !== undefined) unify(item, other, known);
    });
    return;
  }
  if (left.kind === "object" && right.kind === "object") {
    for (const [key, value] of left.entries) {
      const other = right.entries.find(([candidate]) => sameScalar(key, candidate));
      if (other !== undefined) unify(value, other[1], known);
    }
    return;
  }
  if (isKnown(right, known)) patternVars(left, known);
  if (isKnown(left, known)) patternVars(right, known);
}

function sameScalar(left: Term, right: Term): boolean {
  if (left.kind === "var" && right.kind === "var") return left.name === right.name;
  return left.kind === "scalar" && right.kind === "scalar" && left.value === right.value;
}

/** All variables of the term are bound (a ref's own variables come from iterating over it). */
function isKnown(term: Term, known: Pick<Known, "has">): boolean {
  if (term.kind === "ref") {
    const [head] = term.parts;
    return head?.kind === "var" && (head.name === "input" || head.name === "data" || known.has(head.name));
  }
  let isClosed = true;
  eachVar(term, (name) => {
    if (name !== "input" && name !== "data" && !known.has(name)) isClosed = false;
  });
  return isClosed;
}

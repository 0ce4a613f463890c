/** Which variables an expression needs, and which it binds when others are bound before it. */
import { type Body, type Expr, operatorName, type Term } from "../syntax/ast.ts";
import { eachVar, varsOfExpr } from "./variables.ts";

/** How many inputs a function has; undefined if there is no such function, -1 if it takes any number. */
export type Arity = (operator: Expr & { readonly kind: "expr-call" }) => number | undefined;

type Names = ReadonlySet<string>;

const empty: Names = new Set();

/** Variables that have to be bound when the expression is through, also those that bare operands leave open. */
export function neededVars(expr: Expr, arity: Arity): Set<string> {
  const names = varsOfExpr(expr);
  const add = (body: Body, isExplicit: boolean): void => {
    if (!isExplicit) for (const name of openVars(body, arity)) names.add(name);
  };
  if (expr.kind === "expr-not") add(expr.body, expr.explicit);
  if (expr.kind === "expr-and" || expr.kind === "expr-or") {
    add(expr.left, expr.explicitLeft);
    add(expr.right, expr.explicitRight);
  }
  return names;
}

/** Of a bare operand (`not x`, `x and y`): what nothing in it binds for something else in it. */
function openVars(body: Body, arity: Arity): Names {
  const uses = new Map<string, number>();
  for (const expr of body) for (const name of varsOfExpr(expr)) uses.set(name, (uses.get(name) ?? 0) + 1);
  if (body.length <= 1) return new Set(uses.keys());
  const equalities = body.filter(isEquality);
  const safe = new Set(uses.keys());
  for (const expr of equalities) for (const arg of expr.args) if (arg.kind === "var") safe.delete(arg.name);
  const bound = new Set<string>();
  for (let size = -1; size !== bound.size; ) {
    size = bound.size;
    for (const expr of equalities) {
      for (const name of equalityOutputs(expr, safe)) {
        bound.add(name);
        safe.add(name);
      }
    }
  }
  for (const expr of body) {
    if (expr.kind !== "expr-call" || operatorName(expr.operator) === "eq") continue;
    const inputs = arity(expr) ?? -1;
    if (inputs >= 0) for (const arg of expr.args.slice(inputs)) eachPatternVar(arg, (name) => bound.add(name));
  }
  return new Set([...uses].filter(([name, count]) => !bound.has(name) || count === 1).map(([name]) => name));
}

type CallExpr = Expr & { readonly kind: "expr-call" };

function isEquality(expr: Expr): expr is CallExpr {
  return expr.kind === "expr-call" && operatorName(expr.operator) === "eq" && expr.args.length === 2;
}

/** The variables that an expression binds when those in `safe` are bound before it. */
export function outputsOf(expr: Expr, safe: Names, arity: Arity): Names {
  if (expr.negated) return empty;
  for (const modifier of expr.withs) {
    let isOpen = false;
    eachVar(modifier.value, (name) => {
      if (!isRoot(name) && !safe.has(name)) isOpen = true;
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
      return isEquality(expr) ? equalityOutputs(expr, safe) : callOutputs(expr, safe, arity);
    default:
      return empty;
  }
}

const isRoot = (name: string): boolean => name === "input" || name === "data";

function callOutputs(expr: CallExpr, safe: Names, arity: Arity): Names {
  const inputs = arity(expr);
  if (inputs === undefined) return empty;
  const outputs = new Set<string>();
  for (const arg of expr.args) refOutputs(arg, safe, outputs);
  if (inputs < 0 || expr.args.length <= inputs) return outputs;
  for (const arg of expr.args.slice(0, inputs)) {
    let isOpen = false;
    eachPatternVar(arg, (name) => {
      if (!safe.has(name) && !outputs.has(name)) isOpen = true;
    });
    if (isOpen) return empty;
  }
  for (const arg of expr.args.slice(inputs)) eachPatternVar(arg, (name) => outputs.add(name));
  return outputs;
}

/** Variables inside refs are found by iterating, if the ref's head is known. */
function refOutputs(term: Term, safe: Names, outputs: Set<string>): void {
  switch (term.kind) {
    case "ref": {
      const [head, ...rest] = term.parts;
      if (!isRefSafe(term, safe) || head === undefined) return;
      for (const part of rest) {
        eachPatternVar(part, (name) => outputs.add(name), true);
        refOutputs(part, safe, outputs);
      }
      return;
    }
    case "array":
    case "set":
      for (const item of term.items) refOutputs(item, safe, outputs);
      return;
    case "object":
      for (const part of term.entries.flat()) refOutputs(part, safe, outputs);
      return;
    case "call":
      for (const arg of term.args) refOutputs(arg, safe, outputs);
      return;
    default:
      return;
  }
}

function isRefSafe(ref: Term & { readonly kind: "ref" }, safe: Names): boolean {
  const [head] = ref.parts;
  return head !== undefined && isClosed(head, (name) => isRoot(name) || safe.has(name));
}

/** All variables of the term are known; bodies inside it do not count. */
function isClosed(term: Term, isKnown: (name: string) => boolean): boolean {
  let closed = true;
  eachVar(term, (name) => {
    if (!isKnown(name)) closed = false;
  });
  return closed;
}

/** Variables that matching can bind: not those in sets (unless asked for), object keys, heads of refs and bodies. */
function eachPatternVar(term: Term, visit: (name: string) => void, withSets = false): void {
  switch (term.kind) {
    case "var":
      if (!isRoot(term.name)) visit(term.name);
      return;
    case "ref":
      for (const part of term.parts.slice(1)) eachPatternVar(part, visit, withSets);
      return;
    case "array":
      for (const item of term.items) eachPatternVar(item, visit, withSets);
      return;
    case "set":
      if (withSets) for (const item of term.items) eachPatternVar(item, visit, withSets);
      return;
    case "object":
      for (const [key, value] of term.entries) {
        if (withSets) eachPatternVar(key, visit, withSets);
        eachPatternVar(value, visit, withSets);
      }
      return;
    case "call":
      for (const arg of term.args) eachPatternVar(arg, visit, withSets);
      return;
    default:
      return;
  }
}

function equalityOutputs(expr: CallExpr, safe: Names): Names {
  const [left, right] = expr.args;
  if (left === undefined || right === undefined) return empty;
  const basis = new Set<string>();
  refOutputs(left, safe, basis);
  refOutputs(right, safe, basis);
  const found = new Set(basis);
  const hidden = new Set<string>();
  // What `:=` assigns cannot make its right side known.
  if (expr.isAssignment === true) eachVar(left, (name) => hidden.add(name));
  const unifier = new Unifier((name) => !hidden.has(name) && (isRoot(name) || safe.has(name) || basis.has(name)));
  unifier.unify(left, right);
  for (const name of hidden) found.delete(name);
  for (const name of unifier.bound) found.add(name);
  return new Set([...found].filter((name) => !safe.has(name)));
}

/** Follows which variables of two terms become known when the terms are unified. */
class Unifier {
  readonly bound = new Set<string>();
  readonly #isGiven: (name: string) => boolean;
  /** Variables that become known once all those that they wait for are. */
  readonly #waiting = new Map<string, Set<string>>();

  constructor(isGiven: (name: string) => boolean) {
    this.#isGiven = isGiven;
  }

  unify(left: Term, right: Term): void {
    if (left.kind === "var") this.#variable(left.name, right);
    else if (right.kind === "var") this.#variable(right.name, left);
    else if (left.kind === "array" && right.kind === "array") {
      if (left.items.length !== right.items.length) return;
      left.items.forEach((item, index) => {
        const other = right.items[index];
        if (other !== undefined) this.unify(item, other);
      });
    } else if (left.kind === "object" && right.kind === "object") {
      if (left.entries.length !== right.entries.length) return;
      for (const [key, value] of left.entries) {
        const other = right.entries.find(([candidate]) => sameKey(key, candidate));
        if (other !== undefined) this.unify(value, other[1]);
      }
    } else if (this.#gives(left, right, true)) this.#markAll(right);
    else if (this.#gives(right, left, false)) this.#markAll(left);
  }

  /** A term that has a value without the variables of the pattern; which comprehensions count depends on their side. */
  #gives(term: Term, pattern: Term, isLeft: boolean): boolean {
    if (pattern.kind !== "array" && pattern.kind !== "object") return false;
    if (term.kind === "ref" || term.kind === "call") return this.#isSettled(term);
    if (isLeft) return term.kind === `${pattern.kind}-comprehension`;
    return pattern.kind === "array" && term.kind.endsWith("-comprehension");
  }

  #variable(name: string, other: Term): void {
    switch (other.kind) {
      case "var":
        if (this.#isKnown(other.name)) this.#mark(name);
        else if (this.#isKnown(name)) this.#mark(other.name);
        else {
          this.#wait(name, other.name);
          this.#wait(other.name, name);
        }
        return;
      case "ref":
      case "call":
        if (this.#isSettled(other)) this.#mark(name);
        return;
      case "array":
      case "object": {
        if (this.#isKnown(name)) {
          this.#markAll(other);
          return;
        }
        const open = new Set<string>();
        eachMatchVar(other, (each) => {
          if (!this.#isKnown(each)) open.add(each);
        });
        if (open.size === 0) this.#mark(name);
        for (const each of open) this.#wait(name, each);
        return;
      }
      default:
        this.#mark(name);
    }
  }

  #isSettled(term: Term & { readonly kind: "ref" | "call" }): boolean {
    const subject = term.kind === "ref" ? term.parts[0] : term;
    return subject !== undefined && isClosed(subject, this.#isGiven);
  }

  #isKnown(name: string): boolean {
    return this.#isGiven(name) || this.bound.has(name);
  }

  #wait(name: string, other: string): void {
    const known = this.#waiting.get(name);
    if (known === undefined) this.#waiting.set(name, new Set([other]));
    else known.add(other);
  }

  #markAll(term: Term): void {
    eachMatchVar(term, (name) => this.#mark(name));
  }

  #mark(name: string): void {
    this.bound.add(name);
    const others = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const other of others) if (!this.bound.has(other)) this.#mark(other);
    for (const [waiting, missing] of this.#waiting) {
      if (missing.delete(name) && missing.size === 0) this.#mark(waiting);
    }
  }
}

/** As `eachPatternVar`, with the members of sets, but without object keys. */
export function eachMatchVar(term: Term, visit: (name: string) => void): void {
  if (term.kind === "var") {
    if (!isRoot(term.name)) visit(term.name);
  } else if (term.kind === "ref") for (const part of term.parts.slice(1)) eachMatchVar(part, visit);
  else if (term.kind === "call") for (const arg of term.args) eachMatchVar(arg, visit);
  else if (term.kind === "array" || term.kind === "set") for (const item of term.items) eachMatchVar(item, visit);
  else if (term.kind === "object") for (const [, value] of term.entries) eachMatchVar(value, visit);
}

function sameKey(left: Term, right: Term): boolean {
  if (left.kind === "var" && right.kind === "var") return left.name === right.name;
  return left.kind === "scalar" && right.kind === "scalar" && left.value === right.value;
}

/** Expressions in template strings may only use variables that get their values elsewhere in the body. */

import { constantValue } from "../evaluate/terms.ts";
import { type Body, type Expr, isExpr, type Module, type RefTerm, type Rule, type Term } from "../syntax/ast.ts";
import { rulePath } from "./build.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { isTrivial } from "./expand.ts";
import { packageKey } from "./globals.ts";
import type { Names } from "./names.ts";
import { once } from "./once.ts";
import { type Arity, outputsOf } from "./outputs.ts";
import { eachVar, eachVarTerm } from "./variables.ts";

export interface TemplateContext {
  readonly arity: Arity;
  readonly names: Names;
  readonly diagnostics: Diagnostics;
  /** The ref is to a rule that always has a value. */
  isDefined(ref: RefTerm): boolean;
}

export function checkTemplates(rule: Rule, context: TemplateContext): void {
  for (let branch: Rule | undefined = rule; branch !== undefined; branch = branch.elseRule) {
    const { ref, args = [], key, value } = branch.head;
    const check = new TemplateCheck(context);
    const safe = check.body(branch.body, () => varsOf(args));
    for (const term of [...ref.parts.slice(1), ...args, key, value]) if (term !== undefined) check.term(term, safe);
  }
}

export function checkTemplateBody(body: Body, context: TemplateContext): void {
  new TemplateCheck(context).body(body, () => new Set());
}

/** Variables that are bound; found out only where a template asks for them. */
type Safe = () => ReadonlySet<string>;

function varsOf(terms: readonly Term[]): Set<string> {
  const names = new Set<string>();
  for (const term of terms) eachVar(term, (name) => names.add(name));
  return names;
}

class TemplateCheck {
  readonly #context: TemplateContext;

  constructor(context: TemplateContext) {
    this.#context = context;
  }

  /** What is bound after the body. */
  body(body: Body, given: Safe): Safe {
    const safe = once(() => {
      const names = new Set(given());
      for (const expr of body) for (const name of outputsOf(expr, names, this.#context.arity)) names.add(name);
      return names;
    });
    for (const expr of body) this.#expr(expr, safe);
    return safe;
  }

  #expr(expr: Expr, safe: Safe): void {
    for (const modifier of expr.withs) this.term(modifier.value, safe);
    switch (expr.kind) {
      case "expr-term":
        this.term(expr.term, safe);
        return;
      case "expr-call":
        for (const arg of expr.args) this.term(arg, safe);
        return;
      case "expr-every": {
        this.term(expr.domain, safe);
        const own = expr.key === undefined ? [expr.value] : [expr.key, expr.value];
        this.body(expr.body, () => new Set([...safe(), ...varsOf(own)]));
        return;
      }
      case "expr-not":
        for (const inner of expr.body) this.#expr(inner, safe);
        return;
      case "expr-and":
      case "expr-or":
        for (const inner of [...expr.left, ...expr.right]) this.#expr(inner, safe);
        return;
      default:
        return;
    }
  }

  term(term: Term, safe: Safe): void {
    switch (term.kind) {
      case "ref":
        for (const part of term.parts) this.term(part, safe);
        return;
      case "array":
      case "set":
        for (const item of term.items) this.term(item, safe);
        return;
      case "object":
        for (const part of term.entries.flat()) this.term(part, safe);
        return;
      case "call":
        for (const arg of term.args) this.term(arg, safe);
        return;
      case "array-comprehension":
      case "set-comprehension":
        this.#heads([term.head], term.body, safe);
        return;
      case "object-comprehension":
        this.#heads([term.key, term.value], term.body, safe);
        return;
      case "template":
        for (const part of term.parts) if (isExpr(part)) this.#part(part, safe);
        return;
      default:
        return;
    }
  }

  /** As in OPA, a template that is the whole head sees the body's variables, one inside the head does not. */
  #heads(heads: readonly Term[], body: Body, safe: Safe): void {
    const inner = this.body(body, safe);
    for (const head of heads) this.term(head, head.kind === "template" ? inner : safe);
  }

  #part(part: Expr, safe: Safe): void {
    const { diagnostics, names, isDefined } = this.#context;
    for (const modifier of part.withs) this.term(modifier.value, safe);
    const terms = part.kind === "expr-term" ? [part.term] : part.kind === "expr-call" ? part.args : [];
    const [only] = part.kind === "expr-term" ? terms : [];
    if (only?.kind === "var" || (only?.kind === "ref" && isDefined(only))) return;
    const reported = new Set<string>();
    for (const term of terms) {
      eachVarTerm(term, ({ name, loc }) => {
        if (name === "input" || name === "data" || safe().has(name) || reported.has(name)) return;
        reported.add(name);
        diagnostics.report("rego_compile_error", loc, `var ${names.sourceOf(name)} is undeclared`);
      });
      this.term(term, safe);
    }
  }
}

/** Rules that always have a value: those with a default, sets, and a single one with a constant value and no body. */
export function definedDocuments(modules: readonly Module[]): (ref: RefTerm) => boolean {
  const groups = new Map<string, Rule[]>();
  for (const module of modules) {
    for (const rule of module.rules) {
      const path = rulePath(rule, module.packagePath);
      if (path.length - module.packagePath.length !== rule.head.ref.parts.length) continue;
      const key = packageKey(path);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [rule]);
      else group.push(rule);
    }
  }
  return (ref) => {
    const [head, ...parts] = ref.parts;
    if (head?.kind !== "var" || head.name !== "data") return false;
    const path = parts.map((part) => constantValue(part));
    if (!path.every((name) => typeof name === "string")) return false;
    const rules = groups.get(packageKey(path)) ?? [];
    const [first] = rules;
    if (first === undefined || first.head.args !== undefined) return false;
    if (rules.some(({ isDefault }) => isDefault) || (first.head.key !== undefined && first.head.value === undefined))
      return true;
    const { value } = first.head;
    return rules.length === 1 && isTrivial(first.body) && value !== undefined && constantValue(value) !== undefined;
  };
}

/**
 * Makes every call an expression of its own: `count(f(x)) > 1` becomes `f(x, a); count(a, b); b > 1`. Template strings
 * and `print` become calls of internal built-ins, and what has to be evaluated in heads moves into the body.
 */
import {
  type Body,
  builtinRef,
  callExpr,
  type Expr,
  type Head,
  isExpr,
  operatorName,
  type Rule,
  refOf,
  scalar,
  type Term,
  variable,
  type With,
} from "../syntax/ast.ts";
import type { NameSet } from "./definitions.ts";
import type { Names } from "./names.ts";
import { compareTerms } from "./term-order.ts";

export interface ExpandContext {
  readonly names: Names;
  /** Without it, calls of `print` vanish. */
  readonly keepsPrint: boolean;
  /** Names of built-ins and (as `data.pkg.f`) of functions. */
  readonly functions: NameSet;
  /** Names of rules and packages, as `data.pkg.r`. */
  readonly documents: NameSet;
}

export function expandRule(rule: Rule, context: ExpandContext): Rule {
  const expander = new Expander(context);
  const support: Expr[] = [];
  const head = expander.head(rule.head, support);
  const body = expander.body(isTrivial(rule.body) && support.length > 0 ? [] : rule.body);
  const elseRule = rule.elseRule === undefined ? undefined : expandRule(rule.elseRule, context);
  return { ...rule, head, body: [...body, ...support], elseRule };
}

export function expandBody(body: Body, context: ExpandContext): Body {
  return new Expander(context).body(body);
}

class Expander {
  readonly #context: ExpandContext;

  constructor(context: ExpandContext) {
    this.#context = context;
  }

  head(head: Head, support: Expr[]): Head {
    const [name, ...rest] = head.ref.parts;
    const parts = rest.map((part) => (part.kind === "scalar" ? part : this.#settle(part, support)));
    return {
      ...head,
      ref: refOf(name === undefined ? [] : [name, ...parts], head.ref.loc),
      args: head.args?.map((arg) => this.#settle(arg, support)),
      key: head.key === undefined ? undefined : this.#settle(head.key, support),
      value: head.value === undefined ? undefined : this.#settle(head.value, support),
    };
  }

  body(body: Body): Body {
    const result: Expr[] = [];
    for (const expr of body) result.push(...this.#expr(expr));
    return result;
  }

  /** A head term without calls, refs and comprehensions: what needs evaluation is bound in the body. */
  #settle(term: Term, support: Expr[]): Term {
    const expanded = this.#term(term, support, []);
    if (!needsEvaluation(expanded)) return expanded;
    return this.#bind(expanded, support, []);
  }

  #bind(term: Term, support: Expr[], withs: readonly With[]): Term {
    const local = variable(this.#context.names.fresh(), term.loc);
    support.push({ ...callExpr("eq", [local, term], term.loc, withs), generated: true });
    return local;
  }

  #expr(expr: Expr): readonly Expr[] {
    const support: Expr[] = [];
    // As in OPA, all calls in the values of `with` come before whatever else these values need.
    const expanded = expr.withs.map((modifier) => this.#with(modifier, support));
    const withs = expanded.map(
      (modifier): With =>
        needsEvaluation(modifier.value) ? { ...modifier, value: this.#bind(modifier.value, support, []) } : modifier,
    );
    switch (expr.kind) {
      case "expr-term":
        return [...this.#termExpr(expr, withs, support)];
      case "expr-call": {
        const name = operatorName(expr.operator);
        if (name === "print") return this.#print(expr, withs, support);
        const args = expr.args.map((arg) => this.#term(arg, support, withs));
        return [...support, { ...expr, withs, args }];
      }
      case "expr-every": {
        const domain = variable(this.#context.names.fresh(), expr.domain.loc);
        const value = this.#term(expr.domain, support, withs);
        support.push({ ...callExpr("eq", [domain, value], expr.domain.loc, withs), generated: true });
        return [...support, { ...expr, withs, domain, body: this.body(expr.body) }];
      }
      case "expr-not":
        return [...support, { ...expr, withs, body: this.body(expr.body) }];
      case "expr-and":
      case "expr-or":
        return [...support, { ...expr, withs, left: this.body(expr.left), right: this.body(expr.right) }];
      case "expr-some":
        return [];
    }
  }

  /** A function that replaces a function is named, not evaluated. */
  #with(modifier: With, support: Expr[]): With {
    const { functions } = this.#context;
    if (isFunctionName(modifier.target, functions) !== undefined) {
      // A built-in may also be replaced by a rule, which is then evaluated only if the built-in is called.
      const isBuiltin = operatorName(modifier.target)?.startsWith("data.") === false;
      const mock =
        isFunctionName(modifier.value, functions) ??
        (isBuiltin ? isFunctionName(modifier.value, this.#context.documents) : undefined);
      if (mock !== undefined) return { ...modifier, mock, value: scalar(true, modifier.loc) };
    }
    // Evaluated once, before the expression and outside its replacements.
    return { ...modifier, value: this.#term(modifier.value, support, []) };
  }

  #termExpr(expr: Expr & { readonly kind: "expr-term" }, withs: readonly With[], support: Expr[]): readonly Expr[] {
    const term = this.#term(expr.term, support, withs);
    return [...support, { ...expr, withs, term }];
  }

  #print(expr: Expr & { readonly kind: "expr-call" }, withs: readonly With[], support: Expr[]): readonly Expr[] {
    if (!this.#context.keepsPrint)
      return [
        { kind: "expr-term", term: scalar(true, expr.loc), loc: expr.loc, negated: false, withs: [], generated: true },
      ];
    const operands = expr.args.map((arg) => this.#captured(arg, []));
    const list = this.#term({ kind: "array", items: operands, loc: expr.loc }, support, withs);
    return [...support, { ...expr, withs, operator: builtinRef("internal.print", expr.loc), args: [list] }];
  }

  /** A set with the term's value, or an empty set if it is undefined. */
  #captured(term: Term, withs: readonly With[]): Term {
    const local = variable(this.#context.names.fresh(), term.loc);
    const capture: Expr = { ...callExpr("eq", [local, term], term.loc, withs), generated: true };
    return { kind: "set-comprehension", head: local, body: [capture], loc: term.loc };
  }

  #term(term: Term, support: Expr[], withs: readonly With[]): Term {
    switch (term.kind) {
      case "scalar":
      case "var":
        return term;
      case "call": {
        const args = term.args.map((arg) => this.#term(arg, support, withs));
        const output = variable(this.#context.names.fresh(), term.loc);
        support.push({
          kind: "expr-call",
          operator: term.operator,
          args: [...args, output],
          loc: term.loc,
          negated: false,
          withs,
          generated: true,
        });
        return output;
      }
      case "ref":
        return this.#ref(term, support, withs);
      case "array":
        return { ...term, items: term.items.map((item) => this.#term(item, support, withs)) };
      case "set": {
        // Members and fields are evaluated in their order as terms, not as they are written.
        const items = [...term.items].sort(compareTerms);
        return { ...term, items: items.map((item) => this.#term(item, support, withs)) };
      }
      case "object": {
        const entries = [...term.entries].sort(([left], [right]) => compareTerms(left, right));
        return {
          ...term,
          entries: entries.map(([key, value]) => [this.#term(key, support, withs), this.#term(value, support, withs)]),
        };
      }
      case "array-comprehension":
      case "set-comprehension": {
        const inner: Expr[] = [];
        const head = this.#settle(term.head, inner);
        return { ...term, head, body: this.#withSupport(term.body, inner) };
      }
      case "object-comprehension": {
        const inner: Expr[] = [];
        const key = this.#settle(term.key, inner);
        const value = this.#settle(term.value, inner);
        return { ...term, key, value, body: this.#withSupport(term.body, inner) };
      }
      case "template":
        return this.#template(term, support, withs);
    }
  }

  #withSupport(body: Body, support: readonly Expr[]): Body {
    return [...this.body(isTrivial(body) && support.length > 0 ? [] : body), ...support];
  }

  #ref(ref: Term & { readonly kind: "ref" }, support: Expr[], withs: readonly With[]): Term {
    const [head, ...rest] = ref.parts;
    if (head === undefined) return ref;
    const first = this.#term(head, support, withs);
    const parts = rest.map((part) => this.#term(part, support, withs));
    const subject = first.kind === "var" ? first : this.#bind(first, support, withs);
    return refOf([subject, ...parts], ref.loc);
  }

  #template(term: Term & { readonly kind: "template" }, support: Expr[], withs: readonly With[]): Term {
    const parts = term.parts.map((part): Term => {
      if (!isExpr(part)) return part;
      if (part.kind === "expr-term") {
        if (part.term.kind === "var" && part.withs.length === 0) {
          return { kind: "set", items: [part.term], loc: part.loc };
        }
        return this.#captured(part.term, part.withs);
      }
      if (part.kind === "expr-call") {
        return this.#captured({ kind: "call", operator: part.operator, args: part.args, loc: part.loc }, part.withs);
      }
      return scalar(true, part.loc);
    });
    const items = parts.length === 0 ? [scalar("", term.loc)] : parts;
    const list: Term = { kind: "array", items, loc: term.loc };
    const call: Term = {
      kind: "call",
      operator: builtinRef("internal.template_string", term.loc),
      args: [list],
      loc: term.loc,
    };
    return this.#term(call, support, withs);
  }
}

/** The name of the function that a term names, if it names one. */
export function isFunctionName(term: Term, functions: NameSet): string | undefined {
  if (term.kind === "var") return functions.has(term.name) ? term.name : undefined;
  if (term.kind !== "ref") return undefined;
  const name = operatorName(term);
  return name !== undefined && functions.has(name) ? name : undefined;
}

/** A body that only says `true`. */
export function isTrivial(body: Body): boolean {
  const [only] = body;
  return (
    body.length === 1 &&
    only?.kind === "expr-term" &&
    !only.negated &&
    only.withs.length === 0 &&
    only.term.kind === "scalar" &&
    only.term.value === true
  );
}

/** Refs and comprehensions inside a term. */
export function needsEvaluation(term: Term): boolean {
  switch (term.kind) {
    case "scalar":
    case "var":
      return false;
    case "array":
    case "set":
      return term.items.some(needsEvaluation);
    case "object":
      return term.entries.some(([key, value]) => needsEvaluation(key) || needsEvaluation(value));
    default:
      return true;
  }
}

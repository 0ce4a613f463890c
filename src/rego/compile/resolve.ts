/**
 * Names: what each word in a rule stands for. Declared variables (`:=`, `some`, `every`, arguments) get fresh names, words
 * that are imports or rules of the package become refs, and the rest are variables of the enclosing body. `some` and
 * `:=` are gone afterwards.
 */

import { builtinNames } from "../builtins/signatures.ts";
import {
  type Body,
  callExpr,
  type Expr,
  type Head,
  isWildcard,
  type Location,
  operatorName,
  type RefTerm,
  type Rule,
  refOf,
  type Term,
  variable,
  type With,
} from "../syntax/ast.ts";
import { printTerm, valueName } from "../syntax/print.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Names } from "./names.ts";
import { eachMatchVar } from "./outputs.ts";
import { eachMention, eachVar, varsOfExpr } from "./variables.ts";

/** What the words of a module mean outside any rule: imports and the rules of its package. */
export type Globals = ReadonlyMap<string, RefTerm>;

export interface ResolveContext {
  readonly globals: Globals;
  readonly names: Names;
  readonly diagnostics: Diagnostics;
  readonly strict: boolean;
  /** Imports that were used, for strict mode. */
  readonly used?: Set<string>;
}

type Occurrence = "argument" | "assigned" | "declared" | "member" | "seen";

interface Declaration {
  readonly local: string;
  occurrence: Occurrence;
  uses: number;
  readonly loc: Location;
}

/** One body with its variables; bodies inside it see them too. */
class Scope {
  readonly parent: Scope | undefined;
  readonly declarations = new Map<string, Declaration>();
  /** Names that this body declares somewhere: they hide globals in all of it. */
  readonly hidden: ReadonlySet<string>;

  /** Does not know which names were seen around it: comprehensions in the head of a rule. */
  readonly #isApart: boolean;

  constructor(parent: Scope | undefined, hidden: ReadonlySet<string>, isApart = false) {
    this.parent = parent;
    this.hidden = hidden;
    this.#isApart = isApart;
  }

  find(name: string): Declaration | undefined {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      const declaration = scope.declarations.get(name);
      if (declaration !== undefined && (declaration.occurrence !== "seen" || declaration.local !== name))
        return declaration;
    }
    return undefined;
  }

  /** The name was declared or seen in this body or one around it. */
  knows(name: string): boolean {
    return this.declarations.has(name) || (!this.#isApart && (this.parent?.knows(name) ?? false));
  }

  hides(name: string): boolean {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      if (scope.hidden.has(name)) return true;
    }
    return false;
  }
}

export function resolveRule(rule: Rule, context: ResolveContext): Rule {
  const resolver = new Resolver(context);
  return resolver.rule(rule);
}

/** Resolves a query; the answer's variables keep the author's names, except those that a nested body declares. */
export function resolveQuery(
  body: Body,
  context: ResolveContext,
): { readonly body: Body; readonly declared: ReadonlyMap<string, string> } {
  const resolver = new Resolver(context);
  const scope = new Scope(undefined, declaredNames(body));
  const resolved = resolver.body(body, scope);
  const declared = new Map<string, string>();
  for (const [name, declaration] of scope.declarations) {
    if (declaration.occurrence !== "seen") declared.set(name, declaration.local);
  }
  return { body: resolved, declared };
}

class Resolver {
  readonly #context: ResolveContext;
  #hasUnused = false;
  #errorsBefore: number;
  /** The scope of the rule while its head is looked at. */
  #headScope: Scope | undefined;

  constructor(context: ResolveContext) {
    this.#context = context;
    this.#errorsBefore = context.diagnostics.errors.length;
  }

  rule(rule: Rule): Rule {
    const argumentScope = new Scope(undefined, new Set());
    for (const arg of rule.head.args ?? []) this.#declareArguments(arg, argumentScope);
    const resolved = this.#branch(rule, argumentScope);
    if (this.#context.strict) this.#reportUnusedArguments(rule, argumentScope);
    return resolved;
  }

  #branch(rule: Rule, argumentScope: Scope): Rule {
    this.#hasUnused = false;
    this.#errorsBefore = this.#context.diagnostics.errors.length;
    const scope = new Scope(argumentScope, declaredNames(rule.body));
    this.#hideBuiltins(rule, scope);
    const body = this.body(rule.body, scope, true);
    const ref = this.#headRef(rule.head.ref, scope);
    const hasUnusedInBody = this.#hasUnused;
    const head = { ...this.#head(rule.head, scope), ref };
    this.#hasUnused = hasUnusedInBody;
    this.#reportUnused(scope);
    const elseRule = rule.elseRule === undefined ? undefined : this.#branch(rule.elseRule, argumentScope);
    return { ...rule, head, body, elseRule };
  }

  /** A variable may have the name of a built-in; it gets another one, so that nothing takes it for the function. */
  #hideBuiltins({ body, head }: Rule, scope: Scope): void {
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
    for (const name of mentioned) {
      const [expr] = body;
      if (
        expr === undefined ||
        this.#context.globals.has(name) ||
        scope.hidden.has(name) ||
        replaced.has(name) ||
        scope.knows(name)
      )
        continue;
      scope.declarations.set(name, {
        local: this.#context.names.fresh(name),
        occurrence: "seen",
        uses: 0,
        loc: expr.loc,
      });
    }
  }

  /** What is computed in the ref of a head is computed in the body, and so follows the rules of the body. */
  #headRef(ref: RefTerm, scope: Scope): RefTerm {
    const [name, ...rest] = ref.parts;
    return name === undefined ? ref : refOf([name, ...rest.map((part) => this.term(part, scope))], ref.loc);
  }

  #head(head: Head, scope: Scope): Head {
    this.#headScope = scope;
    const resolved = {
      ...head,
      args: head.args?.map((arg) => this.term(arg, scope)),
      key: head.key === undefined ? undefined : this.term(head.key, scope),
      value: head.value === undefined ? undefined : this.term(head.value, scope),
    };
    this.#headScope = undefined;
    return resolved;
  }

  body(body: Body, scope: Scope, isRule = false): Body {
    const result: Expr[] = [];
    for (const expr of body) result.push(...this.#expr(expr, scope));
    if (!isRule) this.#reportUnused(scope);
    return result;
  }

  #nested(body: Body, parent: Scope): { readonly scope: Scope; readonly body: Body } {
    // Every comprehension in the head of a rule speaks for itself.
    const isInHead = parent === this.#headScope;
    if (isInHead) this.#hasUnused = false;
    const scope = new Scope(parent, declaredNames(body), isInHead);
    return { scope, body: this.body(body, scope, true) };
  }

  #expr(expr: Expr, scope: Scope): readonly Expr[] {
    const withs = expr.withs.map((modifier) => this.#with(modifier, scope));
    switch (expr.kind) {
      case "expr-some": {
        const [only] = expr.symbols;
        if (only?.kind === "call") return [{ ...this.#someIn(only.args, expr.loc, scope), withs }];
        for (const symbol of expr.symbols) if (symbol.kind === "var") this.#declare(symbol, "declared", scope);
        return [];
      }
      case "expr-every":
        return [this.#every(expr, withs, scope)];
      case "expr-not": {
        if (!expr.explicit && this.#refusesAssignment(expr.body, "not")) return [expr];
        const { body, scope: inner } = this.#nested(expr.body, scope);
        this.#reportUnused(inner);
        return [{ ...expr, withs, body }];
      }
      case "expr-and":
      case "expr-or": {
        const operator = expr.kind === "expr-and" ? "and" : "or";
        const isLeftRefused = !expr.explicitLeft && this.#refusesAssignment(expr.left, operator);
        const isRightRefused = !expr.explicitRight && this.#refusesAssignment(expr.right, operator);
        if (isLeftRefused || isRightRefused) return [expr];
        const left = this.#nested(expr.left, scope);
        const right = this.#nested(expr.right, scope);
        this.#reportUnused(left.scope);
        this.#reportUnused(right.scope);
        return [{ ...expr, withs, left: left.body, right: right.body }];
      }
      case "expr-term":
        return [{ ...expr, withs, term: this.term(expr.term, scope) }];
      case "expr-call": {
        const [left, right] = expr.args;
        const name = operatorName(expr.operator);
        if (expr.negated && this.#refusesAssignment([expr], "not")) return [expr];
        if (name === "assign" && left !== undefined && right !== undefined && expr.args.length === 2) {
          return [{ ...this.#assign(left, right, expr, scope), withs }];
        }
        return [
          {
            ...expr,
            withs,
            operator: this.#operator(expr.operator, scope),
            args: expr.args.map((arg) => this.term(arg, scope)),
          },
        ];
      }
    }
  }

  /** A bare operand gives nothing to the body around it, so that an assignment in it could only be a mistake. */
  #refusesAssignment(body: Body, operator: keyof typeof assignmentRefusals): boolean {
    const found = body.filter((expr) => expr.kind === "expr-call" && operatorName(expr.operator) === "assign");
    for (const { loc } of found) {
      this.#context.diagnostics.report("rego_compile_error", loc, assignmentRefusals[operator]);
    }
    return found.length > 0;
  }

  #with(modifier: With, scope: Scope): With {
    const target = this.term(modifier.target, scope);
    const parts = target.kind === "ref" ? target.parts : [target];
    const [head] = modifier.target.parts;
    // A variable may hide `input`, but only the document can be replaced.
    const isInput = head?.kind === "var" && head.name === "input";
    return {
      ...modifier,
      target: refOf(isInput ? [head, ...parts.slice(1)] : parts, target.loc),
      value: this.term(modifier.value, scope),
    };
  }

  #someIn(args: readonly Term[], loc: Location, scope: Scope): Expr {
    const domain = args.at(-1);
    const value = args.at(-2);
    const key = args.length === 3 ? args[0] : undefined;
    if (domain === undefined || value === undefined) throw new RangeError("membership needs two operands");
    const fresh = new Set<string>();
    if (this.#isUsedInDomain(key === undefined ? [value] : [key, value], domain, loc))
      return callExpr("eq", [value, value], loc);
    if (key !== undefined) this.#declarePattern(key, "member", scope, fresh);
    this.#declarePattern(value, "member", scope, fresh);
    const resolvedDomain = this.term(domain, scope);
    const resolvedKey = key === undefined ? variable(this.#context.names.fresh(), loc) : this.term(key, scope);
    const container = resolvedDomain.kind === "ref" ? resolvedDomain.parts : [resolvedDomain];
    const element = refOf([...container, resolvedKey], resolvedDomain.loc);
    return { ...callExpr("eq", [this.term(value, scope), element], loc), generated: false };
  }

  /** What `some … in` binds cannot come from the collection that it is taken from. */
  #isUsedInDomain(bound: readonly Term[], domain: Term, loc: Location): boolean {
    const names = new Set<string>();
    for (const term of bound) eachMatchVar(term, (name) => names.add(name));
    const used = new Set<string>();
    eachVar(domain, (name) => {
      if (names.has(name) && !isWildcard(name)) used.add(name);
    });
    for (const name of used) {
      this.#context.diagnostics.report("rego_compile_error", loc, `var ${name} assigned before`);
    }
    return used.size > 0;
  }

  #every(expr: Expr & { readonly kind: "expr-every" }, withs: readonly With[], scope: Scope): Expr {
    const domain = this.term(expr.domain, scope);
    const inner = new Scope(scope, new Set(declaredNames(expr.body)));
    if (expr.key?.kind === "var") this.#declare(expr.key, "declared", inner);
    if (expr.value.kind === "var") this.#declare(expr.value, "declared", inner);
    const key = expr.key === undefined ? undefined : this.term(expr.key, inner, true);
    const value = this.term(expr.value, inner, true);
    const body = this.body(expr.body, inner, true);
    this.#reportUnused(inner);
    return { ...expr, withs, domain, key, value, body };
  }

  #assign(left: Term, right: Term, expr: Expr, scope: Scope): Expr {
    const value = this.term(right, scope);
    this.#declarePattern(left, "assigned", scope);
    return { ...callExpr("eq", [this.term(left, scope, true), value], expr.loc), isAssignment: true };
  }

  /** A name may stand twice in one pattern; `fresh` collects those of this statement. */
  #declarePattern(term: Term, occurrence: Occurrence, scope: Scope, fresh: Set<string> = new Set()): void {
    switch (term.kind) {
      case "var":
        if (!fresh.has(term.name) || occurrence === "assigned") this.#declare(term, occurrence, scope);
        fresh.add(term.name);
        return;
      case "array":
        for (const item of term.items) this.#declareInner(item, occurrence, scope, fresh);
        return;
      case "object":
        for (const [key, value] of term.entries) {
          if (occurrence === "member") this.#declareInner(key, occurrence, scope, fresh);
          this.#declareInner(value, occurrence, scope, fresh);
        }
        return;
      default:
        if (occurrence !== "assigned") return;
        if (isRootDocument(term)) {
          this.#declare(term.parts[0], occurrence, scope);
          return;
        }
        this.#context.diagnostics.report("rego_compile_error", term.loc, `cannot assign to ${valueName(term)}`);
    }
  }

  /** Inside the pattern of `some … in`, constants are compared. */
  #declareInner(term: Term, occurrence: Occurrence, scope: Scope, fresh: Set<string>): void {
    if (term.kind !== "scalar" || occurrence === "assigned") this.#declarePattern(term, occurrence, scope, fresh);
  }

  #declare(term: Term & { readonly kind: "var" }, occurrence: Occurrence, scope: Scope): void {
    const { name } = term;
    if (name.startsWith("$")) return;
    const known = scope.declarations.get(name);
    if (known !== undefined) {
      const verb = {
        argument: "declared",
        assigned: "assigned",
        declared: "declared",
        member: "declared",
        seen: "referenced",
      };
      if (known.occurrence === "argument") {
        this.#context.diagnostics.report("rego_compile_error", term.loc, `arg ${name} redeclared`);
      } else {
        this.#context.diagnostics.report("rego_compile_error", term.loc, `var ${name} ${verb[known.occurrence]} above`);
      }
      return;
    }
    if (occurrence === "assigned" && scope.parent?.declarations.get(name)?.occurrence === "argument") {
      this.#context.diagnostics.report("rego_compile_error", term.loc, `arg ${name} redeclared`);
      return;
    }
    scope.declarations.set(name, { local: this.#context.names.fresh(name), occurrence, uses: 0, loc: term.loc });
  }

  #declareArguments(term: Term, scope: Scope): void {
    switch (term.kind) {
      case "var":
        if (!term.name.startsWith("$") && !scope.declarations.has(term.name)) {
          const local = this.#context.names.fresh(term.name);
          scope.declarations.set(term.name, { local, occurrence: "argument", uses: -1, loc: term.loc });
        }
        return;
      case "array":
        for (const item of term.items) this.#declareArguments(item, scope);
        return;
      case "object":
        for (const [, value] of term.entries) this.#declareArguments(value, scope);
        return;
      case "call":
        this.#context.diagnostics.report("rego_compile_error", term.loc, "rule arguments cannot contain calls");
        return;
      default:
        return;
    }
  }

  /** A variable is no function, even if there is a function of the same name. */
  #reportShadowed(term: Term & { readonly kind: "call" }, scope: Scope): void {
    const [head] = term.operator.parts;
    if (head?.kind !== "var") return;
    const declaration = scope.find(head.name);
    // The head of a rule only finds out later what its body declares.
    if (
      declaration === undefined ||
      (this.#headScope !== undefined && this.#headScope.find(head.name) === declaration)
    ) {
      return;
    }
    const message = `called function ${printTerm(term.operator)} shadowed`;
    this.#context.diagnostics.report("rego_compile_error", term.loc, message);
  }

  #operator(operator: RefTerm, scope: Scope): RefTerm {
    const [head, ...rest] = operator.parts;
    if (head?.kind !== "var") return operator;
    const parts = rest.map((part) => this.term(part, scope));
    const declaration = scope.find(head.name);
    if (declaration !== undefined) return refOf([{ ...head, name: declaration.local }, ...parts], operator.loc);
    const global = scope.hides(head.name) ? undefined : this.#context.globals.get(head.name);
    if (global === undefined) {
      // The name of a built-in counts as a name that was used: it cannot be declared after that.
      if (!scope.knows(head.name)) {
        scope.declarations.set(head.name, { local: head.name, occurrence: "seen", uses: 0, loc: head.loc });
      }
      return refOf([head, ...parts], operator.loc);
    }
    this.#context.used?.add(head.name);
    return refOf([...global.parts, ...parts], operator.loc);
  }

  term(term: Term, scope: Scope, isAssignTarget = false): Term {
    switch (term.kind) {
      case "scalar":
        return term;
      case "var":
        return this.#variable(term, scope, isAssignTarget);
      case "ref":
        return this.#ref(term, scope);
      case "array":
      case "set":
        return { ...term, items: term.items.map((item) => this.term(item, scope, isAssignTarget)) };
      case "object":
        return {
          ...term,
          entries: term.entries.map(([key, value]) => [this.term(key, scope), this.term(value, scope, isAssignTarget)]),
        };
      case "array-comprehension":
      case "set-comprehension": {
        const { scope: inner, body } = this.#nested(term.body, scope);
        this.#reportUnused(inner, [term.head]);
        return { ...term, body, head: this.term(term.head, inner) };
      }
      case "object-comprehension": {
        const { scope: inner, body } = this.#nested(term.body, scope);
        this.#reportUnused(inner, [term.key, term.value]);
        return { ...term, body, key: this.term(term.key, inner), value: this.term(term.value, inner) };
      }
      case "call":
        this.#reportShadowed(term, scope);
        return {
          ...term,
          operator: this.#operator(term.operator, scope),
          args: term.args.map((arg) => this.term(arg, scope)),
        };
      case "template":
        return {
          ...term,
          parts: term.parts.flatMap((part): readonly (Term | Expr)[] =>
            isExpr(part) ? this.#expr(part, scope) : [this.term(part, scope)],
          ),
        };
    }
  }

  #variable(term: Term & { readonly kind: "var" }, scope: Scope, isAssignTarget: boolean): Term {
    const { name } = term;
    if (name.startsWith("$")) return term;
    const declaration = scope.find(name);
    if (declaration !== undefined) {
      if (!isAssignTarget) declaration.uses++;
      return { ...term, name: declaration.local };
    }
    if (!scope.hides(name)) {
      const global = this.#context.globals.get(name);
      if (global !== undefined) {
        this.#context.used?.add(name);
        return refOf(global.parts, term.loc);
      }
    }
    if (!scope.knows(name)) {
      scope.declarations.set(name, { local: name, occurrence: "seen", uses: 0, loc: term.loc });
    }
    return term;
  }

  #ref(ref: RefTerm, scope: Scope): Term {
    const [head, ...rest] = ref.parts;
    if (head === undefined || (isRootDocument(ref) && scope.find(ref.parts[0].name) === undefined)) return ref;
    const resolved = head.kind === "var" ? this.#variable(head, scope, false) : this.term(head, scope);
    const parts = rest.map((part) => this.term(part, scope));
    // `input` and `data` alone are refs, too, unless variables of these names hide them.
    if (parts.length === 0 && resolved.kind === "var" && resolved !== head) return resolved;
    const first = resolved.kind === "ref" ? resolved.parts : [resolved];
    return refOf([...first, ...parts], ref.loc);
  }

  /**
   * What `some x` and `every` declare must be used in any mode, what `:=` assigns in strict mode. As in OPA, one body of
   * a rule speaks for all: bodies inside come first, and once something was reported the others are not looked at.
   */
  #reportUnused(scope: Scope, heads: readonly Term[] = []): void {
    const inHeads = new Set<string>();
    for (const head of heads) eachMention(head, (name) => inHeads.add(name));
    for (const wanted of this.#context.strict ? (["assigned", "declared"] as const) : (["declared"] as const)) {
      if (this.#hasUnused || this.#context.diagnostics.errors.length > this.#errorsBefore) return;
      for (const [name, { occurrence, uses, loc }] of scope.declarations) {
        if (occurrence !== wanted || uses > 0 || inHeads.has(name)) continue;
        this.#hasUnused = true;
        this.#context.diagnostics.reportMinor(loc, `${wanted} var ${name} unused`);
      }
    }
  }

  #reportUnusedArguments(rule: Rule, scope: Scope): void {
    for (const [name, declaration] of scope.declarations) {
      // Every branch of the rule mentions the arguments once in its head.
      if (declaration.uses >= branchCount(rule)) continue;
      this.#context.diagnostics.reportMinor(
        rule.head.loc,
        `unused argument ${name}. (hint: use _ (wildcard variable) instead)`,
      );
    }
  }
}

type VarTerm = Term & { readonly kind: "var" };

/** `input` or `data` as a whole; v0 lets variables have these names. */
function isRootDocument(term: Term): term is RefTerm & { readonly parts: readonly [VarTerm] } {
  const [head] = term.kind === "ref" && term.parts.length === 1 ? term.parts : [];
  return head?.kind === "var" && (head.name === "input" || head.name === "data");
}

const assignmentRefusals = {
  not: "cannot assign vars inside negated expression",
  and: "cannot assign vars inside implicit and operand",
  or: "cannot assign vars inside implicit or operand",
};

function branchCount(rule: Rule): number {
  return 1 + (rule.elseRule === undefined ? 0 : branchCount(rule.elseRule));
}

export function isExpr(node: Term | Expr): node is Expr {
  return node.kind.startsWith("expr-");
}

/** Names that a body declares at its own level. */
function declaredNames(body: Body): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (term: Term): void => {
    if (term.kind === "var") names.add(term.name);
    else if (term.kind === "array") term.items.forEach(collect);
    else if (term.kind === "object") {
      for (const [key, value] of term.entries) {
        collect(key);
        collect(value);
      }
    }
  };
  for (const expr of body) {
    if (expr.kind === "expr-some") {
      const [only] = expr.symbols;
      if (only?.kind === "call") only.args.slice(0, -1).forEach(collect);
      else expr.symbols.forEach(collect);
    } else if (expr.kind === "expr-call" && operatorName(expr.operator) === "assign" && expr.args[0] !== undefined) {
      collect(expr.args[0]);
    }
  }
  return names;
}

/** For messages that show a ref in the author's words: what a generated variable stands for, not its name. */
export function describeRef(ref: RefTerm, names: Names): string {
  const [head, ...rest] = ref.parts;
  const isAnonymous = head?.kind === "var" && names.isAnonymous(head.name) && !isWildcard(head.name);
  const subject = isAnonymous && head.loc.text !== "" ? head.loc.text : undefined;
  const shown = rest.map((part) =>
    part.kind === "var" && names.isAnonymous(part.name) ? { ...part, name: "_" } : part,
  );
  const text = printTerm(refOf(head === undefined ? [] : [head, ...shown], ref.loc));
  const named = text.replace(/@\d+/g, (name) => names.sourceOf(name));
  return subject === undefined || head?.kind !== "var" ? named : subject + named.slice(head.name.length);
}

/**
 * Types of expressions: operands that a built-in can never accept, comparisons that can never hold, and refs into
 * documents that can never be there. What is not known (input, base documents) fits everything.
 */
import { signatures } from "../builtins/signatures.ts";
import { constantValue } from "../evaluate/terms.ts";
import type { Body, Expr, Location, Module, Rule, Term } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import { parseType } from "../types/notation.ts";
import {
  anyType,
  formatType,
  keysOf,
  mayUnify,
  selectType,
  stringType,
  type Type,
  typeOfValue,
  unionOf,
  withinReason,
} from "../types/types.ts";
import { rulePath } from "./build.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Names } from "./names.ts";
import { describeTerm } from "./resolve.ts";

export interface TypedRule {
  readonly rule: Rule;
  readonly module: Module;
}

export function checkTypes(rules: readonly TypedRule[], names: Names, diagnostics: Diagnostics): TypeChecker {
  const checker = new TypeChecker(rules, names, diagnostics);
  checker.checkAll();
  return checker;
}

/** The type of the members of a collection; undefined if that is not known. */
function memberType(type: Type): Type | undefined {
  if (type.kind !== "array" && type.kind !== "set" && type.kind !== "object") return undefined;
  return type.kind === "set" ? type.item : selectType(type, undefined, anyType);
}

/** What is known about the variables of one rule. */
type Env = Map<string, Type>;

interface Node {
  readonly children: Map<string, Node>;
  readonly rules: TypedRule[];
}

export class TypeChecker {
  readonly #root: Node = { children: new Map(), rules: [] };
  readonly #nodes: Node[] = [];
  readonly #names: Names;
  #diagnostics: Diagnostics;
  readonly #known = new Map<Node, Type>();
  readonly #underway = new Set<Node>();
  #everyDepth = 0;

  constructor(rules: readonly TypedRule[], names: Names, diagnostics: Diagnostics) {
    this.#names = names;
    this.#diagnostics = diagnostics;
    for (const typed of rules) {
      let node = this.#root;
      for (const name of rulePath(typed.rule, typed.module.packagePath)) {
        let child = node.children.get(name);
        if (child === undefined) {
          child = { children: new Map(), rules: [] };
          node.children.set(name, child);
        }
        node = child;
      }
      if (node.rules.length === 0) this.#nodes.push(node);
      node.rules.push(typed);
    }
  }

  checkAll(): void {
    for (const node of this.#nodes) this.#typeOfNode(node);
  }

  checkQuery(body: Body, diagnostics: Diagnostics): void {
    this.#diagnostics = diagnostics;
    this.#body(body, new Map());
  }

  #typeOfNode(node: Node): Type {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    if (this.#underway.has(node)) return anyType;
    this.#underway.add(node);
    const types = node.rules.map(({ rule, module }) => this.#typeOfRule(rule, module));
    // Rules below a document with variable keys add to it in ways that are not followed here.
    const type = node.children.size > 0 ? anyType : unionOf(types);
    this.#underway.delete(node);
    this.#known.set(node, type);
    return type;
  }

  #typeOfRule(rule: Rule, module: Module): Type {
    const env: Env = new Map();
    this.#body(rule.body, env);
    const { head } = rule;
    const depth = rulePath(rule, module.packagePath).length - module.packagePath.length;
    const keys = head.ref.parts.slice(depth);
    let type: Type =
      head.value !== undefined
        ? this.#term(head.value, env)
        : { kind: "set", item: head.key === undefined ? anyType : this.#term(head.key, env) };
    for (const key of [...keys].reverse()) {
      type = { kind: "object", fields: [], rest: { key: this.#term(key, env), value: type } };
    }
    return rule.elseRule === undefined ? type : unionOf([type, this.#typeOfRule(rule.elseRule, module)]);
  }

  #body(body: Body, env: Env): void {
    for (const expr of body) this.#expr(expr, env);
  }

  #expr(expr: Expr, env: Env): void {
    for (const modifier of expr.withs) if (modifier.mock === undefined) this.#term(modifier.value, env);
    switch (expr.kind) {
      case "expr-term":
        this.#term(expr.term, env);
        return;
      case "expr-call":
        this.#call(expr, env);
        return;
      case "expr-every":
        this.#every(expr, env);
        return;
      case "expr-not":
        this.#body(expr.body, new Map(env));
        return;
      case "expr-and":
      case "expr-or":
        this.#body(expr.left, new Map(env));
        this.#body(expr.right, new Map(env));
        return;
      default:
        return;
    }
  }

  /** In these bodies OPA refuses refs that lead nowhere, and nothing else: what it accepts is accepted here. */
  #every(expr: Expr & { readonly kind: "expr-every" }, env: Env): void {
    const domain = this.#term(expr.domain, env);
    const inner = new Map(env);
    if (expr.key?.kind === "var") inner.set(expr.key.name, keysOf(domain));
    if (expr.value.kind === "var") inner.set(expr.value.name, anyType);
    this.#everyDepth++;
    this.#body(expr.body, inner);
    this.#everyDepth--;
  }

  #call(expr: Expr & { readonly kind: "expr-call" }, env: Env): void {
    const name = operatorName(expr.operator) ?? "";
    const [left, right] = expr.args;
    if ((name === "eq" || name === "equal") && left !== undefined && right !== undefined && expr.args.length === 2) {
      this.#equality(left, right, expr, env);
      return;
    }
    if (name.startsWith("data.")) {
      this.#userCall(expr, env);
      return;
    }
    if (name === "internal.member_2" && left !== undefined && right !== undefined) {
      const item = this.#term(left, env);
      const member = memberType(this.#term(right, env));
      if (member !== undefined && !mayUnify(item, member)) this.#mismatch(expr.loc, item, member);
    }
    const signature = signatures.get(name);
    if (signature === undefined) {
      for (const arg of expr.args) this.#term(arg, env);
      return;
    }
    const isVariadic = signature.operands.at(-1)?.startsWith("...") ?? false;
    const count = isVariadic ? expr.args.length : signature.operands.length;
    const have = expr.args.slice(0, count).map((arg) => this.#term(arg, env));
    const want = signature.operands.map((operand) => parseType(operand.replace(/^\.\.\./, "")));
    const isWrong = have.some((type, index) => !mayUnify(type, want[Math.min(index, want.length - 1)] ?? anyType));
    const output = expr.args[count];
    const result = signature.result === undefined ? anyType : parseType(signature.result);
    const isOutputWrong = output !== undefined && !this.#bind(output, result, env);
    if ((!isWrong && !isOutputWrong) || this.#everyDepth > 0) return;
    const shown = output === undefined ? have : [...have, this.#term(output, env)];
    const wanted = output === undefined ? want : [...want, result];
    const isGenerated = expr.generated === true;
    this.#report(expr.loc, `${name}: invalid argument(s)`, [
      `have: (${shown.map((type, index) => (isGenerated && index === have.length ? "???" : formatType(type))).join(", ")})`,
      `want: (${wanted.map(formatType).join(", ")})`,
    ]);
  }

  #userCall(expr: Expr & { readonly kind: "expr-call" }, env: Env): void {
    const path = (operatorName(expr.operator) ?? "").split(".").slice(1);
    let node: Node | undefined = this.#root;
    for (const name of path) node = node?.children.get(name);
    const arity = node?.rules[0]?.rule.head.args?.length ?? expr.args.length;
    for (const arg of expr.args.slice(0, arity)) this.#term(arg, env);
    const result = node === undefined ? anyType : this.#typeOfNode(node);
    const output = expr.args[arity];
    if (output !== undefined && !this.#bind(output, result, env)) {
      this.#mismatch(expr.loc, result, this.#term(output, env));
    }
  }

  #equality(left: Term, right: Term, expr: Expr, env: Env): void {
    // The side that is known first: it tells the type of variables on the other side.
    const [first, second] = left.kind === "var" && !env.has(left.name) ? [right, left] : [left, right];
    const type = this.#term(first, env);
    if (this.#bind(second, type, env)) {
      this.#bind(first, this.#term(second, env), env);
      return;
    }
    const other = this.#term(second, env);
    this.#mismatch(expr.loc, first === left ? type : other, first === left ? other : type);
  }

  #mismatch(loc: Location, left: Type, right: Type): void {
    if (this.#everyDepth > 0) return;
    this.#report(loc, "match error", [`left  : ${formatType(left)}`, `right : ${formatType(right)}`]);
  }

  /** Gives the variables of a pattern their types; false if the pattern can never have the type. */
  #bind(pattern: Term, type: Type, env: Env): boolean {
    switch (pattern.kind) {
      case "var": {
        const known = env.get(pattern.name);
        if (known === undefined) {
          env.set(pattern.name, type);
          return true;
        }
        if (known.kind === "any" && type.kind !== "any") return true;
        return mayUnify(known, type);
      }
      case "array": {
        const arrays = (type.kind === "union" ? type.of : [type]).filter(
          ({ kind }) => kind === "array" || kind === "any",
        );
        if (arrays.length === 0) return false;
        return arrays.some((array) => {
          if (array.kind !== "array") return pattern.items.every((item) => this.#bind(item, anyType, env));
          if (array.rest === undefined && array.items.length !== pattern.items.length) return false;
          return pattern.items.every((item, index) =>
            this.#bind(item, array.items[index] ?? array.rest ?? anyType, env),
          );
        });
      }
      case "object": {
        for (const [key] of pattern.entries) this.#term(key, env);
        const objects = (type.kind === "union" ? type.of : [type]).filter(
          ({ kind }) => kind === "object" || kind === "any",
        );
        if (objects.length === 0) return false;
        return objects.some((object) =>
          pattern.entries.every(([key, value]) => {
            const found = selectType(object, constantValue(key), anyType);
            return found !== undefined && this.#bind(value, found, env);
          }),
        );
      }
      default:
        return mayUnify(this.#term(pattern, env), type);
    }
  }

  #term(term: Term, env: Env): Type {
    return withinReason(this.#typeOf(term, env));
  }

  #typeOf(term: Term, env: Env): Type {
    switch (term.kind) {
      case "scalar":
        return typeOfValue(term.value);
      case "var":
        return env.get(term.name) ?? anyType;
      case "ref":
        return this.#ref(term, env);
      case "array":
        return { kind: "array", items: term.items.map((item) => this.#term(item, env)), rest: undefined };
      case "set":
        return { kind: "set", item: unionOf(term.items.map((item) => this.#term(item, env))) };
      case "object":
        return this.#object(term, env);
      case "array-comprehension": {
        const inner = new Map(env);
        this.#body(term.body, inner);
        return { kind: "array", items: [], rest: this.#term(term.head, inner) };
      }
      case "set-comprehension": {
        const inner = new Map(env);
        this.#body(term.body, inner);
        return { kind: "set", item: this.#term(term.head, inner) };
      }
      case "object-comprehension": {
        const inner = new Map(env);
        this.#body(term.body, inner);
        return {
          kind: "object",
          fields: [],
          rest: { key: this.#term(term.key, inner), value: this.#term(term.value, inner) },
        };
      }
      default:
        return anyType;
    }
  }

  #object(term: Term & { readonly kind: "object" }, env: Env): Type {
    const fields: (readonly [NonNullable<ReturnType<typeof constantValue>> | null, Type])[] = [];
    const dynamic: { key: Type; value: Type }[] = [];
    for (const [key, value] of term.entries) {
      const constant = constantValue(key);
      const type = this.#term(value, env);
      if (constant !== undefined) fields.push([constant, type]);
      else dynamic.push({ key: this.#term(key, env), value: type });
    }
    const rest =
      dynamic.length === 0
        ? undefined
        : { key: unionOf(dynamic.map(({ key }) => key)), value: unionOf(dynamic.map(({ value }) => value)) };
    return { kind: "object", fields, rest };
  }

  #ref(ref: Term & { readonly kind: "ref" }, env: Env): Type {
    const [head, ...parts] = ref.parts;
    if (head?.kind !== "var") return anyType;
    if (head.name === "input") {
      for (const part of parts) this.#key(part, anyType, env);
      return anyType;
    }
    if (head.name === "data") return this.#dataRef(ref, parts, env);
    return this.#walk(ref, env.get(head.name) ?? anyType, parts, env);
  }

  #dataRef(ref: Term & { readonly kind: "ref" }, parts: readonly Term[], env: Env): Type {
    let node: Node | undefined = this.#root;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index];
      const constant = part === undefined ? undefined : constantValue(part);
      if (typeof constant !== "string") break;
      node = node.children.get(constant);
      if (node === undefined) break;
      if (node.rules.length === 0) continue;
      const isFunction = node.rules.some(({ rule }) => rule.head.args !== undefined);
      return this.#walk(ref, isFunction ? anyType : this.#typeOfNode(node), parts.slice(index + 1), env);
    }
    for (const part of parts) this.#key(part, anyType, env);
    const isPackage = node !== undefined && parts.every((part) => part.kind === "scalar");
    return isPackage && parts.length > 0 && node !== undefined ? this.#typeOfPackage(node) : anyType;
  }

  /** The rules of a package are known, its base documents are not. */
  #typeOfPackage(node: Node): Type {
    const fields = [...node.children].flatMap(([name, child]): readonly (readonly [string, Type])[] => {
      if (child.rules.some(({ rule }) => rule.head.args !== undefined)) return [];
      return [[name, child.rules.length > 0 ? this.#typeOfNode(child) : this.#typeOfPackage(child)]];
    });
    return { kind: "object", fields, rest: { key: stringType, value: anyType } };
  }

  #walk(ref: Term & { readonly kind: "ref" }, start: Type, parts: readonly Term[], env: Env): Type {
    let type = start;
    for (const part of parts) {
      const constant = constantValue(part);
      const keyType = constant === undefined ? this.#key(part, keysOf(type), env) : typeOfValue(constant);
      const next = selectType(type, constant, keyType);
      if (next === undefined) {
        this.#report(ref.loc, `undefined ref: ${describeTerm(ref, this.#names)}`, [
          describeTerm(ref, this.#names),
          `have: ${formatType(type)}`,
        ]);
        return anyType;
      }
      type = next;
    }
    return type;
  }

  /** The type of a key; a variable without one gets the type of the keys that it iterates over. */
  #key(part: Term, keys: Type, env: Env): Type {
    if (part.kind === "var" && !env.has(part.name)) {
      env.set(part.name, keys);
      return keys;
    }
    if (part.kind === "array" || part.kind === "object") {
      this.#bind(part, anyType, env);
      return anyType;
    }
    return this.#term(part, env);
  }

  #report(loc: Location, message: string, details: readonly string[]): void {
    this.#diagnostics.report("rego_type_error", loc, message, details);
  }
}

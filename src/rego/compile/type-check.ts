/**
 * Types of expressions: operands that a built-in can never accept, comparisons that can never hold, and refs into
 * documents that can never be there. What is not known (input, base documents) fits everything. Rules are checked
 * after those that they depend on, and find out the same things in the same order as OPA does, because what the
 * checker knows decides which policies are refused.
 */
import { signatures } from "../builtins/signatures.ts";
import { constantValue } from "../evaluate/terms.ts";
import {
  type Body,
  builtinRef,
  type Comprehension,
  type Expr,
  noLocation,
  type RefTerm,
  type Rule,
  type Term,
} from "../syntax/ast.ts";
import { parseType } from "../types/notation.ts";
import {
  anyType,
  arrayType,
  type FunctionType,
  type MaybeType,
  objectType,
  or,
  setType,
  stringType,
  typeOfKey,
} from "../types/types.ts";
import { mayUnify } from "../types/unify.ts";
import type { CustomBuiltin } from "./compile.ts";
import type { DependencyGraph } from "./dependencies.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { eachComprehension } from "./traverse.ts";
import { checkCallTypes } from "./type-calls.ts";
import { TypeEnv } from "./type-env.ts";
import { argumentFault, type TypeFault } from "./type-faults.ts";
import { RefChecker } from "./type-refs.ts";
import { typeRule } from "./type-rules.ts";
import { newTypeNode, putType, type TypeNode } from "./type-tree.ts";

/** Bodies inside bodies are looked at again and again; a policy that nests too deeply is not looked at to the end. */
const maxChecks = 200_000;

export class TypeChecker {
  readonly #graph: DependencyGraph;
  readonly #show: (ref: RefTerm) => string;
  readonly #documents: TypeEnv;
  readonly #relaxed = new Map<string, TypeNode | undefined>();
  #checks = 0;

  constructor(
    graph: DependencyGraph,
    show: (ref: RefTerm) => string,
    customBuiltins: ReadonlyMap<string, CustomBuiltin> = new Map(),
  ) {
    this.#graph = graph;
    this.#show = show;
    const builtins = new TypeEnv(undefined, builtinTypes());
    const own = new TypeEnv(builtins);
    for (const [name, { arity }] of customBuiltins) {
      const args = Array.from({ length: arity }, () => anyType);
      const type: FunctionType = { kind: "function", args, variadic: undefined, result: anyType };
      putType(own.tree, builtinRef(name, noLocation).parts, type);
    }
    this.#documents = new TypeEnv(customBuiltins.size === 0 ? builtins : own);
  }

  /** Checks every rule, dependencies first; `branches` are the rules of the graph with bodies in their final order. */
  checkRules(branches: readonly Rule[], diagnostics: Diagnostics): void {
    for (const vertex of this.#graph.sorted() ?? []) {
      const rule = branches[vertex.index] ?? vertex.rule;
      this.#checks = 0;
      const { env, faults } = this.#body(rule.body, this.#documents);
      for (const fault of faults) report(fault, diagnostics);
      typeRule(rule, vertex.ref, faults.length > 0, env, this.#documents, this);
    }
  }

  checkQuery(body: Body, diagnostics: Diagnostics): void {
    this.#checks = 0;
    for (const fault of this.#body(body, this.#documents).faults) report(fault, diagnostics);
  }

  /** What a body says about its variables, and what is wrong with it. */
  #body(body: Body, around: TypeEnv): { readonly env: TypeEnv; readonly faults: readonly TypeFault[] } {
    const env = new TypeEnv(around);
    const faults: TypeFault[] = [];
    for (const expr of body) faults.push(...this.#expression(expr, env));
    return { env, faults };
  }

  #expression(expr: Expr, around: TypeEnv): readonly TypeFault[] {
    if (++this.#checks > maxChecks) return [];
    const env = expr.withs.length === 0 ? around : this.#withEnv(expr, around);
    let closureFaults: readonly TypeFault[] = [];
    eachComprehension(expr, (comprehension) => {
      const { faults } = this.#body(comprehension.body, env);
      if (faults.length === 0) return false;
      closureFaults = faults;
      return true;
    });
    const typing = { env, typeOf: this.typeOf };
    const refs = new RefChecker(typing, this.#show);
    refs.expression(expr);
    const faults = [...closureFaults, ...refs.faults];
    const fault = this.#withFault(expr, env) ?? (expr.kind === "expr-call" ? checkCallTypes(expr, typing) : undefined);
    return fault === undefined || (faults.length > 0 && fault.isUnknown) ? faults : [...faults, fault];
  }

  /** Documents that `with` replaces may have the type of their replacement, rules that depend on them any type. */
  #withEnv(expr: Expr, around: TypeEnv): TypeEnv {
    let env = around;
    const replaced: (readonly [readonly Term[], MaybeType])[] = [];
    for (const { target, value, mock } of expr.withs) {
      const type = around.ref(target);
      const isFunction = type?.kind === "function";
      const relaxed = this.#relaxedTree(target, isFunction);
      if (relaxed !== undefined) env = env.forWith(relaxed);
      if (isFunction) continue;
      const open = target.parts.findIndex((part, index) => index > 0 && constantValue(part) === undefined);
      const valueType = mock === undefined ? this.typeOf(value, around) : around.ref(builtinRef(mock, noLocation));
      const known = open === -1 && type !== undefined && valueType !== undefined ? or(type, valueType) : undefined;
      replaced.push([open === -1 ? target.parts : target.parts.slice(0, open), known ?? anyType]);
    }
    if (replaced.length === 0) return env;
    env = env.forWith();
    for (const [path, type] of replaced) putType(env.tree, path, type);
    return env;
  }

  #relaxedTree(target: RefTerm, isFunction: boolean): TypeNode | undefined {
    const key = `${isFunction ? "function " : ""}${this.#show(target)}`;
    if (this.#relaxed.has(key)) return this.#relaxed.get(key);
    const dependents = this.#graph.dependents(target);
    const tree = dependents.length === 0 ? undefined : newTypeNode();
    const own = this.#show(target);
    for (const ref of dependents) {
      if (tree !== undefined && !(isFunction && this.#show(ref) === own)) putType(tree, ref.parts, anyType);
    }
    this.#relaxed.set(key, tree);
    return tree;
  }

  #withFault(expr: Expr, env: TypeEnv): TypeFault | undefined {
    for (const { target, mock, loc } of expr.withs) {
      if (mock === undefined) continue;
      const [type, other] = [env.ref(target), env.ref(builtinRef(mock, noLocation))];
      if (type?.kind !== "function" || other?.kind !== "function" || mayUnify(type, other)) continue;
      return argumentFault(loc, this.#show(target), "arity mismatch", other.args, type);
    }
    return undefined;
  }

  /** Undefined if nothing is known. */
  readonly typeOf = (term: Term, env: TypeEnv): MaybeType => {
    switch (term.kind) {
      case "scalar":
        return typeOfKey(term.value);
      case "var":
        return env.variable(term);
      case "ref":
        return env.ref(term);
      case "array":
        return arrayType(
          term.items.map((item) => this.typeOf(item, env)),
          undefined,
        );
      case "set":
        return setType(term.items.reduce<MaybeType>((known, item) => or(known, this.typeOf(item, env)), undefined));
      case "object":
        return this.#object(term, env);
      case "array-comprehension":
      case "set-comprehension":
      case "object-comprehension":
        return this.#comprehension(term, env);
      case "template":
        return stringType;
      case "call":
        return undefined;
    }
  };

  #object(term: Term & { readonly kind: "object" }, env: TypeEnv): MaybeType {
    const fields: (readonly [NonNullable<ReturnType<typeof constantValue>> | null, MaybeType])[] = [];
    let rest: { readonly key: MaybeType; readonly value: MaybeType } | undefined;
    for (const [key, value] of term.entries) {
      const constant = constantValue(key);
      const type = this.typeOf(value, env);
      if (constant !== undefined) fields.push([constant, type]);
      else rest = { key: this.typeOf(key, env), value: type };
    }
    return objectType(fields, rest);
  }

  #comprehension(term: Comprehension, around: TypeEnv): MaybeType {
    const { env, faults } = this.#body(term.body, around);
    if (faults.length > 0) return undefined;
    if (this.#checks > maxChecks) return anyType;
    if (term.kind === "array-comprehension") return arrayType([], this.typeOf(term.head, env));
    if (term.kind === "set-comprehension") return setType(this.typeOf(term.head, env));
    return objectType([], { key: this.typeOf(term.key, env), value: this.typeOf(term.value, env) });
  }
}

function report({ loc, message, details }: TypeFault, diagnostics: Diagnostics): void {
  diagnostics.reportMinor(loc, message, "rego_type_error", details);
}

let knownBuiltins: TypeNode | undefined;

/** Made once: nothing is ever added to it. */
function builtinTypes(): TypeNode {
  if (knownBuiltins !== undefined) return knownBuiltins;
  const tree = newTypeNode();
  for (const [name, { operands, result }] of signatures) {
    const variadic = operands.find((operand) => operand.startsWith("..."));
    const type: FunctionType = {
      kind: "function",
      args: operands.filter((operand) => operand !== variadic).map(parseType),
      variadic: variadic === undefined ? undefined : parseType(variadic.slice(3)),
      result: result === undefined ? undefined : parseType(result),
    };
    putType(tree, builtinRef(name, noLocation).parts, type);
  }
  knownBuiltins = tree;
  return tree;
}

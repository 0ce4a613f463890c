/** `rego.metadata.rule()` and `rego.metadata.chain()`: answered from annotations when compiling. */
import type { Annotations, Body, Expr, Module, Rule, Term } from "../syntax/ast.ts";
import { callExpr, operatorName, scalar, stringPath, termExpr } from "../syntax/ast.ts";
import { RegoObject, type Value } from "../values/value.ts";
import type { Names } from "./names.ts";

export class MetadataSource {
  readonly #modules: readonly Module[];

  constructor(modules: readonly Module[]) {
    this.#modules = modules;
  }

  /** Puts the answers in place of the calls. */
  inject(rule: Rule, source: Rule, module: Module, names: Names): Rule {
    if (!mentionsMetadata(rule)) return rule;
    const own = module.annotations.filter((item) => item.target === source && item.scope === "rule");
    const nearest = own.at(-1)?.fields ?? new RegoObject();
    const chain = this.#chain(source, module, own);
    void names;
    return replaceCalls(rule, nearest, chain);
  }

  #chain(source: Rule, module: Module, own: readonly Annotations[]): Value {
    const [name, ...rest] = source.head.ref.parts;
    const rulePath = [...module.packagePath, name?.kind === "var" ? name.name : "", ...stringPath(rest)];
    const links: Value[] = [];
    if (own.length === 0) links.push(link(rulePath, undefined));
    for (const item of [...own].reverse()) links.push(link(rulePath, item.fields));
    const key = rulePath.join("\u0000");
    for (const item of this.#documentScope(key)) links.push(link(rulePath, item.fields));
    for (const item of this.#packageScope("package", module.packagePath)) {
      links.push(link(module.packagePath, item.fields));
    }
    for (let length = module.packagePath.length; length > 0; length--) {
      const path = module.packagePath.slice(0, length);
      for (const item of this.#packageScope("subpackages", path)) links.push(link(path, item.fields));
    }
    return links;
  }

  *#documentScope(key: string): IterableIterator<Annotations> {
    for (const module of this.#modules) {
      for (const item of module.annotations) {
        if (item.scope !== "document" || item.target === undefined) continue;
        const [name, ...rest] = item.target.head.ref.parts;
        const path = [...module.packagePath, name?.kind === "var" ? name.name : "", ...stringPath(rest)];
        if (path.join("\u0000") === key) yield item;
      }
    }
  }

  *#packageScope(scope: "package" | "subpackages", path: readonly string[]): IterableIterator<Annotations> {
    const key = path.join("\u0000");
    for (const module of this.#modules) {
      if (module.packagePath.join("\u0000") !== key) continue;
      for (const item of module.annotations) if (item.scope === scope) yield item;
    }
  }
}

function link(path: readonly string[], fields: Value | undefined): Value {
  const entry = new RegoObject();
  entry.set("path", [...path]);
  if (fields !== undefined) entry.set("annotations", fields);
  return entry;
}

function isMetadataCall(expr: Expr): "rule" | "chain" | undefined {
  if (expr.kind !== "expr-call") return undefined;
  const name = operatorName(expr.operator);
  return name === "rego.metadata.rule" ? "rule" : name === "rego.metadata.chain" ? "chain" : undefined;
}

function mentionsMetadata(rule: Rule): boolean {
  let isFound = false;
  replaceInBody(rule.body, (expr) => {
    isFound = true;
    return expr;
  });
  return isFound || (rule.elseRule !== undefined && mentionsMetadata(rule.elseRule));
}

function replaceCalls(rule: Rule, nearest: Value, chain: Value): Rule {
  const replace = (expr: Expr & { readonly kind: "expr-call" }): Expr => {
    const value = scalar(isMetadataCall(expr) === "rule" ? nearest : chain, expr.loc);
    const [output] = expr.args;
    if (output === undefined) return termExpr(value, expr.loc);
    return { ...callExpr("eq", [output, value], expr.loc, expr.withs), generated: true };
  };
  const elseRule = rule.elseRule === undefined ? undefined : replaceCalls(rule.elseRule, nearest, chain);
  return { ...rule, body: replaceInBody(rule.body, replace), elseRule };
}

function replaceInBody(body: Body, replace: (expr: Expr & { readonly kind: "expr-call" }) => Expr): Body {
  const inTerm = (term: Term): Term => {
    switch (term.kind) {
      case "array-comprehension":
      case "set-comprehension":
      case "object-comprehension":
        return { ...term, body: replaceInBody(term.body, replace) };
      case "array":
      case "set":
        return { ...term, items: term.items.map(inTerm) };
      case "object":
        return { ...term, entries: term.entries.map(([key, value]) => [inTerm(key), inTerm(value)]) };
      default:
        return term;
    }
  };
  return body.map((expr): Expr => {
    switch (expr.kind) {
      case "expr-call":
        if (isMetadataCall(expr) !== undefined) return replace(expr);
        return { ...expr, args: expr.args.map(inTerm) };
      case "expr-term":
        return { ...expr, term: inTerm(expr.term) };
      case "expr-every":
      case "expr-not":
        return { ...expr, body: replaceInBody(expr.body, replace) };
      case "expr-and":
      case "expr-or":
        return { ...expr, left: replaceInBody(expr.left, replace), right: replaceInBody(expr.right, replace) };
      default:
        return expr;
    }
  });
}

/** What modules define, found out once for their rules and for every query on them, and only as far as it is asked for. */
import { signatures } from "../builtins/signatures.ts";
import { type Module, operatorName, type RefTerm } from "../syntax/ast.ts";
import { rulePath } from "./build.ts";
import type { CompileOptions } from "./compile.ts";
import { type RuleNames, ruleNamesByPackage } from "./globals.ts";
import { once } from "./once.ts";
import type { Arity } from "./outputs.ts";
import { definedDocuments } from "./templates.ts";
import { type VirtualPaths, virtualPaths } from "./with-checks.ts";

/** Some of a set: whether a name is in it. */
export type NameSet = Pick<ReadonlySet<string>, "has">;

export interface Definitions {
  readonly ruleNames: RuleNames;
  /** How many operands each rule takes; what takes none may still be called with a place for its value. */
  readonly arities: ReadonlyMap<string, number>;
  readonly arity: Arity;
  /** Names of built-ins and (as `data.pkg.f`) of functions. */
  readonly functions: NameSet;
  /** Every path at or above a rule, as `data.pkg.r`. */
  readonly documents: NameSet;
  readonly virtual: VirtualPaths;
  /** The ref is to a rule that always has a value. */
  isDefined(ref: RefTerm): boolean;
}

export function definitionsOf(
  modules: readonly Module[],
  { customBuiltins }: Pick<CompileOptions, "customBuiltins">,
): Definitions {
  const arities = new Map<string, number>();
  const own = new Set<string>();
  for (const module of modules) {
    for (const rule of module.rules) {
      const name = `data.${rulePath(rule, module.packagePath).join(".")}`;
      if (!arities.has(name)) arities.set(name, rule.head.args?.length ?? 0);
      if (rule.head.args !== undefined) own.add(name);
    }
  }
  const documents = once(() => documentNames(modules));
  const isDefined = once(() => definedDocuments(modules));
  const virtual = once(() => virtualPaths(modules));
  return {
    ruleNames: ruleNamesByPackage(modules),
    arities,
    arity: arityOf(arities, customBuiltins),
    functions: { has: (name) => own.has(name) || signatures.has(name) || (customBuiltins?.has(name) ?? false) },
    documents: { has: (name) => documents().has(name) },
    virtual: { has: (path) => virtual().has(path) },
    isDefined: (ref) => isDefined()(ref),
  };
}

function documentNames(modules: readonly Module[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const module of modules) {
    for (const rule of module.rules) {
      const path = rulePath(rule, module.packagePath);
      for (let length = 1; length <= path.length; length++) names.add(`data.${path.slice(0, length).join(".")}`);
    }
  }
  return names;
}

function arityOf(arities: ReadonlyMap<string, number>, customBuiltins: CompileOptions["customBuiltins"]): Arity {
  return (expr) => {
    const name = operatorName(expr.operator) ?? "";
    const own = arities.get(name) ?? customBuiltins?.get(name)?.arity;
    if (own !== undefined) return own;
    const signature = signatures.get(name);
    if (signature === undefined) return undefined;
    return signature.operands.at(-1)?.startsWith("...") ? -1 : signature.operands.length;
  };
}

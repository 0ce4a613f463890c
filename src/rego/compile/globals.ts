/** What words mean in a module: its imports, and the rules of its package in whatever module they are. */
import type { Import, Module, RefTerm } from "../syntax/ast.ts";
import { noLocation, refOf, scalar, variable } from "../syntax/ast.ts";
import type { Globals } from "./scope.ts";

/** Rule names by the package's path (joined with a character that no name has). */
export type RuleNames = ReadonlyMap<string, ReadonlySet<string>>;

export function ruleNamesByPackage(modules: readonly Module[]): RuleNames {
  const names = new Map<string, Set<string>>();
  for (const module of modules) {
    const key = packageKey(module.packagePath);
    const known = names.get(key) ?? new Set();
    for (const rule of module.rules) {
      const [head] = rule.head.ref.parts;
      if (head?.kind === "var") known.add(head.name);
    }
    names.set(key, known);
  }
  return names;
}

export function globalsOf(module: Pick<Module, "packagePath" | "imports">, ruleNames: RuleNames): Globals {
  const globals = new Map<string, RefTerm>();
  for (const name of ruleNames.get(packageKey(module.packagePath)) ?? []) {
    globals.set(name, dataRef([...module.packagePath, name]));
  }
  for (const item of module.imports) {
    const name = importName(item);
    if (name !== undefined) globals.set(name, item.path);
  }
  return globals;
}

/** The word that an import adds; undefined for `future.keywords` and `rego.v1`. */
export function importName(item: Import): string | undefined {
  const [head] = item.path.parts;
  if (head?.kind !== "var" || head.name === "future" || head.name === "rego") return undefined;
  if (item.alias !== undefined) return item.alias;
  const last = item.path.parts.at(-1);
  if (last?.kind === "var") return last.name;
  return last?.kind === "scalar" && typeof last.value === "string" ? last.value : undefined;
}

export function dataRef(path: readonly string[]): RefTerm {
  return refOf([variable("data", noLocation), ...path.map((name) => scalar(name, noLocation))], noLocation);
}

export function packageKey(path: readonly string[]): string {
  return path.join("\u0000");
}

/** What v1 modules (and all modules in strict mode) may not do: shadow imports and documents, call deprecated built-ins. */
import { signatures } from "../builtins/signatures.ts";
import type { Body, Module, Rule } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import { printRef } from "../syntax/print.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { importName } from "./globals.ts";
import { eachExpr } from "./traverse.ts";

export function checkModule(module: Module, diagnostics: Diagnostics, strict: boolean): void {
  if (module.version !== "v1" && !strict) return;
  checkDuplicateImports(module, diagnostics);
  for (const rule of module.rules) {
    for (let branch: Rule | undefined = rule; branch !== undefined; branch = branch.elseRule) {
      checkShadowing(branch, diagnostics, branch === rule);
    }
  }
}

/** Strict mode: every import has to be used. */
export function checkImports(module: Module, used: ReadonlySet<string>, diagnostics: Diagnostics): void {
  for (const item of module.imports) {
    const name = importName(item);
    if (name === undefined || used.has(name)) continue;
    diagnostics.reportMinor(item.loc, `${importText(item)} unused`);
  }
}

function checkDuplicateImports(module: Module, diagnostics: Diagnostics): void {
  const seen = new Map<string, string>();
  for (const item of module.imports) {
    const path = printRef(item.path);
    const name = importName(item) ?? path;
    const earlier = seen.get(name);
    if (earlier !== undefined) {
      diagnostics.reportMinor(item.loc, `import must not shadow ${earlier}`);
    } else seen.set(name, importText(item));
  }
}

function importText(item: Module["imports"][number]): string {
  return `import ${printRef(item.path)}${item.alias === undefined ? "" : ` as ${item.alias}`}`;
}

function isReserved(name: string): boolean {
  return name === "input" || name === "data";
}

function checkShadowing(rule: Rule, diagnostics: Diagnostics, isFirst: boolean): void {
  const [head] = rule.head.ref.parts;
  if (isFirst && head?.kind === "var" && isReserved(head.name)) {
    diagnostics.reportMinor(rule.loc, `rules must not shadow ${head.name} (use a different rule name)`);
  }
  eachExpr(rule.body, (expr) => {
    if (expr.kind !== "expr-call") return;
    const name = operatorName(expr.operator);
    const [target] = expr.args;
    const root = target?.kind === "ref" && target.parts.length === 1 ? target.parts[0] : target;
    if (name === "assign" && root?.kind === "var" && isReserved(root.name)) {
      diagnostics.reportMinor(expr.loc, `variables must not shadow ${root.name} (use a different variable name)`);
    }
  });
}

/** Calls of built-ins that v1 took out; a rule of the package may have the same name. */
export function checkDeprecated(body: Body, diagnostics: Diagnostics): void {
  eachExpr(body, (expr) => {
    if (expr.kind !== "expr-call") return;
    const name = operatorName(expr.operator);
    if (name === undefined || !signatures.get(name)?.isDeprecated) return;
    diagnostics.reportMinor(expr.loc, `deprecated built-in function calls in expression: ${name}`, "rego_type_error");
  });
}

import type { Module, Rule } from "../syntax/ast.ts";
import type { Diagnostics } from "./diagnostics.ts";
export function checkWiths(_rule: Rule, _module: Module, _functions: ReadonlySet<string>, _modules: readonly Module[], _diagnostics: Diagnostics): void {}

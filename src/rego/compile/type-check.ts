import type { Module, Rule } from "../syntax/ast.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Names } from "./names.ts";
export function checkTypes(_rules: readonly { readonly rule: Rule; readonly module: Module }[], _functions: ReadonlyMap<string, number>, _names: Names, _diagnostics: Diagnostics): void {}

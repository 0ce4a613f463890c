import type { Rule } from "../syntax/ast.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Names } from "./names.ts";
export function checkRecursion(_rules: readonly { readonly rule: Rule; readonly path: readonly string[] }[], _names: Names, _diagnostics: Diagnostics): void {}

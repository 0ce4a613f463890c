import type { Module } from "../syntax/ast.ts";
import type { Diagnostics } from "./diagnostics.ts";
export function checkConflicts(_modules: readonly Module[], _diagnostics: Diagnostics): void {}

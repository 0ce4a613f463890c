import type { Module } from "../syntax/ast.ts";
import type { Diagnostics } from "./diagnostics.ts";
export function checkModule(_module: Module, _diagnostics: Diagnostics, _strict: boolean): void {}
export function checkImports(_module: Module, _used: ReadonlySet<string>, _diagnostics: Diagnostics): void {}

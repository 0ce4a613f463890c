/** Checks calls: the function exists, and it gets as many operands as it takes. */
import { signatures } from "../builtins/signatures.ts";
import type { Rule } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import { printRef } from "../syntax/print.ts";
import type { CompileOptions } from "./compile.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { eachExpr } from "./traverse.ts";

export function checkCalls(
  rule: Pick<Rule, "body"> & { readonly elseRule?: Rule | undefined },
  functions: ReadonlyMap<string, number>,
  options: Pick<CompileOptions, "unsafeBuiltins" | "customBuiltins">,
  diagnostics: Diagnostics,
): void {
  eachExpr(rule.body, (expr) => {
    if (expr.kind !== "expr-call") return;
    const name = operatorName(expr.operator) ?? printRef(expr.operator);
    const own = functions.get(name) ?? options.customBuiltins?.get(name)?.arity;
    const signature = own === undefined ? signatures.get(name) : undefined;
    const isVariadic = signature?.operands.at(-1)?.startsWith("...") ?? false;
    const arity = own ?? signature?.operands.length;
    if (arity === undefined) {
      // A variable has a generated name by now; what the author wrote says more.
      const shown = name.startsWith("@") ? expr.operator.loc.text : name;
      diagnostics.report("rego_type_error", expr.loc, `undefined function ${shown}`);
      return;
    }
    if (options.unsafeBuiltins?.has(name)) {
      diagnostics.report("rego_type_error", expr.loc, `unsafe built-in function calls in expression: ${name}`);
    }
    if (isVariadic) return;
    const hasResult = own !== undefined || signature?.result !== undefined;
    const isNested = expr.generated === true && name !== "eq";
    const given = expr.args.length - (isNested ? 1 : 0);
    if (given < arity || given > arity + (hasResult && !isNested ? 1 : 0)) {
      diagnostics.report("rego_type_error", expr.loc, `${name}: arity mismatch`, [
        `have: (${Array.from({ length: given }, () => "any").join(", ")})`,
        `want: (${Array.from({ length: arity }, () => "any").join(", ")})`,
      ]);
    }
  });
  if (rule.elseRule !== undefined) checkCalls(rule.elseRule, functions, options, diagnostics);
}

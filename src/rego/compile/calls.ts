/** Checks calls: the function exists, and it gets as many operands as it takes. */
import { signatures } from "../builtins/signatures.ts";
import type { Body, Expr, Rule, Term } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import { printRef } from "../syntax/print.ts";
import type { CompileOptions } from "./compile.ts";
import type { Diagnostics } from "./diagnostics.ts";

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

/** Every expression, also those of bodies inside. */
export function eachExpr(body: Body, visit: (expr: Expr) => void): void {
  const inTerm = (term: Term): void => {
    switch (term.kind) {
      case "ref":
        term.parts.forEach(inTerm);
        return;
      case "array":
      case "set":
        term.items.forEach(inTerm);
        return;
      case "object":
        for (const [key, value] of term.entries) {
          inTerm(key);
          inTerm(value);
        }
        return;
      case "array-comprehension":
      case "set-comprehension":
      case "object-comprehension":
        eachExpr(term.body, visit);
        return;
      case "call":
        term.args.forEach(inTerm);
        return;
      default:
        return;
    }
  };
  for (const expr of body) {
    visit(expr);
    for (const modifier of expr.withs) inTerm(modifier.value);
    switch (expr.kind) {
      case "expr-term":
        inTerm(expr.term);
        break;
      case "expr-call":
        expr.args.forEach(inTerm);
        break;
      case "expr-every":
        inTerm(expr.domain);
        eachExpr(expr.body, visit);
        break;
      case "expr-not":
        eachExpr(expr.body, visit);
        break;
      case "expr-and":
      case "expr-or":
        eachExpr(expr.left, visit);
        eachExpr(expr.right, visit);
        break;
      default:
        break;
    }
  }
}

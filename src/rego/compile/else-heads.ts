/**
 * What a rule with `else` may compute in the ref of its head. As in OPA, only the first branch gets its head computed by
 * its body, so whatever the other branches would have to look up there is unsafe.
 */
import type { Rule, Term } from "../syntax/ast.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Names } from "./names.ts";

export function checkElseHeads(rule: Rule, names: Names, diagnostics: Diagnostics): void {
  for (let branch = rule.elseRule; branch !== undefined; branch = branch.elseRule) {
    const found = new Set<string>();
    for (const part of branch.head.ref.parts.slice(1)) addNames(part, found);
    for (const name of found) {
      diagnostics.report("rego_unsafe_var_error", undefined, `var ${names.sourceOf(name)} is unsafe`);
    }
  }
}

/** Variables and the names of functions; the parser has refused bodies and templates. */
function addNames(term: Term, found: Set<string>): void {
  if (term.kind === "var") found.add(term.name);
  else if (term.kind === "ref") for (const part of term.parts) addNames(part, found);
  else if (term.kind === "array" || term.kind === "set") for (const item of term.items) addNames(item, found);
  else if (term.kind === "object") for (const part of term.entries.flat()) addNames(part, found);
  else if (term.kind === "call") for (const part of [...term.operator.parts, ...term.args]) addNames(part, found);
}

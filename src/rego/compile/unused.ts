/** Reports what is declared and never used. */
import type { Rule, Term } from "../syntax/ast.ts";
import { branchesOf } from "./dependencies.ts";
import type { ResolveContext, Resolving, Scope } from "./scope.ts";
import { eachMention } from "./variables.ts";

/**
 * What `some x` and `every` declare must be used in any mode, what `:=` assigns in strict mode. As in OPA, one body of
 * a rule speaks for all: bodies inside come first, and once something was reported the others are not looked at.
 */
export function reportUnused(scope: Scope, resolving: Resolving, heads: readonly Term[] = []): void {
  const inHeads = new Set<string>();
  for (const head of heads) eachMention(head, (name) => inHeads.add(name));
  for (const wanted of resolving.strict ? (["assigned", "declared"] as const) : (["declared"] as const)) {
    if (resolving.hasUnused || resolving.diagnostics.errors.length > resolving.errorsBefore) return;
    for (const [name, { occurrence, uses, loc }] of scope.declarations) {
      if (occurrence !== wanted || uses > 0 || inHeads.has(name)) continue;
      resolving.hasUnused = true;
      resolving.diagnostics.reportMinor(loc, `${wanted} var ${name} unused`);
    }
  }
}

export function reportUnusedArguments(rule: Rule, scope: Scope, { diagnostics }: ResolveContext): void {
  const branchCount = branchesOf(rule).length;
  for (const [name, declaration] of scope.declarations) {
    // Every branch of the rule mentions the arguments once in its head.
    if (declaration.uses >= branchCount) continue;
    diagnostics.reportMinor(rule.head.loc, `unused argument ${name}. (hint: use _ (wildcard variable) instead)`);
  }
}

/** Which rules of a group can succeed at all, from their conditions on input and arguments. */
import type { Value } from "../values/value.ts";
import type { Machine } from "./machine.ts";
import type { CompiledRule, RuleGroup } from "./program.ts";

export interface RuleIndex {
  readonly rules: readonly CompiledRule[];
}

export function candidateRules(
  group: RuleGroup,
  _indexes: (RuleIndex | undefined)[],
  _machine: Machine,
  _args: readonly Value[] | undefined,
): readonly CompiledRule[] {
  return group.rules;
}

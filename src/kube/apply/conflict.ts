/** Conflicts in words: as structured-merge-diff says them, and as the API answers them. */
import { compareUtf8, goQuote } from "../go-text.ts";
import { displayPath } from "./path-element.ts";
import type { Conflict } from "./updater.ts";

export const conflictText = (conflicts: readonly Conflict[]): string => textFor(conflicts, goQuote);

/** The message of the 409 that an apply answers; `describe` tells who a manager is. */
export function applyConflictMessage(conflicts: readonly Conflict[], describe: (manager: string) => string): string {
  const text = textFor(conflicts, describe);
  return `Apply failed with ${conflicts.length} ${conflicts.length === 1 ? "conflict" : "conflicts"}: ${text}`;
}

function textFor(conflicts: readonly Conflict[], describe: (manager: string) => string): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1) return `conflict with ${describe(first.manager)}: ${displayPath(first.path)}`;
  const byManager = Map.groupBy(conflicts, ({ manager }) => manager);
  const lines: string[] = [];
  for (const manager of [...byManager.keys()].sort(compareUtf8)) {
    lines.push(`conflicts with ${describe(manager)}:`);
    for (const { path } of byManager.get(manager) ?? []) lines.push(`- ${displayPath(path)}`);
  }
  return lines.join("\n");
}

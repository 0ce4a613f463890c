/** Conflicts in words: as structured-merge-diff says them, and as the API answers them. */
import { compareUtf8, goQuote } from "../go-text.ts";
import { identityOf } from "./managed-fields.ts";
import { displayPath } from "./path-element.ts";
import type { Conflict } from "./updater.ts";

export const conflictText = (conflicts: readonly Conflict[]): string => textFor(conflicts, goQuote);

/** One cause of the 409 that an apply answers. */
export interface FieldConflict {
  readonly reason: "FieldManagerConflict";
  readonly manager: string;
  readonly message: string;
  readonly field: string;
}

/** Conflicts whose managers are identity keys, as the API tells them. */
export function tellConflicts(conflicts: readonly Conflict[]): {
  readonly message: string;
  readonly conflicts: readonly FieldConflict[];
} {
  const count = `${conflicts.length} ${conflicts.length === 1 ? "conflict" : "conflicts"}`;
  return {
    message: `Apply failed with ${count}: ${textFor(conflicts, describeManager)}`,
    conflicts: conflicts.map(({ manager, path }) => ({
      reason: "FieldManagerConflict",
      manager: identityOf(manager).manager ?? "",
      message: `conflict with ${describeManager(manager)}`,
      field: displayPath(path),
    })),
  };
}

function describeManager(key: string): string {
  const { manager = "", operation, apiVersion, subresource } = identityOf(key);
  const name = subresource ? `${goQuote(manager)} with subresource ${goQuote(subresource)}` : goQuote(manager);
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
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

/** JSON Merge Patch (RFC 7386). What the patch does not touch keeps its identity; an unchanged document is returned as is. */
import { fieldOf, isMap, setField } from "../apply/json-value.ts";

export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const before = isMap(document) ? document : undefined;
  let after: Record<string, unknown> | undefined = before ? undefined : {};
  for (const name of Object.keys(patch)) {
    const change = patch[name];
    if (change === undefined) continue;
    const old = before && fieldOf(before, name);
    if (change === null) {
      if (old === undefined) continue;
      after ??= { ...before };
      delete after[name];
      continue;
    }
    const next = applyMergePatch(old, change);
    if (next === old) continue;
    after ??= { ...before };
    setField(after, name, next);
  }
  return after ?? document;
}

import type { Node } from "../../../api/builtin/cluster.ts";
import type { Effect } from "./definition.ts";

type Taint = NonNullable<Node["spec"]["taints"]>[number];

export const taintsPatch = (taints: readonly Taint[]): Effect => ({
  kind: "Patch",
  patch: { type: "merge", value: { spec: { taints: taints.length > 0 ? taints : null } } },
});

export const taintText = (taints: readonly Taint[]): string =>
  `taints: ${taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ""}:${effect}`).join(", ") || "none"}`;

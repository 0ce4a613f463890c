import type { Node } from "../../../api/builtin/cluster.ts";
import type { Pod } from "../../../api/builtin/pod.ts";
import type { Effect } from "./definition.ts";

type Taint = NonNullable<Node["spec"]["taints"]>[number];

export const taintsPatch = (taints: readonly Taint[]): Effect => ({
  kind: "Patch",
  patch: { type: "merge", value: { spec: { taints: taints.length > 0 ? taints : null } } },
});

export const taintText = (taints: readonly Taint[]): string =>
  `taints: ${taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ""}:${effect}`).join(", ") || "none"}`;

/** A taint that nobody may stay with removes the pods of every namespace that do not bear it, or bear it only for a while. */
export const isDrivenOutBy = (taint: Taint, pod: Pod): boolean =>
  taint.effect === "NoExecute" &&
  !(pod.spec.tolerations ?? []).some(
    ({ key = "", operator = "Equal", value = "", effect = "", tolerationSeconds }) =>
      tolerationSeconds === undefined &&
      (effect === "" || effect === taint.effect) &&
      (key === "" ? operator === "Exists" : key === taint.key) &&
      (operator === "Exists" || value === (taint.value ?? "")),
  );

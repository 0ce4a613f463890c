import type { Pod } from "../../api/builtin/pod.ts";

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export type Toleration = NonNullable<Pod["spec"]["tolerations"]>[number];

export const tolerates = (tolerations: readonly Toleration[] | undefined, taint: Taint): boolean =>
  (tolerations ?? []).some((toleration) => isFor(toleration, taint));

/**
 * How long a pod may stay on a node with these taints: not at all when it does not tolerate one of them, otherwise as long
 * as the least patient toleration says; undefined for ever.
 */
export function tolerationLeftMs(
  tolerations: readonly Toleration[] | undefined,
  taints: readonly Taint[],
): number | undefined {
  const waits: number[] = [];
  for (const taint of taints) {
    const fitting = (tolerations ?? []).filter((toleration) => isFor(toleration, taint));
    if (fitting.length === 0) return 0;
    for (const { tolerationSeconds } of fitting) {
      if (tolerationSeconds !== undefined) waits.push(Math.max(0, tolerationSeconds) * 1000);
    }
  }
  return waits.length === 0 ? undefined : Math.min(...waits);
}

function isFor({ key, operator = "Equal", value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (!key) return operator === "Exists";
  return key === taint.key && (operator === "Exists" || (value ?? "") === (taint.value ?? ""));
}

import type { ReplicaSet } from "../../api/builtin/workloads.ts";
import { availableOf, byAge, isRecreate, type RolloutDraft, replicasOf, sum } from "./draft.ts";
import { desiredReplicasAnnotation, maxReplicasAnnotation } from "./names.ts";

/** Somebody changed the number of replicas in the middle of things: every set that has pods gets its share of it. */
export function scaleAll(draft: RolloutDraft): void {
  const { newSet, desired } = draft;
  const active = draft.all.filter((set) => replicasOf(set) > 0);
  const only = active.length === 0 ? (newSet ?? draft.oldSets.at(-1)) : active.length === 1 ? active[0] : undefined;
  if (only !== undefined) {
    draft.scale(only, desired);
    return;
  }
  if (active.length === 0) return;
  if (newSet !== undefined && isSaturated(newSet, desired)) {
    for (const set of draft.oldSets.filter((old) => replicasOf(old) > 0)) draft.scale(set, 0);
    return;
  }
  if (!isRecreate(draft.deployment)) scaleProportionally(draft, active);
}

/** A set that was last told another number of replicas than the one wanted now. */
export const isScalingEvent = (draft: RolloutDraft): boolean =>
  draft.all.some(
    (set) => replicasOf(set) > 0 && (noted(set, desiredReplicasAnnotation) ?? draft.desired) !== draft.desired,
  );

const isSaturated = (set: ReplicaSet, desired: number): boolean =>
  replicasOf(set) === desired && noted(set, desiredReplicasAnnotation) === desired && availableOf(set) === desired;

function scaleProportionally(draft: RolloutDraft, active: readonly ReplicaSet[]): void {
  const allowed = draft.desired > 0 ? draft.desired + draft.maxSurge : 0;
  const toAdd = allowed - sum(active, replicasOf);
  const ordered = [...active].sort(toAdd > 0 ? largestThenNewest : largestThenOldest);
  let added = 0;
  const sizes = ordered.map((set) => {
    const share = proportion(draft, set, toAdd, added);
    added += share;
    return replicasOf(set) + share;
  });
  for (const [index, set] of ordered.entries()) {
    // What rounding left over goes to the largest set.
    const leftover = index === 0 && toAdd !== 0 ? toAdd - added : 0;
    draft.scale(set, Math.max(0, (sizes[index] ?? 0) + leftover));
  }
}

function proportion(draft: RolloutDraft, set: ReplicaSet, toAdd: number, added: number): number {
  const own = replicasOf(set);
  if (own === 0 || toAdd === 0 || toAdd === added) return 0;
  const fraction = fractionOf(draft, set);
  return toAdd > 0 ? Math.min(fraction, toAdd - added) : Math.max(fraction, toAdd - added);
}

function fractionOf(draft: RolloutDraft, set: ReplicaSet): number {
  const own = replicasOf(set);
  if (draft.desired === 0) return -own;
  const before = noted(set, maxReplicasAnnotation) ?? draft.deployment.status?.replicas ?? 0;
  if (before <= 0) return 0;
  return Math.round((own * (draft.desired + draft.maxSurge)) / before) - own;
}

function noted(set: ReplicaSet, annotation: string): number | undefined {
  const text = set.metadata.annotations?.[annotation];
  if (text === undefined || !/^\d{1,9}$/.test(text)) return undefined;
  return Number(text);
}

const largestThenNewest = (left: ReplicaSet, right: ReplicaSet): number =>
  replicasOf(right) - replicasOf(left) || byAge(right, left);
const largestThenOldest = (left: ReplicaSet, right: ReplicaSet): number =>
  replicasOf(right) - replicasOf(left) || byAge(left, right);

import { availableOf, type RolloutDraft, replicasOf, sum } from "./draft.ts";
import { newSetReplicas, settleNewSet } from "./revisions.ts";

/** One step of a rolling update: first the new set grows, and only when it may not, the old ones shrink. */
export function rollOn(draft: RolloutDraft): void {
  settleNewSet(draft, true);
  if (draft.created.length > 0 || growNew(draft)) return;
  shrinkOld(draft);
}

/** All old pods go before the first new one comes. `oldPodsLeft`: some have not ended yet. */
export function recreate(draft: RolloutDraft, oldPodsLeft: boolean): void {
  settleNewSet(draft, false);
  const active = draft.oldSets.filter((set) => replicasOf(set) > 0);
  for (const set of active) draft.scale(set, 0);
  if (active.length > 0 || oldPodsLeft) return;
  settleNewSet(draft, true);
  if (draft.created.length === 0) growNew(draft);
}

function growNew(draft: RolloutDraft): boolean {
  const { newSet, desired } = draft;
  if (newSet === undefined) return false;
  const own = replicasOf(newSet);
  if (own === desired) return false;
  return draft.scale(newSet, own > desired ? desired : newSetReplicas(draft));
}

function shrinkOld(draft: RolloutDraft): void {
  const { newSet } = draft;
  if (newSet === undefined || sum(draft.oldSets, replicasOf) === 0) return;
  const minAvailable = draft.desired - draft.maxUnavailable;
  const newUnavailable = replicasOf(newSet) - availableOf(newSet);
  const mayGo = sum(draft.all, replicasOf) - minAvailable - newUnavailable;
  if (mayGo <= 0) return;
  dropUnhealthy(draft, mayGo);
  let spare = sum(draft.all, availableOf) - minAvailable;
  for (const set of draft.oldSets) {
    if (spare <= 0) return;
    const gone = Math.min(replicasOf(set), spare);
    if (gone === 0) continue;
    draft.scale(set, replicasOf(set) - gone);
    spare -= gone;
  }
}

/** Old pods that do not serve anyway cost nothing, and would otherwise hold up the rollout for ever. */
function dropUnhealthy(draft: RolloutDraft, mayGo: number): void {
  let left = mayGo;
  for (const set of draft.oldSets) {
    if (left <= 0) return;
    const unhealthy = Math.min(left, replicasOf(set) - availableOf(set));
    if (unhealthy <= 0) continue;
    draft.scale(set, replicasOf(set) - unhealthy);
    left -= unhealthy;
  }
}

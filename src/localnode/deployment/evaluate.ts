import type { Deployment, ReplicaSet } from "../../api/builtin/workloads.ts";
import { findCondition } from "../../kube/condition.ts";
import { isRecreate, RolloutDraft } from "./draft.ts";
import { dropOldRevisions, revisionOf, settleNewSet } from "./revisions.ts";
import { recreate, rollOn } from "./rollout.ts";
import { isScalingEvent, scaleAll } from "./scale.ts";
import {
  type Conditions,
  condition,
  countedStatus,
  type DeploymentStatus,
  hasDeadline,
  isComplete,
  rolloutStatus,
  withCondition,
} from "./status.ts";

export interface DeploymentSnapshot {
  readonly deployment: Deployment;
  readonly sets: readonly ReplicaSet[];
  /** Uids of sets whose pods have not all ended. */
  readonly setsWithPods: ReadonlySet<string>;
  readonly now: Date;
}

export interface DeploymentDecision {
  readonly draft: RolloutDraft;
  readonly status: DeploymentStatus;
  /** The number of the current revision, as the Deployment carries it. */
  readonly revision?: string;
}

/** What is to be done for a Deployment now: one step, after which the world is looked at again. */
export function evaluate(snapshot: DeploymentSnapshot): DeploymentDecision {
  const { deployment, now } = snapshot;
  const draft = new RolloutDraft(deployment, snapshot.sets);
  if (deployment.metadata.deletionTimestamp !== undefined) {
    settleNewSet(draft, false);
    const untouched = new RolloutDraft(deployment, snapshot.sets);
    return { draft: untouched, status: countedStatus(draft, deployment.status?.conditions ?? [], now) };
  }
  const conditions = withPause(deployment, now);
  if (deployment.spec.paused || isScalingEvent(draft)) {
    settleNewSet(draft, false);
    scaleAll(draft);
    if (deployment.spec.paused) dropOldRevisions(draft);
    return decided(draft, countedStatus(draft, withNewSet(draft, conditions, now), now));
  }
  if (isRecreate(deployment)) recreate(draft, hasOldPods(snapshot));
  else rollOn(draft);
  const status = rolloutStatus(draft, withNewSet(draft, conditions, now), now);
  if (isComplete(draft, status)) dropOldRevisions(draft);
  return decided(draft, status);
}

function decided(draft: RolloutDraft, status: DeploymentStatus): DeploymentDecision {
  const revision = draft.newSet === undefined ? 0 : revisionOf(draft.newSet);
  return { draft, status, ...(revision > 0 && { revision: String(revision) }) };
}

function hasOldPods({ deployment, sets, setsWithPods }: DeploymentSnapshot): boolean {
  const draft = new RolloutDraft(deployment, sets);
  settleNewSet(draft, false);
  return draft.oldSets.some(
    ({ metadata, status }) => (status?.replicas ?? 0) > 0 || setsWithPods.has(metadata.uid ?? ""),
  );
}

function withPause({ spec, status }: Deployment, now: Date): Conditions {
  const conditions = status?.conditions ?? [];
  if (!hasDeadline(spec)) return conditions;
  const current = findCondition(conditions, "Progressing");
  // A rollout that was called stuck stays so: pausing it does not make it any better.
  if (current?.reason === "ProgressDeadlineExceeded") return conditions;
  const isMarked = current?.reason === "DeploymentPaused";
  if (spec.paused && !isMarked) {
    return withCondition(
      conditions,
      condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", now),
    );
  }
  if (!spec.paused && isMarked) {
    const resumed = condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed", now);
    return withCondition(conditions, resumed);
  }
  return conditions;
}

function withNewSet(draft: RolloutDraft, conditions: Conditions, now: Date): Conditions {
  const { newSet, deployment } = draft;
  if (newSet === undefined || !hasDeadline(deployment.spec)) return conditions;
  const { name } = newSet.metadata;
  if (draft.created.includes(newSet)) {
    const made = condition("Progressing", "True", "NewReplicaSetCreated", `Created new replica set "${name}"`, now);
    return withCondition(conditions, made);
  }
  if (findCondition(conditions, "Progressing") !== undefined) return conditions;
  const found = condition("Progressing", "True", "FoundNewReplicaSet", `Found new replica set "${name}"`, now);
  return withCondition(conditions, found);
}

import type { Deployment, ReplicaSet } from "../../api/builtin/workloads.ts";
import { findCondition } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import { timeMs } from "../workloads/pod-facts.ts";
import { availableOf, type RolloutDraft, replicasOf, sum } from "./draft.ts";

export type DeploymentStatus = NonNullable<Deployment["status"]>;
export type DeploymentCondition = NonNullable<DeploymentStatus["conditions"]>[number];

/** The numbers and whether enough pods serve; says nothing about progress. */
export function countedStatus(draft: RolloutDraft, conditions: Conditions, now: Date): DeploymentStatus {
  const { deployment, newSet, all } = draft;
  const available = sum(all, availableOf);
  const collisionCount = deployment.status?.collisionCount;
  const enough = available >= draft.desired - draft.maxUnavailable;
  const availability = enough
    ? condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", now)
    : condition(
        "Available",
        "False",
        "MinimumReplicasUnavailable",
        "Deployment does not have minimum availability.",
        now,
      );
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...nonZero(
      "replicas",
      sum(all, ({ status }) => status?.replicas ?? 0),
    ),
    ...nonZero("updatedReplicas", newSet?.status?.replicas ?? 0),
    ...nonZero(
      "readyReplicas",
      sum(all, ({ status }) => status?.readyReplicas ?? 0),
    ),
    ...nonZero("availableReplicas", available),
    ...nonZero("unavailableReplicas", Math.max(0, sum(all, replicasOf) - available)),
    terminatingReplicas: sum(all, ({ status }) => status?.terminatingReplicas ?? 0),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: withCondition(conditions, availability),
  };
}

/** Adds how the rollout is coming on, and whether pods cannot be made. */
export function rolloutStatus(draft: RolloutDraft, conditions: Conditions, now: Date): DeploymentStatus {
  const counted = countedStatus(draft, conditions, now);
  const progressed = withProgress(draft, counted, now);
  return { ...counted, conditions: withReplicaFailure(draft, progressed, now) };
}

/** Milliseconds until a rollout that does not move has to be called stuck. */
export function stuckInMs({ spec }: Deployment, status: DeploymentStatus, now: Date): number | undefined {
  const current = findCondition(status.conditions, "Progressing");
  if (!hasDeadline(spec) || current === undefined) return undefined;
  if (current.reason === newSetAvailable || current.reason === timedOut) return undefined;
  const since = timeMs(current.lastUpdateTime) ?? now.getTime();
  return Math.max(0, since + (spec.progressDeadlineSeconds ?? 0) * 1000 - now.getTime()) + 1000;
}

export type Conditions = readonly DeploymentCondition[];

/** A condition that says the same keeps its times. */
export function withCondition(conditions: Conditions, next: DeploymentCondition): Conditions {
  const current = findCondition(conditions, next.type);
  if (current !== undefined && current.status === next.status && current.reason === next.reason) return conditions;
  return replaced(conditions, current?.status === next.status ? keepTransition(next, current) : next);
}

export const condition = (
  type: string,
  status: DeploymentCondition["status"],
  reason: string,
  message: string,
  now: Date,
): DeploymentCondition => ({
  type,
  status,
  lastUpdateTime: formatTime(now),
  lastTransitionTime: formatTime(now),
  reason,
  message,
});

export const hasDeadline = ({ progressDeadlineSeconds }: Deployment["spec"]): boolean =>
  progressDeadlineSeconds !== undefined && progressDeadlineSeconds !== neverStuck;

/** The value that the API uses for "no deadline". */
const neverStuck = 2 ** 31 - 1;
const newSetAvailable = "NewReplicaSetAvailable";
const timedOut = "ProgressDeadlineExceeded";

export const isComplete = ({ deployment, desired }: RolloutDraft, status: DeploymentStatus): boolean =>
  (status.updatedReplicas ?? 0) === desired &&
  (status.replicas ?? 0) === desired &&
  (status.availableReplicas ?? 0) === desired &&
  (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);

function withProgress(draft: RolloutDraft, status: DeploymentStatus, now: Date): Conditions {
  const { deployment, newSet } = draft;
  const conditions = status.conditions ?? [];
  if (!hasDeadline(deployment.spec)) return conditions.filter(({ type }) => type !== "Progressing");
  const current = findCondition(conditions, "Progressing");
  const isDone = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === newSetAvailable;
  if (isDone) return conditions;
  const subject =
    newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`;
  const say = (is: "True" | "False", reason: string, how: string): DeploymentCondition =>
    condition("Progressing", is, reason, `${subject} ${how}`, now);
  if (isComplete(draft, status)) {
    return withCondition(conditions, say("True", newSetAvailable, "has successfully progressed."));
  }
  if (isProgressing(deployment.status ?? {}, status)) {
    const next = say("True", "ReplicaSetUpdated", "is progressing.");
    // The time of the last update is the proof of life that the deadline counts from, so it moves with every step.
    return replaced(conditions, current?.status === "True" ? keepTransition(next, current) : next);
  }
  if (isTimedOut(deployment, current, now)) {
    return withCondition(conditions, say("False", timedOut, "has timed out progressing."));
  }
  return conditions;
}

function isProgressing(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const count = (
    status: DeploymentStatus,
    name: "replicas" | "updatedReplicas" | "readyReplicas" | "availableReplicas",
  ) => status[name] ?? 0;
  const old = (status: DeploymentStatus): number => count(status, "replicas") - count(status, "updatedReplicas");
  return (
    count(after, "updatedReplicas") > count(before, "updatedReplicas") ||
    old(after) < old(before) ||
    count(after, "readyReplicas") > count(before, "readyReplicas") ||
    count(after, "availableReplicas") > count(before, "availableReplicas")
  );
}

function isTimedOut({ spec }: Deployment, current: DeploymentCondition | undefined, now: Date): boolean {
  if (current === undefined || current.reason === newSetAvailable) return false;
  if (current.reason === timedOut) return true;
  const since = timeMs(current.lastUpdateTime) ?? now.getTime();
  return since + (spec.progressDeadlineSeconds ?? 0) * 1000 < now.getTime();
}

function withReplicaFailure(draft: RolloutDraft, conditions: Conditions, now: Date): Conditions {
  const failureOf = (set: ReplicaSet): DeploymentCondition | undefined =>
    findCondition(set.status?.conditions, "ReplicaFailure");
  const failure = (draft.newSet && failureOf(draft.newSet)) ?? draft.all.map(failureOf).find((found) => found);
  if (failure === undefined) return conditions.filter(({ type }) => type !== "ReplicaFailure");
  const { status, reason = "", message = "" } = failure;
  return withCondition(conditions, condition("ReplicaFailure", status, reason, message, now));
}

const keepTransition = (next: DeploymentCondition, current: DeploymentCondition): DeploymentCondition => ({
  ...next,
  ...(current.lastTransitionTime !== undefined && { lastTransitionTime: current.lastTransitionTime }),
});

const replaced = (conditions: Conditions, next: DeploymentCondition): Conditions => [
  ...conditions.filter(({ type }) => type !== next.type),
  next,
];

/** The API leaves out counts of nothing. */
const nonZero = (name: string, count: number): Readonly<Record<string, number>> =>
  count === 0 ? {} : { [name]: count };

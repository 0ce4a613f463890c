import type { Pod } from "../../api/builtin/pod.ts";
import type { StatefulSet } from "../../api/builtin/workloads.ts";
import { revisionHashLabel } from "../revision/history.ts";
import { isPodAvailable, isPodFinished, isPodReady, isPodTerminating } from "../workloads/pod-facts.ts";
import { scaledCount } from "../workloads/scaled-count.ts";

export interface StatefulSnapshot {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  /** Names of the revision that all pods had, and of the one that they shall have. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly now: Date;
}

export interface StatefulPlan {
  readonly create: readonly { readonly ordinal: number; readonly revision: string }[];
  readonly remove: readonly Pod[];
  readonly status: StatefulStatus;
}

export type StatefulStatus = NonNullable<StatefulSet["status"]>;

/** The next step for a StatefulSet: in order, one pod after the other, unless it asks for all at once. */
export function evaluate(snapshot: StatefulSnapshot): StatefulPlan {
  const { set, pods } = snapshot;
  const first = startOf(set);
  const replicas = set.spec.replicas ?? 1;
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const wanted = Array.from({ length: replicas }, (_, index) => first + index);
  const condemned = pods
    .filter((pod) => !wanted.includes(ordinalOf(set, pod) ?? -1))
    .sort((left, right) => (ordinalOf(set, right) ?? 0) - (ordinalOf(set, left) ?? 0));
  const step = set.metadata.deletionTimestamp === undefined ? nextStep(snapshot, wanted, byOrdinal, condemned) : noStep;
  return { ...step, status: statusOf(snapshot, step.create.length) };
}

export const startOf = ({ spec }: StatefulSet): number =>
  (spec as { readonly ordinals?: { readonly start?: number } }).ordinals?.start ?? 0;

export function ordinalOf({ metadata }: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${metadata.name}-`;
  const text = pod.metadata.name.startsWith(prefix) ? pod.metadata.name.slice(prefix.length) : "";
  return /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : undefined;
}

type Step = Pick<StatefulPlan, "create" | "remove">;
const noStep: Step = { create: [], remove: [] };

function nextStep(
  snapshot: StatefulSnapshot,
  wanted: readonly number[],
  byOrdinal: ReadonlyMap<number | undefined, Pod>,
  condemned: readonly Pod[],
): Step {
  const { set, now } = snapshot;
  const isOrdered = set.spec.podManagementPolicy !== "Parallel";
  const create: { ordinal: number; revision: string }[] = [];
  const remove: Pod[] = [];
  const isHealthy = (pod: Pod): boolean =>
    isPodReady(pod) && !isPodTerminating(pod) && isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  for (const ordinal of wanted) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) create.push({ ordinal, revision: revisionFor(snapshot, ordinal) });
    else if (isPodFinished(pod) && !isPodTerminating(pod)) remove.push(pod);
    else if (isHealthy(pod)) continue;
    if (isOrdered) return { create, remove };
  }
  if (create.length + remove.length > 0) return { create, remove };
  const leaving = condemned.filter((pod) => !isPodTerminating(pod));
  if (condemned.length > 0) {
    if (!isOrdered) return { create, remove: leaving };
    // One at a time, the last one first, and only when the one before it is gone.
    return condemned.some(isPodTerminating) ? noStep : { create, remove: leaving.slice(0, 1) };
  }
  return { create, remove: outdated(snapshot, wanted, byOrdinal, isHealthy) };
}

/** Below the partition pods keep the revision that they have. */
function revisionFor({ set, currentRevision, updateRevision }: StatefulSnapshot, ordinal: number): string {
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  const keeps = set.spec.updateStrategy?.type !== "OnDelete" && ordinal < startOf(set) + partition;
  return keeps ? currentRevision : updateRevision;
}

function outdated(
  { set, updateRevision }: StatefulSnapshot,
  wanted: readonly number[],
  byOrdinal: ReadonlyMap<number | undefined, Pod>,
  isHealthy: (pod: Pod) => boolean,
): readonly Pod[] {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === "OnDelete") return [];
  const partition = rollingUpdate?.partition ?? 0;
  const maxUnavailable = Math.max(1, scaledCount(rollingUpdate?.maxUnavailable ?? 1, wanted.length, "up"));
  const inReach = wanted.filter((ordinal) => ordinal >= startOf(set) + partition).reverse();
  const pods = inReach.map((ordinal) => byOrdinal.get(ordinal)).filter((pod) => pod !== undefined);
  const isOutdated = (pod: Pod): boolean => revisionName(pod) !== updateRevision && !isPodTerminating(pod);
  // An old pod that is not healthy is no reason to wait: to replace it is what makes it well.
  let room = maxUnavailable - pods.filter((pod) => !isHealthy(pod) && !isOutdated(pod)).length;
  const remove: Pod[] = [];
  for (const pod of pods) {
    if (room <= 0) break;
    if (!isOutdated(pod)) continue;
    remove.push(pod);
    room--;
  }
  return remove;
}

const revisionName = (pod: Pod): string | undefined => pod.metadata.labels?.[revisionHashLabel];

function statusOf(snapshot: StatefulSnapshot, created: number): StatefulStatus {
  const { set, pods, currentRevision, updateRevision, now } = snapshot;
  const there = pods.filter((pod) => !isPodFinished(pod));
  const count = (holds: (pod: Pod) => boolean): number => there.filter(holds).length;
  const has = (revision: string) => (pod: Pod) => revisionName(pod) === revision && !isPodTerminating(pod);
  const replicas = there.length + created;
  const ready = count(isPodReady);
  const updated = count(has(updateRevision)) + created;
  const isDone = updated === (set.spec.replicas ?? 1) && replicas === updated && ready === updated && created === 0;
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas,
    ...positive("readyReplicas", ready),
    ...positive(
      "currentReplicas",
      isDone ? updated : count(has(currentRevision)) + (currentRevision === updateRevision ? created : 0),
    ),
    ...positive("updatedReplicas", updated),
    currentRevision: isDone ? updateRevision : currentRevision,
    updateRevision,
    collisionCount: set.status?.collisionCount ?? 0,
    availableReplicas: count((pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now)),
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  };
}

const positive = (name: string, value: number): Readonly<Record<string, number>> =>
  value === 0 ? {} : { [name]: value };

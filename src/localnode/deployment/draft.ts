import type { Deployment, ReplicaSet } from "../../api/builtin/workloads.ts";
import type { EventNote } from "../../runtime/events.ts";
import { rollingLimits } from "../workloads/scaled-count.ts";
import { desiredReplicasAnnotation, maxReplicasAnnotation } from "./names.ts";

/**
 * What one look at a Deployment wants to change, collected step by step. Reads answer as if the steps so far had been
 * done already, so that the status that is computed at the end is about what will be there.
 */
export class RolloutDraft {
  readonly deployment: Deployment;
  readonly desired: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly events: EventNote[] = [];
  readonly doomed: ReplicaSet[] = [];
  readonly #before: ReadonlyMap<string, ReplicaSet>;
  readonly #sets: Map<string, ReplicaSet>;
  #newName: string | undefined;

  constructor(deployment: Deployment, sets: readonly ReplicaSet[]) {
    this.deployment = deployment;
    this.desired = deployment.spec.replicas ?? 1;
    const isRolling = !isRecreate(deployment);
    const limits = isRolling
      ? rollingLimits(deployment.spec.strategy?.rollingUpdate, this.desired)
      : { maxSurge: 0, maxUnavailable: 0 };
    this.maxSurge = limits.maxSurge;
    this.maxUnavailable = Math.min(limits.maxUnavailable, this.desired);
    this.#before = new Map(sets.map((set) => [set.metadata.name, set]));
    this.#sets = new Map(this.#before);
  }

  get newSet(): ReplicaSet | undefined {
    return this.#newName === undefined ? undefined : this.#sets.get(this.#newName);
  }
  /** Oldest first. */
  get oldSets(): readonly ReplicaSet[] {
    return this.all.filter(({ metadata }) => metadata.name !== this.#newName);
  }
  get all(): readonly ReplicaSet[] {
    return [...this.#sets.values()].sort(byAge);
  }
  /** Sets that are to be made; their objects have no uid yet. */
  get created(): readonly ReplicaSet[] {
    return this.all.filter(({ metadata }) => !this.#before.has(metadata.name));
  }
  get changed(): readonly { readonly before: ReplicaSet; readonly after: ReplicaSet }[] {
    return this.all.flatMap((after) => {
      const before = this.#before.get(after.metadata.name);
      return before === undefined || before === after ? [] : [{ before, after }];
    });
  }

  useAsNew(set: ReplicaSet): void {
    this.#newName = set.metadata.name;
    this.put(set);
  }

  put(set: ReplicaSet): void {
    this.#sets.set(set.metadata.name, set);
  }

  remove(set: ReplicaSet): void {
    this.doomed.push(set);
  }

  /** Answers whether the number of pods changes; the notes on the set are brought up to date in any case. */
  scale(set: ReplicaSet, replicas: number): boolean {
    const from = replicasOf(set);
    const annotations = this.replicaNotes();
    const isNoted = Object.entries(annotations).every(([key, value]) => set.metadata.annotations?.[key] === value);
    if (from === replicas && isNoted) return false;
    this.put({
      ...set,
      metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...annotations } },
      spec: { ...set.spec, replicas },
    });
    if (from === replicas) return false;
    const direction = replicas > from ? "up" : "down";
    this.events.push({
      type: "Normal",
      reason: "ScalingReplicaSet",
      message: `Scaled ${direction} replica set ${set.metadata.name} from ${from} to ${replicas}`,
    });
    return true;
  }

  /** What a set is told about the Deployment's size, for proportional scaling later. */
  replicaNotes(): Readonly<Record<string, string>> {
    return {
      [desiredReplicasAnnotation]: String(this.desired),
      [maxReplicasAnnotation]: String(this.desired + this.maxSurge),
    };
  }
}

export const isRecreate = ({ spec }: Deployment): boolean => spec.strategy?.type === "Recreate";

export const replicasOf = (set: ReplicaSet): number => set.spec.replicas ?? 1;
export const availableOf = (set: ReplicaSet): number => set.status?.availableReplicas ?? 0;
export const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number): number =>
  sets.reduce((total, set) => total + count(set), 0);

export function byAge(left: ReplicaSet, right: ReplicaSet): number {
  const [a, b] = [left.metadata.creationTimestamp ?? "9", right.metadata.creationTimestamp ?? "9"];
  if (a !== b) return a < b ? -1 : 1;
  return left.metadata.name < right.metadata.name ? -1 : 1;
}

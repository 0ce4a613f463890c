import type { Node } from "../../api/builtin/cluster.ts";
import type { Pod } from "../../api/builtin/pod.ts";
import type { DaemonSet } from "../../api/builtin/workloads.ts";
import { wantsNode } from "../node/node-affinity.ts";
import { tolerates } from "../node/tolerate.ts";
import { revisionHashLabel } from "../revision/history.ts";
import { isPodAvailable, isPodFinished, isPodReady, isPodTerminating } from "../workloads/pod-facts.ts";
import { scaledCount } from "../workloads/scaled-count.ts";

export interface DaemonSnapshot {
  readonly set: DaemonSet;
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  readonly hash: string;
  readonly now: Date;
}

export interface DaemonPlan {
  /** Names of the nodes that lack a pod. */
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
  readonly status: NonNullable<DaemonSet["status"]>;
}

/** Whatever else happens to a node, its daemons stay. */
export const daemonTolerations = [
  ...["not-ready", "unreachable"].map((name) => ({
    key: `node.kubernetes.io/${name}`,
    operator: "Exists",
    effect: "NoExecute",
  })),
  ...["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map((name) => ({
    key: `node.kubernetes.io/${name}`,
    operator: "Exists",
    effect: "NoSchedule",
  })),
];

export function evaluate({ set, pods, nodes, hash, now }: DaemonSnapshot): DaemonPlan {
  const eligible = new Set(nodes.filter((node) => runsOn(set, node)).map(({ metadata }) => metadata.name));
  const create: string[] = [];
  const remove: Pod[] = [];
  const minReadySeconds = set.spec.minReadySeconds ?? 0;
  const isAvailable = (pod: Pod): boolean => isPodAvailable(pod, minReadySeconds, now) && !isPodTerminating(pod);
  const isUpdated = ({ metadata }: Pod): boolean => metadata.labels?.[revisionHashLabel] === hash;
  const isLeaving = set.metadata.deletionTimestamp !== undefined;
  const kept: Pod[] = [];
  for (const node of nodes.map(({ metadata }) => metadata.name)) {
    const there = pods.filter((pod) => nodeOf(pod) === node);
    const alive = there.filter((pod) => !isPodTerminating(pod));
    const [keep, ...surplus] = [...alive.filter((pod) => !isPodFinished(pod)), ...alive.filter(isPodFinished)];
    if (!eligible.has(node)) remove.push(...alive);
    else if (keep === undefined) {
      // The next one comes when the last one has gone.
      if (there.length === 0 && !isLeaving) create.push(node);
    } else {
      if (isPodFinished(keep)) remove.push(keep);
      else kept.push(keep);
      remove.push(...surplus);
    }
  }
  if (isLeaving) return { create: [], remove: [], status: statusOf() };
  remove.push(...outdated(set, kept, eligible.size, isUpdated, isAvailable));
  return { create, remove, status: statusOf() };

  function statusOf(): DaemonPlan["status"] {
    const scheduled = pods.filter(
      (pod) => eligible.has(nodeOf(pod) ?? "") && !isPodTerminating(pod) && !isPodFinished(pod),
    );
    const available = scheduled.filter(isAvailable).length;
    const unavailable = eligible.size - available;
    return {
      observedGeneration: set.metadata.generation ?? 0,
      currentNumberScheduled: scheduled.length,
      numberMisscheduled: pods.filter((pod) => !eligible.has(nodeOf(pod) ?? "") && !isPodTerminating(pod)).length,
      desiredNumberScheduled: eligible.size,
      numberReady: scheduled.filter(isPodReady).length,
      ...positive("updatedNumberScheduled", scheduled.filter(isUpdated).length),
      ...positive("numberAvailable", available),
      ...positive("numberUnavailable", unavailable),
      ...(set.status?.collisionCount !== undefined && { collisionCount: set.status.collisionCount }),
    };
  }
}

function runsOn(set: DaemonSet, node: Node): boolean {
  const { spec } = set.spec.template;
  const all = [...(spec.tolerations ?? []), ...daemonTolerations];
  return (
    wantsNode(spec, node) &&
    (node.spec.taints ?? []).every((taint) => taint.effect === "PreferNoSchedule" || tolerates(all, taint))
  );
}

/** Where a pod is, or is meant to be. */
export function nodeOf(pod: Pod): string | undefined {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  const { nodeAffinity } = (pod.spec.affinity ?? {}) as {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms?: readonly {
          readonly matchFields?: readonly { readonly values?: readonly string[] }[];
        }[];
      };
    };
  };
  const [term] = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return term?.matchFields?.[0]?.values?.[0];
}

function outdated(
  set: DaemonSet,
  pods: readonly Pod[],
  desired: number,
  isUpdated: (pod: Pod) => boolean,
  isAvailable: (pod: Pod) => boolean,
): readonly Pod[] {
  const { type, rollingUpdate } = (set.spec.updateStrategy ?? {}) as {
    readonly type?: string;
    readonly rollingUpdate?: { readonly maxUnavailable?: number | string };
  };
  if (type === "OnDelete") return [];
  const maxUnavailable = Math.max(1, scaledCount(rollingUpdate?.maxUnavailable ?? 1, desired, "up"));
  const old = pods.filter((pod) => !isUpdated(pod));
  const broken = old.filter((pod) => !isAvailable(pod));
  const room = maxUnavailable - (desired - pods.filter(isAvailable).length) + broken.length;
  return [...broken, ...old.filter(isAvailable)].slice(0, Math.max(broken.length, room));
}

const positive = (name: string, value: number): Readonly<Record<string, number>> =>
  value === 0 ? {} : { [name]: value };

import { type Deployment, Deployment as DeploymentKind, ReplicaSet } from "../../api/builtin/workloads.ts";
import { deepEqual } from "../../kube/equality.ts";
import { apiVersionOf } from "../../kube/kind.ts";
import { controllerReference } from "../../kube/owner-reference.ts";
import { contentHash } from "../workloads/template-hash.ts";
import { byAge, isRecreate, type RolloutDraft, replicasOf, sum } from "./draft.ts";
import { hashLabel, ownAnnotations, revisionAnnotation, revisionHistoryAnnotation } from "./names.ts";

/** Finds the set of the current template and numbers it as the newest; makes it where that is wanted. */
export function settleNewSet(draft: RolloutDraft, make: boolean): void {
  const { deployment } = draft;
  const found = draft.all.filter((set) => hasTemplateOf(set, deployment))[0];
  const others = draft.all.filter((set) => set !== found);
  const revision = Math.max(0, ...others.map(revisionOf)) + 1;
  if (found !== undefined) draft.useAsNew(renumbered(found, draft, revision));
  if (found !== undefined || !make) return;
  const set = newSet(draft, revision);
  draft.useAsNew(set);
  draft.put({ ...set, spec: { ...set.spec, replicas: 0 } });
  const replicas = newSetReplicas(draft);
  draft.put({ ...set, spec: { ...set.spec, replicas } });
  if (replicas > 0) {
    const message = `Scaled up replica set ${set.metadata.name} from 0 to ${replicas}`;
    draft.events.push({ type: "Normal", reason: "ScalingReplicaSet", message });
  }
}

/** As large as the limits allow now, never larger than wanted. */
export function newSetReplicas(draft: RolloutDraft): number {
  const { newSet, desired } = draft;
  if (isRecreate(draft.deployment)) return desired;
  const own = newSet === undefined ? 0 : replicasOf(newSet);
  const room = desired + draft.maxSurge - sum(draft.all, replicasOf);
  if (room <= 0) return own;
  return own + Math.min(room, Math.max(0, desired - own));
}

export const revisionOf = (set: ReplicaSet): number =>
  Number.parseInt(set.metadata.annotations?.[revisionAnnotation] ?? "0", 10) || 0;

/** Sets that nobody needs any more for a rollback. */
export function dropOldRevisions(draft: RolloutDraft): void {
  const limit = draft.deployment.spec.revisionHistoryLimit ?? defaultHistoryLimit;
  const alive = draft.oldSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = alive.length - limit;
  if (surplus <= 0) return;
  const oldest = [...alive].sort((left, right) => revisionOf(left) - revisionOf(right) || byAge(left, right));
  for (const set of oldest.slice(0, surplus)) {
    const isSettled = (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0);
    if ((set.status?.replicas ?? 0) === 0 && replicasOf(set) === 0 && isSettled) draft.remove(set);
  }
}

const defaultHistoryLimit = 10;

export function hasTemplateOf(set: ReplicaSet, { spec }: Deployment): boolean {
  return deepEqual(withoutHash(set.spec.template), withoutHash(spec.template));
}

type Template = Deployment["spec"]["template"] | undefined;

function withoutHash(template: Template): unknown {
  if (template?.metadata?.labels?.[hashLabel] === undefined) return template;
  const { [hashLabel]: _, ...labels } = template.metadata.labels;
  return { ...template, metadata: { ...template.metadata, labels } };
}

function newSet(draft: RolloutDraft, revision: number): ReplicaSet {
  const { deployment } = draft;
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = contentHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  return {
    apiVersion: apiVersionOf(ReplicaSet),
    kind: "ReplicaSet",
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      ...(deployment.metadata.namespace !== undefined && { namespace: deployment.metadata.namespace }),
      labels,
      annotations: {
        ...copiedAnnotations(deployment),
        ...draft.replicaNotes(),
        [revisionAnnotation]: String(revision),
      },
      ownerReferences: [controllerReference(DeploymentKind, deployment)],
    },
    spec: {
      replicas: 0,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function renumbered(set: ReplicaSet, { deployment }: RolloutDraft, revision: number): ReplicaSet {
  const before = set.metadata.annotations ?? {};
  const annotations: Record<string, string> = { ...before, ...copiedAnnotations(deployment) };
  if (revisionOf(set) < revision) {
    annotations[revisionAnnotation] = String(revision);
    const former = before[revisionAnnotation];
    if (former !== undefined) {
      const history = before[revisionHistoryAnnotation]?.split(",") ?? [];
      annotations[revisionHistoryAnnotation] = [...history, former].slice(-historyEntries).join(",");
    }
  }
  const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
  const isSame = deepEqual(before, annotations) && (set.spec.minReadySeconds ?? 0) === minReadySeconds;
  if (isSame) return set;
  return { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, minReadySeconds } };
}

const historyEntries = 100;

const copiedAnnotations = ({ metadata }: Deployment): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key)));

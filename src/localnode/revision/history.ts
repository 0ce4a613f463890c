import type { PodTemplate } from "../../api/builtin/pod-spec.ts";
import { ControllerRevision } from "../../api/builtin/workloads.ts";
import type { NewObject } from "../../client/client.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { KindRef } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { controllerReference, isControlledBy } from "../../kube/owner-reference.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { contentHash } from "../workloads/template-hash.ts";

export const revisionHashLabel = "controller-revision-hash";

/** The former templates of a StatefulSet or DaemonSet, as `kubectl rollout history` and `undo` read them. */
export interface History {
  readonly update: ControllerRevision;
  /** Oldest first, the newest included. */
  readonly all: readonly ControllerRevision[];
}

type Owner = KubeObject & {
  readonly spec: { readonly template: PodTemplate };
  readonly status?: { readonly collisionCount?: number };
};

/** Finds or makes the revision of the current template, and numbers it as the newest. */
export async function settleHistory(kind: KindRef, owner: Owner, context: ReconcileContext): Promise<History> {
  const all = revisionsOf(owner, context);
  const data = dataOf(owner);
  const newest = all.at(-1);
  const next = (newest?.revision ?? 0) + 1;
  const same = all.findLast((revision) => deepEqual(revision.data, data));
  if (same !== undefined) {
    if (same === newest) return { update: same, all };
    const value = { revision: next };
    const renumbered = await context.write.patch(ControllerRevision, same.metadata, { type: "merge", value });
    if (!renumbered.ok) throw new Error(`cannot renumber revision ${same.metadata.name}: ${renumbered.message}`);
    return { update: renumbered.object, all: [...all.filter((revision) => revision !== same), renumbered.object] };
  }
  const made = await context.write.create(ControllerRevision, newRevision(kind, owner, data, next));
  if (made.ok) return { update: made.object, all: [...all, made.object] };
  throw new Error(`cannot create a revision of ${owner.kind} ${owner.metadata.name}: ${made.reason}: ${made.message}`);
}

/** Deletes the oldest revisions that no pod uses. */
export async function trimHistory(
  { all, update }: History,
  inUse: ReadonlySet<string>,
  limit: number,
  { write }: ReconcileContext,
): Promise<void> {
  const unused = all.filter((revision) => revision !== update && !inUse.has(revision.metadata.name));
  for (const revision of unused.slice(0, Math.max(0, unused.length - limit))) {
    await write.delete(ControllerRevision, revision);
  }
}

/** The template that a revision holds. */
export function templateOf(revision: ControllerRevision): PodTemplate | undefined {
  const { spec } = (revision.data ?? {}) as {
    readonly spec?: { readonly template?: PodTemplate & { $patch?: string } };
  };
  if (spec?.template === undefined) return undefined;
  const { $patch: _, ...template } = spec.template;
  return template as PodTemplate;
}

function revisionsOf(owner: KubeObject, { read }: ReconcileContext): readonly ControllerRevision[] {
  return read
    .owned(ControllerRevision, owner)
    .filter((revision) => isControlledBy(revision, owner))
    .sort((left, right) => left.revision - right.revision);
}

/** A patch that puts the template back, which is what an undo applies. */
const dataOf = ({ spec }: Owner): Readonly<Record<string, unknown>> => ({
  spec: { template: { ...spec.template, $patch: "replace" } },
});

function newRevision(kind: KindRef, owner: Owner, data: object, revision: number): NewObject<ControllerRevision> {
  const { namespace, name, annotations } = owner.metadata;
  const hash = contentHash(data, owner.status?.collisionCount);
  const { "kubectl.kubernetes.io/last-applied-configuration": _, ...notes } = annotations ?? {};
  return {
    metadata: {
      name: `${name}-${hash}`,
      ...(namespace !== undefined && { namespace }),
      labels: { ...owner.spec.template.metadata?.labels, [revisionHashLabel]: hash },
      ...(Object.keys(notes).length > 0 && { annotations: notes }),
      ownerReferences: [controllerReference(kind, owner)],
    },
    data,
    revision,
  };
}

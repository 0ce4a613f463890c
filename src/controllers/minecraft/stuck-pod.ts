import { Pod } from "../../api/builtin/pod.ts";
import type { StatefulSet } from "../../api/builtin/workloads.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { ActContext } from "../../runtime/controller.ts";

const revisionLabel = "controller-revision-hash";

/**
 * A StatefulSet waits for a pod to become ready before it replaces it, even by a better one: a server that does not come
 * up would never get its previous version back. Such a pod is taken away, and the set makes it anew from its latest
 * template. Answers what went wrong.
 */
export async function removeStuckPod(
  set: StatefulSet,
  { live, write }: ActContext<PaperMCServer>,
): Promise<string | undefined> {
  if (!mayBeStuck(set)) return undefined;
  const { namespace = "", name } = set.metadata;
  const { items } = await live.list(Pod, { namespace, fieldSelector: `metadata.name=${name}-0` });
  const stuck = items.find((pod) => isOutdated(pod, set) && !isReady(pod));
  if (!stuck) return undefined;
  const removed = await write.delete(Pod, stuck);
  return removed.ok ? undefined : `Pod ${stuck.metadata.name}: ${removed.message}`;
}

/** The set knows its latest template, and no pod is of it or ready. */
export function mayBeStuck({ metadata, status }: StatefulSet): boolean {
  const { observedGeneration = 0, updatedReplicas = 0, readyReplicas = 0, updateRevision } = status ?? {};
  return (
    updateRevision !== undefined &&
    observedGeneration >= (metadata.generation ?? 0) &&
    updatedReplicas === 0 &&
    readyReplicas === 0
  );
}

const isOutdated = ({ metadata }: Pod, { metadata: { uid }, status }: StatefulSet): boolean =>
  metadata.deletionTimestamp === undefined &&
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid) &&
  metadata.labels?.[revisionLabel] !== status?.updateRevision;

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;

import type { KubeObject, ObjectMeta } from "../../kube/object.ts";
import { cleanupFinalizer, type Definition, definitionCollection, withCondition } from "../crd/definition.ts";
import type { Endpoint } from "../endpoint.ts";

/** Whether a deletion that was asked for can now be done: nothing holds the object any more. */
export function isReleased(endpoint: Endpoint, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !isHeld(endpoint, object);
}

/** Finalizers hold an object; a namespace also has its own list of them. */
export function isHeld(endpoint: Endpoint, object: KubeObject): boolean {
  if ((object.metadata.finalizers?.length ?? 0) > 0) return true;
  if (endpoint.collection !== "namespaces") return false;
  const { spec } = object as KubeObject & { spec?: { finalizers?: readonly string[] } };
  return (spec?.finalizers?.length ?? 0) > 0;
}

export type PropagationPolicy = "Background" | "Foreground" | "Orphan";

/** The finalizers that the garbage collector acts on, added or taken away by the policy of the delete. */
export function withPropagation(metadata: ObjectMeta, policy: PropagationPolicy | undefined): readonly string[] {
  const others = (metadata.finalizers ?? []).filter((name) => name !== orphanFinalizer && name !== foregroundFinalizer);
  if (policy === undefined) return metadata.finalizers ?? [];
  if (policy === "Orphan") return [...others, orphanFinalizer];
  if (policy === "Foreground") return [...others, foregroundFinalizer];
  return others;
}

/** What else changes in an object when its deletion begins. */
export function withDeletionMarks(collection: string, object: KubeObject, now: string): KubeObject {
  if (collection === "namespaces") {
    const { status } = object as KubeObject & { status?: object };
    return { ...object, status: { ...status, phase: "Terminating" } } as KubeObject;
  }
  if (collection !== definitionCollection) return object;
  return withCondition(object as Definition, {
    type: "Terminating",
    status: "True",
    lastTransitionTime: now,
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  });
}

/** A definition goes after the objects that it defines: its finalizer is there from the delete on. */
export const finalizersOnDelete = (collection: string, finalizers: readonly string[]): readonly string[] =>
  collection === definitionCollection && !finalizers.includes(cleanupFinalizer)
    ? [...finalizers, cleanupFinalizer]
    : finalizers;

export const orphanFinalizer = "orphan";
export const foregroundFinalizer = "foregroundDeletion";

/** How long an object is given to end by itself; only pods take their time. */
export function gracePeriodSeconds(endpoint: Endpoint, object: KubeObject, asked: number | undefined): number {
  if (endpoint.collection !== "pods") return 0;
  const { spec, status } = object as KubeObject & {
    spec?: { nodeName?: string; terminationGracePeriodSeconds?: number };
    status?: { phase?: string };
  };
  const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
  if (!spec?.nodeName || isOver) return 0;
  const period = asked ?? spec.terminationGracePeriodSeconds ?? 30;
  return period < 0 ? 1 : period;
}

/** These kinds answer a delete with the object, all others with a Status. */
export const answersWithObject: ReadonlySet<string> = new Set([
  "namespaces",
  "pods",
  "services",
  "serviceaccounts",
  "persistentvolumes",
  "persistentvolumeclaims",
  "resourcequotas",
  "podtemplates",
  "storageclasses.storage.k8s.io",
]);

import { CustomResourceDefinition } from "../../api/builtin/custom-resource-definition.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { KubeObject, ObjectKey, OwnerReference } from "../../kube/object.ts";
import type { Change } from "../../runtime/change.ts";
import { type Controller, defineReconciler, type ReconcileContext } from "../../runtime/controller.ts";
import { done, type Result, requeue, requeueAfter } from "../../runtime/result.ts";
import { type Channel, channel } from "../../runtime/source.ts";
import { controllerManager } from "../identity.ts";
import {
  foregroundFinalizer,
  hasFinalizer,
  isBlocking,
  isLeavingForeground,
  judge,
  type OwnerState,
  orphanFinalizer,
} from "./collect.ts";
import type { Dependent, MetadataMonitors } from "./metadata-monitors.ts";
import { resourceId, type ServedResource } from "./served-resources.ts";

/** Objects go when their last owner has gone, in the way that whoever deleted the owner has asked for. */
export function garbageCollector(client: Client, monitors: MetadataMonitors): Controller {
  const objects: Channel = channel();
  const absent = new AbsentOwners();
  monitors.onChange((change, resource) => {
    for (const { resource: of, object } of concerned(change, resource, monitors)) objects.send(objectKey(of, object));
  });
  return defineReconciler({
    name: "garbage-collector-controller",
    reconciles: CustomResourceDefinition,
    sources: [objects, { start: (enqueue) => enqueue(refreshKey) }],
    concurrency: 8,
    fieldManager: controllerManager,
    permissions: [{ group: "*", resource: "*", verbs: ["get", "list", "watch", "patch", "delete"] }],
    async reconcile(key, context) {
      if (key.name === refreshKey.name) {
        await monitors.refresh(context.signal);
        return done;
      }
      const item = parseObjectKey(key);
      if (item === undefined) {
        // A definition came, changed or went; several in a row are looked at once.
        context.requeue(refreshKey, refreshDelayMs);
        return done;
      }
      if (!monitors.isSynced) return requeueAfter(syncWaitMs);
      const resource = monitors.byId(item.resource);
      const object = resource && monitors.get(resource, item.namespace, item.name);
      if (resource === undefined || object === undefined) return done;
      return new Collection(client, monitors, absent, context).process(resource, object);
    },
  });
}

const refreshKey: ObjectKey = { name: "|refresh" };
const refreshDelayMs = 100;
const syncWaitMs = 100;

/** Whom a change may doom or release. */
function concerned(change: Change, resource: ServedResource, monitors: MetadataMonitors): readonly Dependent[] {
  const { object } = change;
  const { uid = "", ownerReferences = [], deletionTimestamp } = object.metadata;
  if (change.kind === "Deleted") {
    return [
      ...monitors.dependentsOf(uid),
      ...ownersOf(object, ownerReferences, monitors).filter((owner) => isLeavingForeground(owner.object)),
    ];
  }
  if (change.kind === "Updated" && isSameForUs(change.old, object)) return [];
  const self = ownerReferences.length > 0 || deletionTimestamp !== undefined ? [{ resource, object }] : [];
  // A dependent that no longer blocks lets its owner go.
  const released =
    change.kind === "Updated" ? ownersOf(object, change.old.metadata.ownerReferences ?? [], monitors) : [];
  return [...self, ...released.filter((owner) => isLeavingForeground(owner.object))];
}

function isSameForUs(old: KubeObject, object: KubeObject): boolean {
  const [a, b] = [old.metadata, object.metadata];
  return (
    a.deletionTimestamp === b.deletionTimestamp &&
    deepEqual(a.ownerReferences, b.ownerReferences) &&
    deepEqual(a.finalizers, b.finalizers)
  );
}

function ownersOf(
  object: KubeObject,
  references: readonly OwnerReference[],
  monitors: MetadataMonitors,
): readonly Dependent[] {
  return references.flatMap((reference) => {
    const resource = monitors.find(groupOf(reference), reference.kind);
    const owner = resource && monitors.get(resource, object.metadata.namespace, reference.name);
    return resource && owner?.metadata.uid === reference.uid ? [{ resource, object: owner }] : [];
  });
}

class Collection {
  readonly #client: Client;
  readonly #monitors: MetadataMonitors;
  readonly #absent: AbsentOwners;
  readonly #context: ReconcileContext;

  constructor(client: Client, monitors: MetadataMonitors, absent: AbsentOwners, context: ReconcileContext) {
    this.#client = client;
    this.#monitors = monitors;
    this.#absent = absent;
    this.#context = context;
  }

  async process(resource: ServedResource, object: KubeObject): Promise<Result> {
    const isDeleting = object.metadata.deletionTimestamp !== undefined;
    if (isDeleting && hasFinalizer(object, orphanFinalizer)) return this.#orphan(resource, object);
    if (isDeleting && hasFinalizer(object, foregroundFinalizer)) return this.#awaitDependents(resource, object);
    if (isDeleting) return done;
    const owners = await this.#ownerStates(object);
    if (owners === undefined) {
      // A kind that is not served may only be new; nothing is deleted because of it, and it is asked for again.
      this.#context.requeue(refreshKey, refreshDelayMs);
      return requeue;
    }
    const dependents = this.#monitors.dependentsOf(object.metadata.uid ?? "");
    const verdict = judge(object, owners, dependents.length > 0);
    switch (verdict.kind) {
      case "Keep":
        return done;
      case "Unlink":
        return this.#unlink({ resource, object }, verdict.uids);
      case "Delete": {
        const options = { propagationPolicy: verdict.policy };
        const gone = await this.#context.write.delete(resource, object, options);
        return gone.ok ? done : requeue;
      }
    }
  }

  /** Dependents lose their reference to the owner, and then the owner may go. */
  async #orphan(resource: ServedResource, owner: KubeObject): Promise<Result> {
    const { uid = "" } = owner.metadata;
    for (const dependent of this.#monitors.dependentsOf(uid)) {
      const unlinked = await this.#unlink(dependent, [uid]);
      if (unlinked !== done) return unlinked;
    }
    return this.#removeFinalizer(resource, owner, orphanFinalizer);
  }

  async #awaitDependents(resource: ServedResource, owner: KubeObject): Promise<Result> {
    const { uid = "" } = owner.metadata;
    const dependents = this.#monitors.dependentsOf(uid);
    for (const { resource: of, object } of dependents) {
      if (object.metadata.deletionTimestamp === undefined) this.#context.requeue(objectKey(of, object));
    }
    if (dependents.some(({ object }) => isBlocking(object, uid))) return done;
    return this.#removeFinalizer(resource, owner, foregroundFinalizer);
  }

  async #unlink({ resource, object }: Dependent, uids: readonly string[]): Promise<Result> {
    const left = (object.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.includes(uid));
    return this.#patchMetadata(resource, object, { ownerReferences: left.length > 0 ? left : null });
  }

  async #removeFinalizer(resource: ServedResource, object: KubeObject, name: string): Promise<Result> {
    const left = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name);
    return this.#patchMetadata(resource, object, { finalizers: left.length > 0 ? left : null });
  }

  async #patchMetadata(resource: ServedResource, { metadata }: KubeObject, change: object): Promise<Result> {
    const { uid, resourceVersion } = metadata;
    const value = { metadata: { uid, resourceVersion, ...change } };
    const key = keyOf(metadata);
    const written = await this.#context.write.patch(resource, key, { type: "merge", value });
    if (written.ok || written.reason === "NotFound") return done;
    if (written.reason === "Conflict") return requeue;
    throw new Error(`cannot change the metadata of ${resource.kind} ${metadata.name}: ${written.message}`);
  }

  /** Undefined where the kind of an owner is not known. */
  async #ownerStates(object: KubeObject): Promise<readonly OwnerFound[] | undefined> {
    const found: OwnerFound[] = [];
    for (const reference of object.metadata.ownerReferences ?? []) {
      const state = await this.#stateOf(object, reference);
      if (state === "Unknown") return undefined;
      found.push({ reference, state });
    }
    return found;
  }

  async #stateOf({ metadata: { namespace } }: KubeObject, reference: OwnerReference): Promise<OwnerState | "Unknown"> {
    if (this.#absent.has(reference.uid)) return "Absent";
    const resource = this.#monitors.find(groupOf(reference), reference.kind);
    if (resource === undefined) return "Unknown";
    if (resource.namespaced && namespace === undefined) return "Absent";
    const cached = this.#monitors.get(resource, namespace, reference.name);
    const owner = cached?.metadata.uid === reference.uid ? cached : await this.#lookUp(resource, namespace, reference);
    if (owner === undefined) return "Absent";
    return isLeavingForeground(owner) ? "Leaving" : "Solid";
  }

  /** A cache may lag behind; only the server's own word makes an owner absent. */
  async #lookUp(
    resource: ServedResource,
    namespace: string | undefined,
    { name, uid }: OwnerReference,
  ): Promise<KubeObject | undefined> {
    const key = resource.namespaced && namespace !== undefined ? { namespace, name } : { name };
    try {
      const found = await this.#client.get(resource, key, { signal: this.#context.signal });
      if (found.metadata.uid === uid) return found;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.#absent.add(uid);
    return undefined;
  }
}

interface OwnerFound {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

/** A uid never comes back, so what was seen to be gone need not be asked for again. */
class AbsentOwners {
  readonly #uids = new Set<string>();

  has(uid: string): boolean {
    return this.#uids.has(uid);
  }

  add(uid: string): void {
    this.#uids.add(uid);
    if (this.#uids.size <= maxAbsent) return;
    for (const oldest of this.#uids) {
      this.#uids.delete(oldest);
      return;
    }
  }
}

const maxAbsent = 500;

const groupOf = ({ apiVersion }: OwnerReference): string =>
  apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";

/** No name contains the bar, so these keys and those of definitions cannot be taken for each other. */
const objectKey = (resource: ServedResource, { metadata }: KubeObject): ObjectKey => ({
  name: [resourceId(resource), metadata.namespace ?? "", metadata.name].join("|"),
});

function parseObjectKey({ name }: ObjectKey) {
  const [resource, namespace, object] = name.split("|");
  if (resource === undefined || namespace === undefined || object === undefined) return undefined;
  return { resource, namespace: namespace === "" ? undefined : namespace, name: object };
}

const keyOf = ({ namespace, name }: ObjectKey): ObjectKey => (namespace === undefined ? { name } : { namespace, name });

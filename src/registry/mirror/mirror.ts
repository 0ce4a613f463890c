import { Namespace } from "../../api/builtin/cluster.ts";
import { ServiceTarget } from "../../api/service-target.ts";
import { labels } from "../../api/well-known.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { type Controller, defineReconciler, type ReconcileContext } from "../../runtime/controller.ts";
import { allow, mergePermissions, type Permission } from "../../runtime/permission.ts";
import { done, failed, type Result, requeueAfter } from "../../runtime/result.ts";
import type { Source } from "../../runtime/source.ts";
import type { Refused } from "../../runtime/write.ts";
import type { Entry } from "../model/entry.ts";
import type { RegistryCore } from "../registry-core.ts";
import { desiredObject, desiredStatus, isOurs, objectNameOf } from "./desired-object.ts";

export interface MirrorOptions {
  readonly core: RegistryCore;
  /** For services that did not register as a ServiceAccount: `capstan-system`. */
  readonly namespace?: string;
}

export const defaultRegistryNamespace = "capstan-system";

/**
 * Membership and health as ServiceTarget objects, for everything that meets the registry in the API. Every replica of the
 * registry serves; only the one that leads writes here.
 */
export function serviceTargetMirror({ core, namespace = defaultRegistryNamespace }: MirrorOptions): Controller {
  const names = new ObjectNames();
  const keysOf = (entry: Entry): readonly ObjectKey[] => {
    const name = names.of(entry.instance.target.id);
    const own = entry.instance.namespace;
    // What was registered before its owner had a name stood in the common namespace.
    return own === null || own === namespace
      ? [{ namespace, name }]
      : [
          { namespace: own, name },
          { namespace, name },
        ];
  };

  const changes: Source = {
    start(enqueue, { signal }) {
      const everything = (): void => {
        for (const entry of core.directory.entries()) for (const key of keysOf(entry)) enqueue(key);
      };
      const stop = core.observe({
        onReset: everything,
        onChanges(made) {
          for (const { id, instance } of made) {
            const entry = core.directory.get(id);
            if (entry) for (const key of keysOf(entry)) enqueue(key);
            else if (instance === null) enqueue({ namespace, name: names.of(id) });
          }
        },
      });
      signal.addEventListener("abort", stop, { once: true });
      everything();
    },
  };

  return defineReconciler<ServiceTarget>({
    name: "service-targets",
    reconciles: ServiceTarget,
    fieldManager: "capstan-registry",
    sources: [changes],
    permissions: writes,
    async reconcile(key, context) {
      if (!core.isReady) return requeueAfter(notReadyPauseMs);
      const entry = core.directory.get(names.idOf(key.name));
      const isWanted =
        entry?.instance.presence.kind === "Registered" && (entry.instance.namespace ?? namespace) === key.namespace;
      return isWanted ? put(entry, key, context, namespace) : remove(key, context);
    },
  });
}

const writes = [
  allow(ServiceTarget, ["create", "patch", "delete"]),
  allow(ServiceTarget, ["patch"], "status"),
  allow(Namespace, ["create"]),
];

/** What the mirror reads and writes, for manifests that are rendered without a registry. */
export const mirrorPermissions: readonly Permission[] = mergePermissions([
  allow(ServiceTarget, ["get", "list", "watch"]),
  ...writes,
]);

async function put(entry: Entry, key: ObjectKey, context: ReconcileContext, common: string): Promise<Result> {
  const { read, write } = context;
  const existing = read.get(ServiceTarget, key);
  if (existing && !isOurs(existing))
    return failed("NameTaken", `ServiceTarget ${key.namespace}/${key.name} was made by somebody else`);
  const wanted = desiredObject(entry, key.namespace ?? common);
  const isSame = existing && deepEqual(existing.spec, wanted.spec);
  if (!isSame) {
    const applied = await write.apply(ServiceTarget, wanted, { force: true });
    if (!applied.ok) {
      const isNamespaceMissing = applied.reason === "NotFound" && key.namespace === common;
      if (!isNamespaceMissing) throw refusedFor(key, applied);
      await makeNamespace(common, context);
      return requeueAfter(0);
    }
  }
  const status = desiredStatus(entry, existing?.status);
  if (existing && deepEqual(existing.status, status)) return done;
  const applied = await write.apply(
    ServiceTarget,
    { metadata: { name: key.name, namespace: key.namespace ?? common }, status },
    { force: true, subresource: "status" },
  );
  if (!applied.ok) throw refusedFor(key, applied);
  return done;
}

/** Tried again, with growing pauses: nobody tells us when a quota has room again or a right was given back. */
const refusedFor = ({ namespace, name }: ObjectKey, { reason, message }: Refused): Error =>
  new Error(`ServiceTarget ${namespace}/${name} was refused (${reason}): ${message}`);

async function makeNamespace(name: string, { write }: ReconcileContext): Promise<void> {
  const made = await write.create(Namespace, {
    metadata: { name, labels: { [labels.controller]: "service-registry", [labels.managedBy]: "capstan" } },
  });
  if (!made.ok && made.reason !== "AlreadyExists")
    throw new Error(`the registry's namespace ${name} could not be made: ${made.message}`);
}

async function remove(key: ObjectKey, { read, write }: ReconcileContext): Promise<Result> {
  const existing = read.get(ServiceTarget, key);
  if (!existing || !isOurs(existing)) return done;
  const deleted = await write.delete(ServiceTarget, existing);
  if (!deleted.ok) throw refusedFor(key, deleted);
  return done;
}

/** Back from an object's name to the id: most are the same, and only the others need remembering. */
class ObjectNames {
  readonly #ids = new Map<string, string>();

  of(id: string): string {
    const name = objectNameOf(id);
    if (name !== id) this.#ids.set(name, id);
    return name;
  }

  idOf(name: string): string {
    return this.#ids.get(name) ?? name;
  }
}

const notReadyPauseMs = 500;

import { Namespace } from "../../api/builtin/cluster.ts";
import { isConflict, isMethodNotAllowed, isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import type { KubeObject } from "../../kube/object.ts";
import { type Controller, defineReconciler } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, requeue } from "../../runtime/result.ts";
import { channel } from "../../runtime/source.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import type { MetadataMonitors } from "../garbage-collector/metadata-monitors.ts";
import { type ServedResource, servedResources } from "../garbage-collector/served-resources.ts";
import { controllerManager } from "../identity.ts";
import { namespaceConditions, type Remaining } from "./conditions.ts";

/** Empties a namespace that is being deleted, pods first, and then lets it go. */
export function namespaceController(client: Client, monitors: MetadataMonitors): Controller {
  const emptied = channel();
  const leaving = new Set<string>();
  monitors.onChange(({ kind, object }) => {
    const { namespace } = object.metadata;
    if (kind === "Deleted" && namespace !== undefined && leaving.has(namespace)) emptied.send({ name: namespace });
  });
  return defineReconciler({
    name: "namespace-controller",
    reconciles: Namespace,
    predicates: [({ object }) => object.metadata.deletionTimestamp !== undefined],
    sources: [emptied],
    // What an object's finalizers wait for may take long; a look costs little, and a deletion tells at once.
    backoff: { baseMs: 50, maxMs: 15_000 },
    // Every object that goes is told; a few looks are enough for many of them.
    objectRate: { times: 4, withinMs: 1_000 },
    fieldManager: controllerManager,
    permissions: [
      allow(Namespace, ["update"], "finalize"),
      { group: "*", resource: "*", verbs: ["list", "deletecollection"] },
    ],
    async reconcile({ name }, context) {
      const namespace = context.read.get(Namespace, { name });
      if (namespace?.metadata.deletionTimestamp === undefined || !isHeld(namespace)) {
        leaving.delete(name);
        return done;
      }
      leaving.add(name);
      const remaining = await emptyNamespace(client, name, context.signal);
      const conditions = namespaceConditions(namespace.status?.conditions, remaining, context.now);
      const written = await writeStatus(Namespace, namespace, { ...namespace.status, conditions }, context);
      if (written === "Outdated" || remaining.length > 0) return requeue;
      if (!(await release(client, name, context.signal))) return requeue;
      leaving.delete(name);
      return done;
    },
  });
}

const finalizer = "kubernetes";
const isHeld = ({ spec }: Namespace): boolean => spec?.finalizers?.includes(finalizer) ?? false;

/** Answers what is left. Pods go before everything else, so that nothing they need is taken from under them. */
async function emptyNamespace(client: Client, namespace: string, signal: AbortSignal): Promise<readonly Remaining[]> {
  const served = (await servedResources(client, signal)).filter(
    ({ namespaced, verbs }) => namespaced && verbs.includes("list") && verbs.includes("delete"),
  );
  const isPod = ({ group, plural }: ServedResource): boolean => group === "" && plural === "pods";
  const pods = await emptyAll(client, namespace, served.filter(isPod), signal);
  if (pods.length > 0) return pods;
  return emptyAll(
    client,
    namespace,
    served.filter((resource) => !isPod(resource)),
    signal,
  );
}

async function emptyAll(
  client: Client,
  namespace: string,
  resources: readonly ServedResource[],
  signal: AbortSignal,
): Promise<readonly Remaining[]> {
  const left = await Promise.all(
    resources.map(async (resource) => {
      const objects = await list(client, namespace, resource, signal);
      if (objects.length === 0) return [];
      if (objects.every(({ metadata }) => metadata.deletionTimestamp !== undefined)) return [{ resource, objects }];
      await client.deleteCollection(resource, { namespace, propagationPolicy: "Background", signal });
      const after = await list(client, namespace, resource, signal);
      return after.length === 0 ? [] : [{ resource, objects: after }];
    }),
  );
  return left.flat();
}

async function list(
  client: Client,
  namespace: string,
  resource: ServedResource,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  try {
    return (await client.list(resource, { namespace, metadataOnly: true, signal })).items;
  } catch (error) {
    // The kind itself has gone meanwhile, and its objects with it.
    if (isNotFound(error) || isMethodNotAllowed(error)) return [];
    throw error;
  }
}

/** The last word: the server removes the namespace once nothing in its own list of finalizers holds it. */
async function release(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    const namespace = await client.get(Namespace, { name }, { signal });
    const finalizers = (namespace.spec?.finalizers ?? []).filter((held) => held !== finalizer);
    const body = { ...namespace, spec: { ...namespace.spec, finalizers } };
    await client.raw({ method: "PUT", target: `/api/v1/namespaces/${name}/finalize`, body, signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return true;
    if (isConflict(error)) return false;
    throw error;
  }
}

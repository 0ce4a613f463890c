import { ResourceQuota } from "../../api/builtin/cluster.ts";
import { CustomResourceDefinition } from "../../api/builtin/custom-resource-definition.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { Service } from "../../api/builtin/service.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { type Measure, measureOf } from "../../kube/quota/measure.ts";
import type { Change } from "../../runtime/change.ts";
import { type Controller, defineReconciler, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import type { Read } from "../../runtime/read.ts";
import { done, requeue, requeueAfter } from "../../runtime/result.ts";
import { channel } from "../../runtime/source.ts";
import { mergeDifference } from "../../runtime/status-write.ts";
import type { MetadataMonitors } from "../garbage-collector/metadata-monitors.ts";
import { resourceId, type ServedResource, servedResources } from "../garbage-collector/served-resources.ts";
import { controllerManager } from "../identity.ts";
import { calmly } from "../workloads/calmly.ts";
import { isPodFinished } from "../workloads/pod-facts.ts";
import { type Counted, evaluate } from "./evaluate.ts";

/**
 * ResourceQuotas: counts what is there when a quota is new or changes, and again when something goes. What comes is
 * charged by the API server itself.
 *
 * No cache decides here. The quota is read first and the objects after it, both from the server, and the status is
 * written for exactly that version of the quota: whoever was charged in between makes the write fail, so that no charge
 * is ever lost. Something that goes in between is counted once too often, and its deletion brings us back.
 */
export function quotaController(client: Client, monitors: MetadataMonitors): Controller {
  const released = channel();
  const known = new Map<string, ObjectKey>();
  monitors.onChange(({ kind, object }) => {
    if (kind !== "Deleted") return;
    for (const key of known.values()) if (key.namespace === object.metadata.namespace) released.send(key);
  });
  return defineReconciler({
    name: "resourcequota-controller",
    reconciles: ResourceQuota,
    predicates: [isOtherSpec],
    sources: [released],
    watches: [
      watch(Pod, { predicates: [usesLess], map: quotasBeside }),
      watch(Service, { predicates: [isOtherSpec], map: quotasBeside }),
      // A kind that comes can be counted from now on.
      watch(CustomResourceDefinition, { map: (_definition, read) => read.list(ResourceQuota).map(keyOf) }),
    ],
    objectRate: calmly,
    fieldManager: controllerManager,
    permissions: [allow(ResourceQuota, ["patch"], "status"), { group: "*", resource: "*", verbs: ["list"] }],
    async reconcile(key, { write, signal, now }) {
      const quota = await read(client, key, signal);
      if (quota === undefined) {
        known.delete(nameOf(key));
        return done;
      }
      known.set(nameOf(key), key);
      const resources = await measuredBy(client, monitors, quota, signal);
      // Of a kind that nobody follows yet, deletions are not told: it is counted again until they are.
      const isFollowed = monitors.isSynced && resources.every(({ resource }) => monitors.byId(resourceId(resource)));
      const again = requeueAfter(isFollowed ? fullCountMs : followWaitMs);
      const status = evaluate(quota, await count(client, resources, quota, signal), now);
      if (status === undefined) return again;
      const { uid, resourceVersion } = quota.metadata;
      const value = { metadata: { uid, resourceVersion }, status: mergeDifference(quota.status ?? {}, status) };
      const written = await write.patch(ResourceQuota, key, { type: "merge", value }, { subresource: "status" });
      if (written.ok) return again;
      if (written.reason === "NotFound") return done;
      if (written.reason === "Conflict") return requeue;
      throw new Error(`cannot write the status of ResourceQuota ${quota.metadata.name}: ${written.message}`);
    },
  });
}

/** What time alone sets free, and whatever else was missed, is seen at the latest after this. */
const fullCountMs = 5 * 60_000;
const followWaitMs = 250;

const keyOf = ({ metadata: { namespace = "", name } }: KubeObject): ObjectKey => ({ namespace, name });
const nameOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

const quotasBeside = ({ metadata: { namespace } }: KubeObject, { list }: Read): readonly ObjectKey[] =>
  namespace === undefined ? [] : list(ResourceQuota, { namespace }).map(keyOf);

type Specified = KubeObject & { readonly spec?: unknown };

/** Statuses of quotas change with every charge, and then there is nothing to count. */
const isOtherSpec = (change: Change<Specified>): boolean =>
  change.kind !== "Updated" || !deepEqual(change.old.spec, change.object.spec);

/** A pod that has ended, and one that was given a deadline or other resources. Deletions are told by the monitors. */
const usesLess = (change: Change<Pod>): boolean =>
  change.kind === "Updated" &&
  (isPodFinished(change.object) !== isPodFinished(change.old) ||
    change.object.metadata.generation !== change.old.metadata.generation);

async function read(client: Client, key: ObjectKey, signal: AbortSignal): Promise<ResourceQuota | undefined> {
  try {
    return await client.get(ResourceQuota, key, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Everything that is served and counts against the quota. */
async function measuredBy(
  client: Client,
  monitors: MetadataMonitors,
  { spec }: ResourceQuota,
  signal: AbortSignal,
): Promise<readonly Measured[]> {
  const names = Object.keys(spec.hard ?? {});
  const known = measured(monitors.resources, names);
  const isComplete = names.every((name) => known.some(({ measure }) => measure.matching([name]).length > 0));
  return isComplete ? known : measured(await servedResources(client, signal), names);
}

const count = (
  client: Client,
  resources: readonly Measured[],
  { metadata: { namespace = "" } }: ResourceQuota,
  signal: AbortSignal,
): Promise<readonly Counted[]> =>
  Promise.all(
    resources.map(async ({ resource, measure, metadataOnly }) => {
      try {
        const { items } = await client.list(resource, { namespace, metadataOnly, signal });
        return { measure, objects: items };
      } catch (error) {
        // The kind itself has gone meanwhile, and its objects with it.
        if (isNotFound(error)) return { measure, objects: [] };
        throw error;
      }
    }),
  );

interface Measured {
  readonly resource: ServedResource;
  readonly measure: Measure;
  readonly metadataOnly: boolean;
}

const measured = (resources: readonly ServedResource[], names: readonly string[]): readonly Measured[] =>
  resources.flatMap((resource) => {
    const { group, plural, namespaced, verbs } = resource;
    if (!namespaced || !["create", "list", "delete"].every((verb) => verbs.includes(verb))) return [];
    const measure = measureOf(group, plural);
    if (measure === undefined || measure.matching(names).length === 0) return [];
    return [{ resource, measure, metadataOnly: group !== "" || !readWhole.has(plural) }];
  });

/** Of all others only the number counts. */
const readWhole: ReadonlySet<string> = new Set(["pods", "services", "persistentvolumeclaims"]);

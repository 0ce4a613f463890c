import { ConfigMap } from "../../api/builtin/configuration.ts";
import { TCPRoute, UDPRoute } from "../../api/builtin/gateway.ts";
import { NetworkPolicy } from "../../api/builtin/network-policy.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { Service } from "../../api/builtin/service.ts";
import { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import { StatefulSet } from "../../api/builtin/workloads.ts";
import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { compareQuantities, parseQuantity } from "../../kube/quantity.ts";
import { type ActContext, type Controller, defineController, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import {
  deletionChanged,
  generationChanged,
  labelsChanged,
  or,
  resourceVersionChanged,
} from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";
import { controllerName, fieldManager } from "./children.ts";
import { applyRoutes, RoutesGone } from "./gateway-routes.ts";
import type { MinecraftMetrics } from "./metrics.ts";
import { networkPolicyOf, policyName } from "./network-policy-of.ts";
import { listDigest, listName, pluginListMap } from "./plugin-list.ts";
import { isForeign, isOrdered, planServer, type ServerPlan } from "./server-plan.ts";
import { type ServerOutcome, serverStatus } from "./server-status.ts";
import { serviceOf } from "./service-of.ts";
import { dataVolume, statefulSetOf } from "./stateful-set.ts";
import { removeStuckPod } from "./stuck-pod.ts";
import { takeOver } from "./take-over.ts";

export interface ServerControllerOptions {
  readonly metrics: MinecraftMetrics;
  /** Our own image, which prepares a server's volume. */
  readonly image: string;
  /** Mirrors that jars may come from although they stand inside the cluster. */
  readonly trustedUrls: readonly string[];
  /** Where we run, and from where RCON is spoken. */
  readonly namespace: string;
}

/** Nobody tells us when a quota has room again, a webhook has changed its mind or a right was given. */
const refusedRetryMs = 60_000;
const changeKinds = ["create", "patch", "delete"] as const;

/** Runs servers: workload, Service, NetworkPolicy and routes, always as the object asks for. */
export function serverController({
  metrics,
  image,
  trustedUrls,
  namespace: operatorNamespace,
}: ServerControllerOptions): Controller {
  const routesGone = new RoutesGone();
  return defineController({
    name: controllerName,
    reconciles: PaperMCServer,
    predicates: [resourceVersionChanged],
    owns: [StatefulSet, Service, NetworkPolicy, ConfigMap],
    watches: [watch(Plugin, { map: serversOf, predicates: [or(generationChanged, labelsChanged, deletionChanged)] })],
    fieldManager,
    concurrency: 4,
    permissions: [
      ...[StatefulSet, Service, NetworkPolicy, ConfigMap, TCPRoute, UDPRoute].map((kind) => allow(kind, changeKinds)),
      ...[TCPRoute, UDPRoute].map((kind) => allow(kind, ["list"])),
      allow(PaperMCServer, ["get"]),
      allow(PersistentVolumeClaim, ["get", "patch"]),
      allow(Pod, ["list", "delete"]),
    ],
    observe: (server: PaperMCServer, { read }) => {
      const { name, namespace = "" } = server.metadata;
      return {
        server,
        set: read.get(StatefulSet, { namespace, name }),
        list: read.get(ConfigMap, { namespace, name: listName(server) }),
        plugins: read.list(Plugin, { namespace }),
      };
    },
    evaluate: planServer,
    act: (plan, context) => metrics.reconciled(controllerName, () => act(plan, context)),
    reduce: ({ object, decision, outcome, now }) => ({
      status: serverStatus(object, decision, outcome, now),
      ...(outcome.problems.length > 0 && { requeueAfterMs: refusedRetryMs }),
    }),
  });

  async function act(plan: ServerPlan, context: ActContext<PaperMCServer>): Promise<ServerOutcome> {
    const { object: server, read, write } = context;
    const { name, namespace = "" } = server.metadata;
    const existing = read.get(StatefulSet, { namespace, name });
    if (plan.kind === "Wait" || (await isGoneUntold(context))) return { set: existing, problems: [] };
    const problems: string[] = [];
    const note = (what: string, answer: { readonly ok: boolean; readonly message?: string }): void => {
      if (!answer.ok) problems.push(`${what}: ${answer.message ?? "refused"}`);
    };
    const force = { force: true };
    note("Service", await write.apply(Service, serviceOf(server, plan.ports), force));
    const policy = networkPolicyOf(server, plan.ports, operatorNamespace);
    if (policy.kind === "Policy") note("NetworkPolicy", await write.apply(NetworkPolicy, policy.policy, force));
    else if (policy.kind === "Invalid") problems.push(policy.message);
    else {
      const left = read.get(NetworkPolicy, { namespace, name: policyName(server) });
      // One that somebody made by hand may have the same name, and stays.
      if (left && isOwnedBy(left, server)) note("NetworkPolicy", await write.delete(NetworkPolicy, left));
    }
    problems.push(...(await applyRoutes(server, routesGone, context)));
    if (plan.isForeign) return { set: existing, problems };
    // The list comes first: a pod that starts with the new template must find the new list.
    note("ConfigMap", await write.apply(ConfigMap, pluginListMap(server, plan.listed), force));
    if (existing && isForeign(existing)) {
      const refused = await takeOver(existing, context);
      if (refused !== undefined) return { set: existing, problems: [...problems, `StatefulSet: ${refused}`] };
    }
    const applied = await write.apply(
      StatefulSet,
      statefulSetOf({
        server,
        image: plan.image,
        pluginDigest: listDigest(plan.listed),
        ports: plan.ports,
        ownImage: image,
        trustedUrls,
        isUndisturbed: (existing?.status?.readyReplicas ?? 0) > 0 && !isOrdered(server),
        ...(existing && { existing }),
      }),
      force,
    );
    note("StatefulSet", applied);
    if (existing) problems.push(...(await growVolume(context)));
    const stuck = applied.ok ? await removeStuckPod(applied.object, context) : undefined;
    if (stuck !== undefined) problems.push(stuck);
    return { set: applied.ok ? applied.object : existing, problems };
  }
}

const isOwnedBy = ({ metadata }: KubeObject, { metadata: { uid } }: PaperMCServer): boolean =>
  metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;

/**
 * True for a server that has ended without our having been told. What it owned is taken away then, and without a look at the
 * API we would make it again, and the garbage collector take it away again, until the next list.
 */
async function isGoneUntold({ object: server, read, live }: ActContext<PaperMCServer>): Promise<boolean> {
  const { name, namespace = "", uid } = server.metadata;
  const children = [
    read.get(Service, { namespace, name }),
    read.get(ConfigMap, { namespace, name: listName(server) }),
    read.get(StatefulSet, { namespace, name }),
  ];
  if (server.status === undefined || !children.includes(undefined)) return false;
  try {
    return (await live.get(PaperMCServer, { namespace, name })).metadata.uid !== uid;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}

/** The template of a volume cannot be changed, but the volume itself can grow, where its class allows it. */
async function growVolume({
  object: server,
  read,
  live,
  write,
}: ActContext<PaperMCServer>): Promise<readonly string[]> {
  const { name, namespace = "" } = server.metadata;
  const wanted = parseQuantity(server.spec.storage?.size ?? "");
  const templates = read.get(StatefulSet, { namespace, name })?.spec.volumeClaimTemplates;
  const template = parseQuantity(String(templates?.[0]?.spec?.resources?.requests?.["storage"] ?? ""));
  // Asking the API for the volume is only worth it when the size was changed after the first start.
  if (!wanted.ok || !template.ok || compareQuantities(wanted.value, template.value) <= 0) return [];
  const key = { namespace, name: `${dataVolume}-${name}-0` };
  const claims = await live.list(PersistentVolumeClaim, { namespace, fieldSelector: `metadata.name=${key.name}` });
  const has = parseQuantity(String(claims.items[0]?.spec.resources?.requests?.["storage"] ?? ""));
  if (!has.ok || compareQuantities(wanted.value, has.value) <= 0) return [];
  const value = { spec: { resources: { requests: { storage: server.spec.storage?.size } } } };
  const answer = await write.patch(PersistentVolumeClaim, key, { type: "merge", value });
  return answer.ok ? [] : [`spec.storage.size: the volume cannot grow: ${answer.message}`];
}

function serversOf({ metadata: { namespace = "" } }: Plugin, read: Read): readonly ObjectKey[] {
  return read.list(PaperMCServer, { namespace }).map(({ metadata: { name } }) => ({ namespace, name }));
}

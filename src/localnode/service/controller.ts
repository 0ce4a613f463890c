import { Pod } from "../../api/builtin/pod.ts";
import { EndpointSlice, Service } from "../../api/builtin/service.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { controllerReference } from "../../kube/owner-reference.ts";
import { type Controller, defineReconciler, type ReconcileContext, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import type { Read } from "../../runtime/read.ts";
import { done, type Result, requeue } from "../../runtime/result.ts";
import { controllerManager } from "../identity.ts";
import { calmly } from "../workloads/calmly.ts";
import { selection, selects } from "../workloads/claim.ts";
import { isNamespaceLeaving } from "../workloads/manage-pods.ts";
import { Endpoints } from "./endpoints-kind.ts";
import { type EndpointGroup, endpointGroups, sliceContents, subsets } from "./evaluate.ts";

/** Services: which pods are behind them, as EndpointSlices and as Endpoints. */
export const endpointsController: Controller = defineReconciler({
  name: "endpoint-slice-controller",
  reconciles: Service,
  owns: [EndpointSlice],
  watches: [
    watch(Pod, { map: servicesOf }),
    watch(Endpoints, {
      predicates: [({ object }) => object.metadata.labels?.[endpointsManager] !== undefined],
      map: ({ metadata: { namespace = "", name } }) => [{ namespace, name }],
    }),
  ],
  objectRate: calmly,
  fieldManager: controllerManager,
  permissions: [allow(EndpointSlice, ["create", "patch", "delete"]), allow(Endpoints, ["create", "patch", "delete"])],
  async reconcile(key, context) {
    const service = context.read.get(Service, key);
    if (service === undefined) return dropEndpoints(key, context);
    const { selector, type } = service.spec;
    // Without a selector the endpoints are somebody else's business.
    if (selector === undefined || Object.keys(selector).length === 0 || type === "ExternalName") return done;
    if (service.metadata.deletionTimestamp !== undefined) return done;
    const { namespace } = service.metadata;
    const isSelected = selection({ matchLabels: selector });
    const pods = context.read.list(Pod, namespace === undefined ? {} : { namespace }).filter(isSelected);
    const groups = endpointGroups(service, pods);
    const slices = await writeSlices(service, groups, context);
    return slices === done ? writeEndpoints(service, groups, context) : slices;
  },
});

const serviceNameLabel = "kubernetes.io/service-name";
const sliceManager = "endpointslice.kubernetes.io/managed-by";
const endpointsManager = "endpoints.kubernetes.io/managed-by";

function servicesOf(pod: Pod, read: Read): readonly ObjectKey[] {
  const { namespace } = pod.metadata;
  if (namespace === undefined) return [];
  return read
    .list(Service, { namespace })
    .filter(
      ({ spec }) => Object.keys(spec.selector ?? {}).length > 0 && selects({ matchLabels: spec.selector ?? {} }, pod),
    )
    .map(({ metadata }) => ({ namespace, name: metadata.name }));
}

/** Slices that exist are filled again in the order of their names; what is left over goes. */
async function writeSlices(
  service: Service,
  groups: readonly EndpointGroup[],
  context: ReconcileContext,
): Promise<Result> {
  const { read, write } = context;
  const { namespace, name } = service.metadata;
  const existing = read
    .owned(EndpointSlice, service)
    .filter(({ metadata }) => metadata.labels?.[sliceManager] === "endpointslice-controller.k8s.io")
    .sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  const wanted = sliceContents(groups);
  for (const [index, { ports, endpoints }] of wanted.entries()) {
    const slice = existing[index];
    if (slice !== undefined) {
      if (deepEqual(slice.endpoints, endpoints) && deepEqual(slice.ports ?? [], ports)) continue;
      const written = await write.patch(EndpointSlice, keyOf(slice), { type: "merge", value: { endpoints, ports } });
      if (!written.ok) return requeue;
      continue;
    }
    const made = await write.create(EndpointSlice, {
      metadata: {
        generateName: `${name}-`,
        ...(namespace !== undefined && { namespace }),
        labels: {
          ...service.metadata.labels,
          [serviceNameLabel]: name,
          [sliceManager]: "endpointslice-controller.k8s.io",
        },
        ownerReferences: [controllerReference(Service, service)],
      },
      addressType: "IPv4",
      endpoints,
      ports,
    });
    if (!made.ok) return isNamespaceLeaving(made) ? done : failed(service, made);
  }
  for (const slice of existing.slice(wanted.length)) await write.delete(EndpointSlice, slice);
  return done;
}

async function writeEndpoints(
  service: Service,
  groups: readonly EndpointGroup[],
  context: ReconcileContext,
): Promise<Result> {
  const { read, write } = context;
  const key = keyOf(service);
  const found = read.get(Endpoints, key);
  const wanted = subsets(groups);
  if (found === undefined) {
    const labels = { ...service.metadata.labels, [endpointsManager]: "endpoint-controller" };
    const made = await write.create(Endpoints, { metadata: { ...key, labels }, subsets: wanted });
    return made.ok || made.reason === "AlreadyExists" || isNamespaceLeaving(made) ? done : failed(service, made);
  }
  if (deepEqual(found.subsets ?? [], wanted)) return done;
  const written = await write.patch(Endpoints, key, { type: "merge", value: { subsets: wanted } });
  return written.ok ? done : requeue;
}

async function dropEndpoints(key: ObjectKey, { read, write }: ReconcileContext): Promise<Result> {
  const left = read.get(Endpoints, key);
  if (left?.metadata.labels?.[endpointsManager] === "endpoint-controller") await write.delete(Endpoints, left);
  return done;
}

function failed(service: Service, { reason, message }: { readonly reason: string; readonly message: string }): never {
  throw new Error(`cannot write the endpoints of Service ${service.metadata.name}: ${reason}: ${message}`);
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };

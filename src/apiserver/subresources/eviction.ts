import { type LabelSelector, labelSelectorRequirements, matchesLabels } from "../../kube/label-selector.ts";
import type { KubeObject } from "../../kube/object.ts";
import { decodeLoose } from "../decode/loose.ts";
import { encodeValue } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { badRequest, StatusError } from "../protocol/status-error.ts";
import type { Entry } from "../storage/entry.ts";
import { findObject } from "../verbs/get.ts";
import { deleteObject } from "../writes/delete.ts";
import type { PropagationPolicy } from "../writes/deletion.ts";
import { timestamp } from "../writes/metadata.ts";

interface Budget extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector; readonly unhealthyPodEvictionPolicy?: string };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
    readonly observedGeneration?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
  };
}
type Pod = KubeObject & {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};

const budgets = "poddisruptionbudgets.policy";

/** POST pods/NAME/eviction: a delete that asks the disruption budgets first. */
export async function evict(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const { info } = request;
  const eviction = decodeLoose(parts, request, "Eviction").value as {
    metadata?: { name?: string };
    deleteOptions?: {
      gracePeriodSeconds?: number;
      dryRun?: readonly string[];
      propagationPolicy?: PropagationPolicy;
      preconditions?: { uid?: string; resourceVersion?: string };
    };
  };
  const named = eviction.metadata?.name;
  if (named !== undefined && named !== "" && named !== info.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  const pod = request.endpoint.view(findObject(parts, request)).object as Pod;
  const given = eviction.deleteOptions ?? {};
  const dryRun = (given.dryRun ?? []).length > 0 || info.query.get("dryRun") === "All";
  if (!isBeyondBudget(pod)) await claimDisruption(parts, pod, dryRun);
  const preconditions = given.preconditions ?? {};
  const marked = dryRun ? undefined : await markEvicted(parts, request, preconditions.resourceVersion);
  await deleteObject(parts, request, `${info.namespace}/${info.name}`, {
    dryRun,
    ...(given.gracePeriodSeconds !== undefined && { gracePeriodSeconds: given.gracePeriodSeconds }),
    ...(given.propagationPolicy && { propagationPolicy: given.propagationPolicy }),
    preconditions: marked ? { ...preconditions, resourceVersion: marked } : preconditions,
    given: { ...given },
  });
  return encodeValue(request, 201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

/** A pod that is over, on its way out or not running yet disrupts nothing. */
function isBeyondBudget({ metadata, status }: Pod): boolean {
  return (
    status?.phase === "Succeeded" ||
    status?.phase === "Failed" ||
    status?.phase === "Pending" ||
    metadata.deletionTimestamp !== undefined
  );
}

const evicted = {
  type: "DisruptionTarget",
  status: "True",
  reason: "EvictionByEvictionAPI",
  message: "Eviction API: evicting",
} as const;

/**
 * Says on the pod why it goes, so that a Job does not take the eviction for a failure. Answers the version that a caller
 * who named one deletes now; nothing when he named none, or another than the pod has.
 */
async function markEvicted(
  { store, env }: ServerParts,
  { endpoint, info }: ApiRequest,
  named: string | undefined,
): Promise<string | undefined> {
  for (;;) {
    const entry = store.latest(endpoint.collection, `${info.namespace}/${info.name}`);
    if (!entry || (named !== undefined && named !== entry.object.metadata.resourceVersion)) return undefined;
    const { status, ...pod } = entry.object as Pod;
    const others = (status?.conditions ?? []).filter(({ type }) => type !== evicted.type);
    const conditions = [...others, { ...evicted, lastTransitionTime: timestamp(env.now()) }];
    const next = { ...pod, status: { ...status, conditions } } as KubeObject;
    const written = store.write(endpoint.collection, entry.key, entry, next);
    if (!written) continue;
    const { metadata } = (await written).object;
    return named === undefined ? undefined : metadata.resourceVersion;
  }
}

async function claimDisruption(parts: ServerParts, pod: Pod, dryRun: boolean): Promise<void> {
  const { store, env } = parts;
  for (;;) {
    const matching = store
      .collection(budgets)
      .range(`${pod.metadata.namespace}/`)
      .map(({ key }) => store.latest(budgets, key))
      .filter((entry) => entry !== undefined && selects(entry.object as Budget, pod));
    if (matching.length > 1) {
      throw new StatusError(
        500,
        "InternalError",
        "Internal error occurred: This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
      );
    }
    const [entry] = matching as Entry[];
    if (!entry) return;
    const budget = entry.object as Budget;
    if (mayGoUnhealthy(budget, pod)) return;
    refuseWithoutAllowance(budget);
    if (dryRun) return;
    const { status = {} } = budget;
    const next = {
      ...budget,
      status: {
        ...status,
        disruptionsAllowed: (status.disruptionsAllowed ?? 0) - 1,
        disruptedPods: { ...status.disruptedPods, [pod.metadata.name]: timestamp(env.now()) },
      },
    };
    const written = store.write(budgets, entry.key, entry, next);
    if (written) {
      await written;
      return;
    }
  }
}

function selects({ spec }: Budget, pod: Pod): boolean {
  const requirements = labelSelectorRequirements(spec?.selector);
  return requirements.ok && matchesLabels(requirements.value, pod.metadata.labels);
}

/** An unready pod counts for nothing, so its eviction takes nothing away when the policy or the budget allows it. */
function mayGoUnhealthy({ spec, status = {} }: Budget, pod: Pod): boolean {
  const isReady = pod.status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
  if (isReady) return false;
  if (spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  return (status.currentHealthy ?? 0) >= (status.desiredHealthy ?? 0) && (status.desiredHealthy ?? 0) > 0;
}

function refuseWithoutAllowance({ metadata, status = {} }: Budget): void {
  const { disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0 } = status;
  const isStale = (status.observedGeneration ?? 0) < (metadata.generation ?? 0);
  if (!isStale && disruptionsAllowed > 0) return;
  const message = isStale
    ? `The disruption budget ${metadata.name} is still being processed by the server.`
    : `The disruption budget ${metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  throw new StatusError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message }],
    ...(isStale && { retryAfterSeconds: 10 }),
  });
}

import type { ApplyObject } from "../../../client/client.ts";
import type { KubeObject } from "../../../kube/object.ts";
import type { Refused, Write } from "../../../runtime/write.ts";
import { childKindRef } from "../child-kinds.ts";
import { minScaleAnnotation } from "../templates/knative.ts";
import { type HeldValues, heldOf, type ReplicaHolder } from "./held-values.ts";
import type { EnforcementChange } from "./plan.ts";
import type { Enforced } from "./reduce-enforcement.ts";

/** Changes what enforcement decided, under a field manager of its own, without force: an edit by hand wins and is told. */
export const enforcerManager = "oprc-crm-enforcer";

export async function enforce(changes: readonly EnforcementChange[], write: Write): Promise<readonly Enforced[]> {
  const results: Enforced[] = [];
  // One object may change in several dimensions; the manager's fields are whole only if each apply carries all of them.
  const known = new Map<string, HeldValues>();
  for (const change of changes) {
    let failed: Enforced | undefined;
    for (const { holder, values } of change.holders) {
      const id = `${holder.kind}/${holder.object.metadata.name}`;
      const held = heldOf(holder.kind, holder.object, holder.workload.left ?? []);
      const merged = { ...held, ...known.get(id), ...values };
      known.set(id, merged);
      const answer = await write.apply(childKindRef(holder.kind), enforcerObject(holder, merged), {
        fieldManager: enforcerManager,
      });
      if (!answer.ok) failed ??= failure(change, holder, answer);
    }
    results.push(failed ?? { ok: true, change });
  }
  return results;
}

/** The fields of one object that belong to the enforcer, with these values. */
export function enforcerObject(
  { kind, object }: Pick<ReplicaHolder, "kind" | "object">,
  values: HeldValues,
): ApplyObject<KubeObject> {
  const { name, namespace } = object.metadata;
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  const { replicas, cpuMillis, memoryBytes, memoryLimitBytes } = values;
  const requests = {
    ...(cpuMillis !== undefined && { cpu: `${cpuMillis}m` }),
    ...(memoryBytes !== undefined && { memory: mebibytes(memoryBytes) }),
  };
  const limits = memoryLimitBytes === undefined ? {} : { memory: mebibytes(memoryLimitBytes) };
  const hasResources = Object.keys(requests).length + Object.keys(limits).length > 0;
  const containers = hasResources && {
    spec: {
      containers: [{ name: "function", resources: { requests, ...(memoryLimitBytes !== undefined && { limits }) } }],
    },
  };
  const spec =
    kind === "HorizontalPodAutoscaler"
      ? { minReplicas: replicas }
      : kind === "Deployment"
        ? { ...(replicas !== undefined && { replicas }), ...(containers && { template: containers }) }
        : {
            template: {
              ...(replicas !== undefined && { metadata: { annotations: { [minScaleAnnotation]: String(replicas) } } }),
              ...containers,
            },
          };
  const intent: { readonly metadata: typeof metadata; readonly spec: unknown } = { metadata, spec };
  return intent;
}

const mebibytes = (bytes: number): string =>
  bytes % (1024 * 1024) === 0 ? `${bytes / (1024 * 1024)}Mi` : String(Math.round(bytes));

/** The specification's sentences, and after them what they are about. */
function failure(change: EnforcementChange, { kind, object, workload }: ReplicaHolder, refused: Refused): Enforced {
  const what = `${kind}/${object.metadata.name}`;
  const failed = (reason: FailureReason, message: string): Enforced => ({ ok: false, change, reason, message });
  if (refused.reason === "Conflict") {
    return failed("EnforceConflict", `Field manager ownership conflict applying enforcement. Object: ${what}.`);
  }
  if (refused.reason === "Invalid" || refused.reason === "BadRequest") {
    return failed("EnforceInvalid", `Invalid enforcement value for ${what}: ${refused.message}.`);
  }
  const isFallback = kind === "Deployment" && workload.kind === "Deployment";
  return isFallback
    ? failed("EnforceFallbackFailed", `Fallback path failed. ${what}: ${refused.message}`)
    : failed("EnforceFailed", `Enforcement failed. ${what}: ${refused.message}`);
}

type FailureReason = Extract<Enforced, { readonly ok: false }>["reason"];

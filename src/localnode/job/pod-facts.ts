import type { Job } from "../../api/builtin/job.ts";
import type { Pod } from "../../api/builtin/pod.ts";

/** A pod with this finalizer has not been counted yet, so it may not go. */
export const trackingFinalizer = "batch.kubernetes.io/job-tracking";
export const jobNameLabel = "batch.kubernetes.io/job-name";
export const indexAnnotation = "batch.kubernetes.io/job-completion-index";

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(trackingFinalizer) ?? false;

/** `Failed`: a pod is replaced only once it has really ended, not when it is asked to. */
export const replacesOnlyFailed = ({ spec }: Job): boolean =>
  spec.podReplacementPolicy === "Failed" ||
  (spec.podReplacementPolicy === undefined && spec.podFailurePolicy !== undefined);

export function isFailed(pod: Pod, job: Job): boolean {
  if (pod.status?.phase === "Failed") return true;
  if (replacesOnlyFailed(job)) return false;
  return pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== "Succeeded";
}

export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === "Indexed";

export function indexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[indexAnnotation];
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** What a rule of the failure policy makes of a failed pod; the first rule that fits decides. */
export type FailureAction =
  | { readonly kind: "Count" }
  | { readonly kind: "Ignore" }
  /** Counts, and its index is not tried again. */
  | { readonly kind: "FailIndex" }
  | { readonly kind: "FailJob"; readonly message: string };

export function failureAction(pod: Pod, job: Job): FailureAction {
  const rules = (job.spec.podFailurePolicy?.rules ?? []) as readonly unknown[] as readonly Rule[];
  for (const [index, rule] of rules.entries()) {
    const why = matchOf(pod, rule);
    if (why === undefined) continue;
    if (rule.action === "Ignore") return { kind: "Ignore" };
    if (rule.action === "FailIndex") return { kind: "FailIndex" };
    if (rule.action !== "FailJob") return { kind: "Count" };
    const { namespace, name } = pod.metadata;
    return {
      kind: "FailJob",
      message: `${why.replace("POD", `${namespace}/${name}`)} matching FailJob rule at index ${index}`,
    };
  }
  return { kind: "Count" };
}

interface Rule {
  readonly action: string;
  readonly onExitCodes?: {
    readonly containerName?: string;
    readonly operator: string;
    readonly values: readonly number[];
  };
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
}

function matchOf(pod: Pod, { onExitCodes, onPodConditions }: Rule): string | undefined {
  if (onExitCodes !== undefined) {
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    for (const { name, state } of statuses) {
      const code = state?.terminated?.exitCode;
      if (code === undefined || code === 0) continue;
      if (onExitCodes.containerName && onExitCodes.containerName !== name) continue;
      const isListed = onExitCodes.values.includes(code);
      if (onExitCodes.operator === "In" ? isListed : !isListed) {
        return `Container ${name} for pod POD failed with exit code ${code}`;
      }
    }
  }
  for (const { type, status = "True" } of onPodConditions ?? []) {
    const condition = pod.status?.conditions?.find((one) => one.type === type);
    if (condition?.status === status) return `Pod POD has condition ${type}`;
  }
  return undefined;
}

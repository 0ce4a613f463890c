import type { Job } from "../../api/builtin/job.ts";
import type { Pod } from "../../api/builtin/pod.ts";
import { findCondition, isConditionTrue } from "../../kube/condition.ts";
import { executionAnnotations } from "./names.ts";
import { decodeResult, type OrderResult } from "./order.ts";

/** What a Job says about itself; pure. */
export type JobState =
  | { readonly kind: "Running" }
  | { readonly kind: "Succeeded" }
  | { readonly kind: "Failed"; readonly timedOut: boolean; readonly message: string };

export function jobStateOf({ status }: Job): JobState {
  if (isConditionTrue(status?.conditions, "Complete")) return { kind: "Succeeded" };
  const failed = findCondition(status?.conditions, "Failed");
  if (failed?.status !== "True") return { kind: "Running" };
  return {
    kind: "Failed",
    timedOut: failed.reason === "DeadlineExceeded",
    message: failed.message ?? failed.reason ?? "the Job failed",
  };
}

export const belongsTo = (job: { readonly metadata: Job["metadata"] }, uid: string | undefined): boolean =>
  job.metadata.annotations?.[executionAnnotations.uid] === uid;

/** The typed answer of the pod that ran last; what is no answer to this order is none (H8). */
export function resultOf(pods: readonly Pod[], token: string): OrderResult | undefined {
  const results = pods.flatMap((pod) => {
    const ended = pod.status?.containerStatuses?.find(({ name }) => name === "act")?.state?.terminated;
    const read = decodeResult(ended?.message ?? "");
    return read.ok && read.value.token === token ? [{ result: read.value, at: ended?.finishedAt ?? "" }] : [];
  });
  const best = results.sort((a, b) => (a.at < b.at ? -1 : 1));
  return (best.findLast(({ result }) => result.outcome === "Succeeded") ?? best.at(-1))?.result;
}

/** How often it was tried again. */
export const retriesOf = ({ status }: Job): number => Math.max(0, (status?.failed ?? 0) + (status?.succeeded ?? 0) - 1);

import type { ContainerStatus, Pod } from "../../api/builtin/pod.ts";
import type { DegradedReason } from "../../api/class-runtime.ts";
import { findCondition } from "../../kube/condition.ts";
import type { ClassRuntimeSettings } from "./settings.ts";

/** Why a class is not well, in the words of its Degraded condition. */
export interface Anomaly {
  readonly reason: DegradedReason;
  readonly message: string;
  /** The function that it concerns, if it is one. */
  readonly functionKey?: string;
}

type Limits = Pick<ClassRuntimeSettings, "timeouts" | "crashLoopRestarts">;

/** What keeps a pod from running; undefined when nothing does, or when it is too early to say. */
export function podTrouble(pod: Pod, now: Date, { timeouts, crashLoopRestarts }: Limits): Anomaly | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  const { name } = pod.metadata;
  const containers = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const container of containers) {
    const crash = crashOf(name, container, now, crashLoopRestarts);
    if (crash) return crash;
  }
  const ageMs = now.getTime() - Date.parse(pod.metadata.creationTimestamp ?? "");
  if (ageMs < timeouts.waitingMs) return undefined;
  for (const { image, state } of containers) {
    const reason = state?.waiting?.reason ?? "";
    if (imageReasons.has(reason)) {
      return { reason: "ImagePull", message: `Pod ${name} cannot get image ${image}: ${reason}` };
    }
  }
  const scheduled = findCondition(pod.status?.conditions, "PodScheduled");
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") {
    return {
      reason: "Unschedulable",
      message: `Pod ${name} fits on no node: ${scheduled.message ?? "no reason given"}`,
    };
  }
  return undefined;
}

/** What of a pod decides about trouble; a change of anything else needs no second look. */
export const troubleSigns = ({ metadata, status }: Pod): unknown => [
  metadata.deletionTimestamp !== undefined,
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
    ({ restartCount, state, lastState }) => [
      restartCount,
      state?.waiting?.reason,
      state?.terminated?.reason,
      lastState?.terminated?.reason,
    ],
  ),
  findCondition(status?.conditions, "PodScheduled")?.reason,
];

function crashOf(pod: string, status: ContainerStatus, now: Date, threshold: number): Anomaly | undefined {
  const { restartCount, state, lastState } = status;
  const waitsAfterCrash = state?.waiting?.reason === "CrashLoopBackOff";
  const keepsFailing = restartCount >= threshold && !isSettled(status, now);
  if (!waitsAfterCrash && !keepsFailing) return undefined;
  const killed = (state?.terminated ?? lastState?.terminated)?.reason === "OOMKilled";
  return killed
    ? { reason: "OutOfMemory", message: `Pod ${pod} was killed for lack of memory, restart count=${restartCount}.` }
    : { reason: "CrashLoop", message: `Pod ${pod} restart count=${restartCount}.` };
}

/** Between two crashes a container looks healthy; it counts as such only once it has run for a while. */
function isSettled({ state, ready }: ContainerStatus, now: Date): boolean {
  const startedAt = state?.running?.startedAt;
  return ready && startedAt !== undefined && now.getTime() - Date.parse(startedAt) >= settledMs;
}

export const settledMs = 30_000;

const imageReasons: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "RegistryUnavailable",
]);

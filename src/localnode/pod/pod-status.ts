import type { ContainerStatus, Pod, PodPhase } from "../../api/builtin/pod.ts";
import { findCondition, isConditionTrue } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import type { Exited } from "./container-run.ts";
import type { ContainerSlot, SlotState } from "./container-slot.ts";
import { ephemeralStatuses } from "./ephemeral-status.ts";
import type { PodWorker } from "./pod-worker.ts";

export type PodStatus = NonNullable<Pod["status"]>;
type PodCondition = NonNullable<PodStatus["conditions"]>[number];

export interface PodAddresses {
  readonly host: string;
  readonly pod: string;
}

/** What the node says about a pod. Conditions of others (readiness gates, disruptions) are kept. */
export function podStatus(worker: PodWorker, addresses: PodAddresses, now: Date): PodStatus {
  const { pod, failure } = worker;
  const before = pod.status ?? {};
  const phase = phaseOf(worker);
  const { reason: _reason, message: _message, ...kept } = before;
  const ephemeral = ephemeralStatuses(pod, now);
  return {
    ...kept,
    observedGeneration: pod.metadata.generation ?? 1,
    phase,
    ...(failure !== undefined && { reason: failure.reason, message: failure.message }),
    ...(failure === undefined && before.reason !== undefined && { reason: before.reason }),
    ...(failure === undefined && before.message !== undefined && { message: before.message }),
    conditions: conditionsOf(worker, phase, now),
    hostIP: addresses.host,
    hostIPs: [{ ip: addresses.host }],
    podIP: addresses.pod,
    podIPs: [{ ip: addresses.pod }],
    startTime: before.startTime ?? formatTime(now),
    ...(worker.init.length > 0 && { initContainerStatuses: worker.init.map((slot) => containerStatus(pod, slot)) }),
    containerStatuses: worker.main.map((slot) => containerStatus(pod, slot)),
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
  } as PodStatus;
}

export function phaseOf({ pod, failure, isOver, isInitialized, init, main }: PodWorker): PodPhase {
  if (isOver) {
    // One that already ended keeps how it did: a pod that succeeded does not fail by being deleted.
    if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") return pod.status.phase;
    const hasInitialized = init.every(({ role, ended }) => role === "sidecar" || ended?.exitCode === 0);
    if (failure !== undefined || !hasInitialized) return "Failed";
    return main.every(({ ended }) => ended?.exitCode === 0) ? "Succeeded" : "Failed";
  }
  const was = pod.status?.phase;
  if (was === "Running") return "Running";
  const hasBegun = isInitialized && main.every(({ state }) => state.kind !== "Waiting");
  return hasBegun || main.some(({ state }) => state.kind === "Running") ? "Running" : "Pending";
}

function conditionsOf(worker: PodWorker, phase: PodPhase, now: Date): readonly PodCondition[] {
  const { pod, init, main } = worker;
  const before = pod.status?.conditions ?? [];
  const isOver = phase === "Succeeded" || phase === "Failed";
  const overReason = phase === "Succeeded" ? "PodCompleted" : "PodFailed";
  const unready = [...init.filter(({ role }) => role === "sidecar"), ...main].filter(({ isReady }) => !isReady);
  const names = (slots: readonly ContainerSlot[]): string => slots.map(({ container }) => container.name).join(" ");
  const containersReady: Claim = isOver
    ? { status: "False", reason: overReason }
    : unready.length === 0
      ? { status: "True" }
      : {
          status: "False",
          reason: "ContainersNotReady",
          message: `containers with unready status: [${names(unready)}]`,
        };
  const uninitialized = init.filter((slot) => (slot.role === "sidecar" ? !slot.isReady : slot.ended?.exitCode !== 0));
  const initialized: Claim =
    isOver && phase === "Succeeded"
      ? { status: "True", reason: overReason }
      : worker.isInitialized
        ? { status: "True" }
        : {
            status: "False",
            reason: "ContainersNotInitialized",
            message: `containers with incomplete status: [${names(uninitialized)}]`,
          };
  const claims: readonly (readonly [string, Claim])[] = [
    ["PodReadyToStartContainers", { status: isOver ? "False" : "True" }],
    ["Initialized", initialized],
    ["Ready", containersReady.status === "True" ? gateClaim(pod) : containersReady],
    ["ContainersReady", containersReady],
    ["PodScheduled", { status: "True" }],
  ];
  const ours = new Set(claims.map(([type]) => type));
  const generation = pod.metadata.generation ?? 1;
  return [
    ...before.filter(({ type }) => !ours.has(type)),
    ...claims.map(([type, claim]) => settled(findCondition(before, type), type, claim, generation, now)),
  ];
}

interface Claim {
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

function gateClaim(pod: Pod): Claim {
  const gates = (pod.spec as { readonly readinessGates?: readonly { readonly conditionType: string }[] })
    .readinessGates;
  const closed = (gates ?? []).filter(({ conditionType }) => !isConditionTrue(pod.status?.conditions, conditionType));
  if (closed.length === 0) return { status: "True" };
  const types = closed.map(({ conditionType }) => `"${conditionType}"`).join(", ");
  const message = `corresponding condition of pod readiness gate ${types} does not exist or is not true.`;
  return { status: "False", reason: "ReadinessGatesNotReady", message };
}

function settled(
  before: PodCondition | undefined,
  type: string,
  claim: Claim,
  generation: number,
  now: Date,
): PodCondition {
  const isSameStatus = before?.status === claim.status;
  return {
    type,
    status: claim.status,
    ...(claim.reason !== undefined && { reason: claim.reason }),
    ...(claim.message !== undefined && { message: claim.message }),
    lastProbeTime: null,
    lastTransitionTime: (isSameStatus ? before?.lastTransitionTime : undefined) ?? formatTime(now),
    observedGeneration: generation,
  } as unknown as PodCondition;
}

function containerStatus(pod: Pod, slot: ContainerSlot): ContainerStatus {
  const { container, restarts } = slot;
  const state = slot.shown(pod);
  const isBegun = state.kind !== "Waiting" || restarts > 0;
  const isDone = slot.role === "init" && state.kind === "Exited" && state.exitCode === 0;
  // While it waits for its next run, the one that just ended is the last one.
  const last = state.kind === "Waiting" && slot.ended !== undefined ? slot.ended : slot.last;
  return {
    name: container.name,
    state: stateOf(pod, slot, state),
    lastState: last === undefined ? {} : { terminated: terminated(pod, slot, last, Math.max(0, restarts - 1)) },
    ready: slot.isReady || isDone,
    restartCount: restarts,
    image: container.image ?? "",
    imageID: isBegun ? (container.image ?? "") : "",
    ...(isBegun && { containerID: containerId(pod, slot, restarts) }),
    started: state.kind === "Running",
  };
}

function stateOf(pod: Pod, slot: ContainerSlot, state: SlotState): NonNullable<ContainerStatus["state"]> {
  switch (state.kind) {
    case "Waiting": {
      const { reason, message } = state;
      const waits = reason === "ContainerCreating" && slot.role === "main" && hasInit(pod) ? "PodInitializing" : reason;
      return { waiting: { reason: waits, ...(message !== undefined && { message }) } };
    }
    case "Running":
      return { running: { startedAt: formatTime(state.startedAt) } };
    case "Exited":
      return { terminated: terminated(pod, slot, state, slot.restarts) };
  }
}

const hasInit = ({ spec }: Pod): boolean => (spec.initContainers?.length ?? 0) > 0;

function terminated(pod: Pod, slot: ContainerSlot, exited: Exited, run: number) {
  const { exitCode, signal, reason, message, startedAt, finishedAt } = exited;
  return {
    exitCode,
    ...(signal !== undefined && { signal }),
    reason,
    ...(message !== undefined && { message }),
    startedAt: formatTime(startedAt ?? finishedAt),
    finishedAt: formatTime(finishedAt),
    containerID: containerId(pod, slot, run),
  };
}

const containerId = ({ metadata }: Pod, { container }: ContainerSlot, run: number): string =>
  `capstan://${metadata.uid}/${container.name}/${run}`;

import type { ContainerStatus, Pod } from "../../api/builtin/pod.ts";
import type { Container } from "../../api/builtin/pod-spec.ts";
import type { CancelTimer, Env } from "../../env/env.ts";
import { timeMs } from "../workloads/pod-facts.ts";
import type { ContainerRole, StartRun } from "./container-run.ts";
import { ContainerSlot, type RestartBackoff } from "./container-slot.ts";

export interface WorkerOptions {
  readonly env: Env;
  readonly backoff: RestartBackoff;
  readonly start: StartRun;
  /** Whether a container needs a process, and so ends when the node does. */
  readonly needsProcess: (container: Container) => boolean;
  /** Something in the pod may have changed. */
  readonly onChange: () => void;
}

/**
 * Brings one pod from its first init container to its end:
 *
 *     init containers, one after the other ─▶ main containers, all at once ─▶ over | being deleted ─▶ all stopped
 */
export class PodWorker {
  readonly uid: string;
  readonly init: readonly ContainerSlot[];
  readonly main: readonly ContainerSlot[];
  readonly #options: WorkerOptions;
  #pod: Pod;
  #failure: PodFailure | undefined;
  #deadline: { readonly cancel: CancelTimer } | undefined;

  constructor(pod: Pod, options: WorkerOptions) {
    this.uid = pod.metadata.uid ?? "";
    this.#pod = pod;
    this.#options = options;
    this.init = (pod.spec.initContainers ?? []).map((container) =>
      this.#slot(container, container.restartPolicy === "Always" ? "sidecar" : "init"),
    );
    this.main = pod.spec.containers.map((container) => this.#slot(container, "main"));
    this.#recover(this.init, pod.status?.initContainerStatuses);
    this.#recover(this.main, pod.status?.containerStatuses);
  }

  get pod(): Pod {
    return this.#pod;
  }
  get slots(): readonly ContainerSlot[] {
    return [...this.init, ...this.main];
  }
  /** Why the pod failed as a whole, beyond what its containers say. */
  get failure(): PodFailure | undefined {
    return this.#failure;
  }
  get isStopped(): boolean {
    return this.slots.every(({ isRunning }) => !isRunning);
  }
  /** All init containers have done what the main ones wait for. */
  get isInitialized(): boolean {
    return this.init.every((slot) => isInitialized(slot));
  }
  /** Nothing of it will ever run again. */
  get isOver(): boolean {
    if (!this.isStopped) return false;
    if (this.#pod.metadata.deletionTimestamp !== undefined) return true;
    return this.#failure !== undefined || this.#initFailed || this.main.every((slot) => this.#isOver(slot));
  }

  /** Takes the pod as it is now, and starts or stops what has to be. */
  sync(pod: Pod): void {
    this.#pod = pod;
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      this.stop(deletionGracePeriodSeconds * 1000);
      return;
    }
    this.#watchDeadline();
    if (this.#failure !== undefined || this.#initFailed || this.main.every((slot) => this.#isOver(slot))) {
      this.stop(graceMs(pod));
      return;
    }
    for (const slot of this.init) {
      const { ended } = slot;
      if (slot.role === "init" && ended?.exitCode === 0) continue;
      slot.ensureRun(pod);
      if (!isInitialized(slot)) return;
    }
    for (const slot of this.main) if (!this.#isOver(slot)) slot.ensureRun(pod);
  }

  stop(withinMs: number): void {
    this.#deadline?.cancel();
    this.#deadline = undefined;
    for (const slot of this.slots) slot.stop(withinMs);
  }

  get #initFailed(): boolean {
    return (
      this.#pod.spec.restartPolicy === "Never" &&
      this.init.some(({ role, ended }) => role === "init" && ended !== undefined && ended.exitCode !== 0)
    );
  }

  #isOver({ ended }: ContainerSlot): boolean {
    if (ended === undefined) return false;
    const { restartPolicy = "Always" } = this.#pod.spec;
    return restartPolicy === "Never" || (restartPolicy === "OnFailure" && ended.exitCode === 0);
  }

  #watchDeadline(): void {
    const { activeDeadlineSeconds } = this.#pod.spec;
    const since = timeMs(this.#pod.status?.startTime);
    if (activeDeadlineSeconds === undefined || since === undefined || this.#failure !== undefined) return;
    const leftMs = since + activeDeadlineSeconds * 1000 - this.#options.env.now().getTime();
    if (leftMs <= 0) {
      this.#failure = {
        reason: "DeadlineExceeded",
        message: "Pod was active on the node longer than the specified deadline",
      };
      return;
    }
    this.#deadline?.cancel();
    this.#deadline = { cancel: this.#options.env.setTimer(leftMs, this.#options.onChange) };
  }

  #slot(container: Container, role: ContainerRole): ContainerSlot {
    const { env, backoff, start, onChange } = this.#options;
    return new ContainerSlot({ env, role, container, backoff, start, onChange });
  }

  #recover(slots: readonly ContainerSlot[], statuses: readonly ContainerStatus[] | undefined): void {
    for (const slot of slots) {
      const status = statuses?.find(({ name }) => name === slot.container.name);
      if (status !== undefined) slot.recover(this.#pod, status, !this.#options.needsProcess(slot.container));
    }
  }
}

export interface PodFailure {
  readonly reason: string;
  readonly message: string;
}

const isInitialized = ({ role, ended, state }: ContainerSlot): boolean =>
  role === "sidecar" ? state.kind === "Running" : ended?.exitCode === 0;

const graceMs = ({ spec }: Pod): number => (spec.terminationGracePeriodSeconds ?? 30) * 1000;

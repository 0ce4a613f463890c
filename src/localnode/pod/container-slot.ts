import type { ContainerStatus, Pod } from "../../api/builtin/pod.ts";
import type { Container } from "../../api/builtin/pod-spec.ts";
import type { CancelTimer, Env } from "../../env/env.ts";
import { formatDurationMs } from "../../kube/duration.ts";
import { timeMs } from "../workloads/pod-facts.ts";
import type { ContainerRole, ContainerRun, Exited, StartRun } from "./container-run.ts";

/** How long to wait before a container that ended is started again. */
export interface RestartBackoff {
  readonly baseMs: number;
  readonly maxMs: number;
}
export const defaultRestartBackoff: RestartBackoff = { baseMs: 10_000, maxMs: 300_000 };

export type SlotState =
  | { readonly kind: "Waiting"; readonly reason: string; readonly message?: string }
  | { readonly kind: "Running"; readonly startedAt: Date; readonly ready: boolean }
  | Exited;

export interface SlotOptions {
  readonly env: Env;
  readonly role: ContainerRole;
  readonly container: Container;
  readonly backoff: RestartBackoff;
  readonly start: StartRun;
  readonly onChange: () => void;
}

/** The place of one container in its pod, over all its restarts. */
export class ContainerSlot {
  readonly role: ContainerRole;
  readonly container: Container;
  restarts = 0;
  /** How the run before this one ended. */
  last: Exited | undefined;
  readonly #options: SlotOptions;
  #run: ContainerRun | undefined;
  #ended: Exited | undefined;
  #crashes = 0;
  #wait: { readonly delayMs: number; readonly cancel: CancelTimer; isOver: boolean } | undefined;

  constructor(options: SlotOptions) {
    this.role = options.role;
    this.container = options.container;
    this.#options = options;
  }

  get state(): SlotState {
    const run = this.#run?.state;
    if (run?.kind === "Running") return run;
    if (run?.kind === "Starting") {
      return run.problem ? { kind: "Waiting", ...run.problem } : { kind: "Waiting", reason: "ContainerCreating" };
    }
    return this.#ended ?? { kind: "Waiting", reason: "ContainerCreating" };
  }

  /** What people see: a crashed container that waits for its restart is in CrashLoopBackOff. */
  shown(pod: Pod): SlotState {
    const isBeginning = this.#run?.state.kind === "Starting" && this.#run.state.problem === undefined;
    // The moment between two runs is of no interest: until the next one runs, the last one is what there is to see.
    if (isBeginning && this.last !== undefined) return this.last;
    if (this.#wait === undefined) return this.state;
    const { name, namespace, uid } = pod.metadata;
    const delay = formatDurationMs(this.#wait.delayMs);
    const message = `back-off ${delay} restarting failed container=${this.container.name} pod=${name}_${namespace}(${uid})`;
    return { kind: "Waiting", reason: "CrashLoopBackOff", message };
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }
  get isReady(): boolean {
    const { state } = this;
    return state.kind === "Running" && state.ready;
  }
  /** Its last run, if it is over and none has begun since. */
  get ended(): Exited | undefined {
    return this.#run === undefined ? this.#ended : undefined;
  }

  /** Starts it, or starts it again once its back-off is over. */
  ensureRun(pod: Pod): void {
    if (this.#run !== undefined) return;
    if (this.#ended === undefined) {
      this.#begin(pod);
      return;
    }
    if (this.#wait === undefined) this.#beginWait();
    if (this.#wait?.isOver === false) return;
    this.#wait = undefined;
    this.#crashes++;
    this.restarts++;
    this.#begin(pod);
  }

  stop(graceMs: number): void {
    this.#wait?.cancel();
    this.#wait = undefined;
    this.#run?.stop(graceMs);
  }

  /** Takes up what an earlier process of this node reported. `canGoOn`: the container does not need a process. */
  recover(pod: Pod, status: ContainerStatus, canGoOn: boolean): void {
    this.restarts = status.restartCount;
    this.last = exitedOf(status.lastState?.terminated);
    const { running, terminated } = status.state ?? {};
    const since = timeMs(running?.startedAt);
    if (running !== undefined && canGoOn) this.#begin(pod, new Date(since ?? this.#options.env.now().getTime()));
    else if (running !== undefined) this.#ended = lost(since, this.#options.env.now());
    else this.#ended = exitedOf(terminated) ?? (this.restarts > 0 ? this.last : undefined);
    this.#crashes = this.restarts;
  }

  #begin(pod: Pod, runningSince?: Date): void {
    if (this.#ended !== undefined) this.last = this.#ended;
    this.#ended = undefined;
    const { start, onChange } = this.#options;
    const run = start({
      pod,
      container: this.container,
      role: this.role,
      restarts: this.restarts,
      ...(runningSince && { runningSince }),
      onChange: () => {
        this.#settle();
        onChange();
      },
    });
    this.#run = run;
    this.#settle();
  }

  #settle(): void {
    const state = this.#run?.state;
    if (state?.kind !== "Exited") return;
    this.#run = undefined;
    this.#ended = state;
    const { startedAt, finishedAt } = state;
    const ranMs = startedAt === undefined ? 0 : finishedAt.getTime() - startedAt.getTime();
    // One that ran this long is not in a loop.
    if (ranMs > 2 * this.#options.backoff.maxMs) this.#crashes = 0;
  }

  #beginWait(): void {
    const delayMs = this.#backoffMs();
    if (delayMs === 0) return;
    const cancel = this.#options.env.setTimer(delayMs, () => {
      wait.isOver = true;
      this.#options.onChange();
    });
    const wait = { delayMs, cancel, isOver: false };
    this.#wait = wait;
  }

  /** The first restart comes at once, as a kubelet does it. */
  #backoffMs(): number {
    const { baseMs, maxMs } = this.#options.backoff;
    return this.#crashes === 0 ? 0 : Math.min(maxMs, baseMs * 2 ** Math.min(this.#crashes - 1, 30));
  }
}

type Terminated = NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>;

function exitedOf(terminated: Terminated | undefined): Exited | undefined {
  if (terminated === undefined) return undefined;
  const { exitCode, signal, reason = "", message, startedAt, finishedAt } = terminated;
  const started = timeMs(startedAt);
  return {
    kind: "Exited",
    exitCode,
    ...(signal !== undefined && { signal }),
    reason,
    ...(message !== undefined && { message }),
    ...(started !== undefined && { startedAt: new Date(started) }),
    finishedAt: new Date(timeMs(finishedAt) ?? 0),
  };
}

/** It ran when the node stopped, and how it ended nobody has seen. */
const lost = (since: number | undefined, now: Date): Exited => ({
  kind: "Exited",
  exitCode: 137,
  reason: "ContainerStatusUnknown",
  message: "The container could not be located when the node was started again",
  ...(since !== undefined && { startedAt: new Date(since) }),
  finishedAt: now,
});

import type { Pod } from "../../api/builtin/pod.ts";
import type { Container } from "../../api/builtin/pod-spec.ts";

/** One life of a container, from its start to its end. A restart is another run. */
export interface ContainerRun {
  readonly state: RunState;
  /** Asks it to end, and ends it by force when the grace period is over. May be called again with a shorter one. */
  stop(graceMs: number): void;
}

export type RunState =
  /** On its way; `problem` says what keeps it. */
  | { readonly kind: "Starting"; readonly problem?: { readonly reason: string; readonly message: string } }
  | { readonly kind: "Running"; readonly startedAt: Date; readonly ready: boolean }
  | Exited;

export interface Exited {
  readonly kind: "Exited";
  readonly exitCode: number;
  readonly signal?: number;
  /** Completed, Error, OOMKilled, StartError, … */
  readonly reason: string;
  readonly message?: string;
  readonly startedAt?: Date;
  readonly finishedAt: Date;
}

export interface RunRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly role: ContainerRole;
  /** How many runs of this container came before. */
  readonly restarts: number;
  /** A run that went on before the node itself was started again. */
  readonly runningSince?: Date;
  /** Told whenever `state` may have changed. */
  readonly onChange: () => void;
}

/** `sidecar`: an init container that stays. */
export type ContainerRole = "init" | "sidecar" | "main";

export type StartRun = (request: RunRequest) => ContainerRun;

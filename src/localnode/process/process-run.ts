import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import type { CancelTimer, Env } from "../../env/env.ts";
import type { ContainerRun, Exited, RunRequest, RunState } from "../pod/container-run.ts";
import { NotStartable } from "./config-source.ts";
import type { LaunchEvents, Launched } from "./launch.ts";
import { launchProcess } from "./launch-process.ts";
import { launchThread } from "./launch-thread.ts";
import type { LogStore, OpenLog } from "./log-store.ts";
import { type PreparedContainer, type ProcessSettings, prepareContainer } from "./prepare.ts";
import { ProbeLoop } from "./probe.ts";
import type { ProcessRecords } from "./process-records.ts";

export interface ProcessParts {
  readonly env: Env;
  readonly settings: ProcessSettings;
  readonly logs: LogStore;
  readonly records: ProcessRecords;
}

/** Runs a container as a real process, or as a thread where it is one of our own small programs. */
export function runProcess(parts: ProcessParts, request: RunRequest): ContainerRun {
  return new ProcessRun(parts, request);
}

class ProcessRun implements ContainerRun {
  state: RunState = { kind: "Starting" };
  readonly #env: Env;
  readonly #parts: ProcessParts;
  readonly #request: RunRequest;
  readonly #cancelled = new AbortController();
  readonly #timers = new Set<CancelTimer>();
  readonly #probes: ProbeLoop[] = [];
  #launched: Launched | undefined;
  #prepared: PreparedContainer | undefined;
  #killTimer: { readonly atMs: number; readonly cancel: CancelTimer } | undefined;
  #log: OpenLog | undefined;
  #livenessFailed = false;

  constructor(parts: ProcessParts, request: RunRequest) {
    this.#env = parts.env;
    this.#parts = parts;
    this.#request = request;
    void this.#start(1);
  }

  stop(graceMs: number): void {
    this.#cancelled.abort(new Error("the container is stopped"));
    if (this.state.kind === "Exited") return;
    const launched = this.#launched;
    if (launched === undefined) {
      this.#end({ exitCode: 137, reason: "Error", message: "stopped before it was started" });
      return;
    }
    const atMs = this.#env.monotonicMs() + graceMs;
    if (this.#killTimer !== undefined && this.#killTimer.atMs <= atMs) return;
    if (this.#killTimer === undefined && graceMs > 0) launched.signal("SIGTERM");
    this.#killTimer?.cancel();
    this.#killTimer = { atMs, cancel: this.#env.setTimer(graceMs, () => launched.signal("SIGKILL")) };
  }

  async #start(attempt: number): Promise<void> {
    try {
      const prepared = await prepareContainer(this.#parts.settings, this.#request, this.#cancelled.signal);
      if (this.#cancelled.signal.aborted) return;
      this.#prepared = prepared;
      this.#launch(prepared);
      this.#renewVolumes(prepared);
    } catch (error) {
      if (this.#cancelled.signal.aborted || this.state.kind === "Exited") return;
      const message = error instanceof Error ? error.message : String(error);
      const reason = error instanceof NotStartable ? error.reason : "CreateContainerError";
      this.#become({ kind: "Starting", problem: { reason, message } });
      const delayMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempt, 10));
      this.#later(delayMs, () => void this.#start(attempt + 1));
    }
  }

  #launch(prepared: PreparedContainer): void {
    const { pod, container, restarts } = this.#request;
    const { uid = "" } = pod.metadata;
    mkdirSync(prepared.cwd, { recursive: true, mode: 0o700 });
    writeFileSync(prepared.terminationFile, "", { mode: 0o600 });
    const log = this.#parts.logs.begin(uid, container.name, restarts);
    this.#log = log;
    const startedAt = this.#env.now();
    let finish: () => void = () => undefined;
    const events: LaunchEvents = {
      output: (stream, text) => log.write(stream, text),
      notStarted: (message) => this.#end({ exitCode: 128, reason: "StartError", message }),
      exited: (code, signal) => {
        finish = this.#exited(startedAt, code, signal);
      },
      closed: () => finish(),
    };
    const launched =
      prepared.thread === undefined ? launchProcess(prepared, events) : launchThread(prepared.thread, prepared, events);
    if (prepared.thread === undefined && launched.pid === undefined) return;
    this.#launched = launched;
    if (launched.pid !== undefined) this.#parts.records.add(uid, container.name, launched.pid);
    this.#become({
      kind: "Running",
      startedAt,
      ready: container.readinessProbe === undefined && container.startupProbe === undefined,
    });
    this.#watchHealth(prepared, startedAt);
  }

  /** Answers what is to be done once its last output has been read. */
  #exited(startedAt: Date, code: number | null, signal: NodeJS.Signals | null): () => void {
    const number = signal === null ? undefined : constants.signals[signal];
    const exitCode = code ?? 128 + (number ?? 0);
    let isDone = false;
    const finish = (): void => {
      if (isDone) return;
      isDone = true;
      cancel();
      const message = this.#terminationMessage(exitCode);
      const reason = exitCode === 0 ? "Completed" : "Error";
      this.#end({
        exitCode,
        reason: this.#livenessFailed && exitCode === 0 ? "Error" : reason,
        ...(message !== "" && { message }),
        startedAt,
        ...(number !== undefined && { signal: number }),
      });
    };
    const cancel = this.#env.setTimer(outputDrainMs, finish);
    return finish;
  }

  #end(exited: Omit<Exited, "kind" | "finishedAt">): void {
    if (this.state.kind === "Exited") return;
    this.#cancelled.abort(new Error("the container has ended"));
    this.#killTimer?.cancel();
    for (const cancel of this.#timers) cancel();
    for (const probe of this.#probes) probe.stop();
    const { pod, container } = this.#request;
    this.#parts.records.remove(pod.metadata.uid ?? "", container.name);
    this.#become({ kind: "Exited", ...exited, finishedAt: this.#env.now() });
    // After the state, so that whoever follows the log finds the container ended when the log ends.
    this.#log?.close();
  }

  #terminationMessage(exitCode: number): string {
    const { container } = this.#request;
    const written = readLimited(this.#prepared?.terminationFile);
    if (this.#prepared !== undefined) rmSync(this.#prepared.terminationFile, { force: true });
    if (written !== "" || container.terminationMessagePolicy !== "FallbackToLogsOnError" || exitCode === 0)
      return written;
    const { pod, restarts } = this.#request;
    const lines = this.#parts.logs.read(pod.metadata.uid ?? "", container.name, restarts) ?? [];
    const last = lines.slice(-fallbackLines).map(({ text }) => `${text}\n`);
    return Buffer.from(last.join(""))
      .subarray(-fallbackBytes)
      .toString()
      .replace(/^\ufffd+/, "");
  }

  #watchHealth(prepared: PreparedContainer, startedAt: Date): void {
    const { container } = this.#request;
    const { startupProbe, readinessProbe, livenessProbe } = container;
    const target = {
      env: this.#env,
      container,
      address: prepared.address,
      variables: prepared.variables,
      cwd: prepared.cwd,
      translate: prepared.translate,
    };
    const setReady = (ready: boolean): void => {
      if (this.state.kind === "Running") this.#become({ kind: "Running", startedAt, ready });
    };
    const onceStarted = (): void => {
      if (readinessProbe === undefined) setReady(true);
      else this.#probes.push(new ProbeLoop(readinessProbe, target, setReady));
      if (livenessProbe !== undefined) {
        this.#probes.push(new ProbeLoop(livenessProbe, target, (isAlive) => !isAlive && this.#giveUp()));
      }
    };
    if (startupProbe === undefined) {
      if (readinessProbe !== undefined || livenessProbe !== undefined) onceStarted();
      return;
    }
    const startup = new ProbeLoop(startupProbe, target, (isStarted) => {
      startup.stop();
      if (isStarted) onceStarted();
      else this.#giveUp();
    });
    this.#probes.push(startup);
  }

  #giveUp(): void {
    this.#livenessFailed = true;
    this.stop((this.#request.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000);
  }

  /** Tokens end; the files that hold them are written anew in time. */
  #renewVolumes({ renewInMs }: PreparedContainer): void {
    if (renewInMs === undefined) return;
    this.#later(renewInMs, () => {
      prepareContainer(this.#parts.settings, this.#request, this.#cancelled.signal).then(
        (prepared) => this.#renewVolumes(prepared),
        // Tried again soon: the old token is still good for a fifth of its life.
        () => this.#prepared && this.#renewVolumes({ ...this.#prepared, renewInMs: maxRetryMs }),
      );
    });
  }

  #later(delayMs: number, step: () => void): void {
    const cancel = this.#env.setTimer(delayMs, () => {
      this.#timers.delete(cancel);
      if (this.state.kind !== "Exited") step();
    });
    this.#timers.add(cancel);
  }

  #become(state: RunState): void {
    this.state = state;
    this.#request.onChange();
  }
}

const firstRetryMs = 100;
const maxRetryMs = 10_000;
/** Output that is still on its way when a program has ended is waited for, but not for ever. */
const outputDrainMs = 500;
const maxMessageBytes = 4096;
const fallbackLines = 80;
const fallbackBytes = 2048;

function readLimited(file: string | undefined): string {
  if (file === undefined) return "";
  try {
    return readFileSync(file)
      .subarray(0, maxMessageBytes)
      .toString()
      .replace(/\ufffd+$/, "");
  } catch {
    return "";
  }
}

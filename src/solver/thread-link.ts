import { Worker } from "node:worker_threads";
import type { CancelTimer, Env } from "../env/env.ts";
import type { ThreadReply, ThreadTask } from "./thread-messages.ts";

/** Long enough for the questions that follow one another, short enough that its memory is not missed. */
const idleMs = 10_000;
/** The thread hears a cancellation between two slices; one that does not is stuck, and is ended. */
const cancelGraceMs = 2_000;

/**
 * The way to the solver's thread: starts it with the first message, and ends it when nothing has been asked for a while.
 * A thread that dies fails every question that waits for it, and the next question starts another.
 */
export class ThreadLink {
  readonly env: Env;
  readonly #file: URL;
  readonly #waiting = new Map<number, Waiting>();
  /** Questions that nobody waits for, but that the thread has not put down yet. */
  readonly #cancelled = new Map<number, CancelTimer>();
  #worker: Worker | undefined;
  #generation = 0;
  #nextId = 1;
  #cancelIdle: CancelTimer = () => undefined;

  constructor(env: Env, file: URL = threadFile()) {
    this.env = env;
    this.#file = file;
  }

  /** Which thread in a row it is that would hear a message now; another one knows nothing of what was told to the last. */
  get generation(): number {
    return this.#worker ? this.#generation : this.#generation + 1;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Answers the generation that was told. */
  tell(task: ThreadTask, transfer: readonly ArrayBuffer[] = []): number {
    this.#running().postMessage(task, transfer);
    this.#restIfIdle();
    return this.#generation;
  }

  ask(
    taskOf: (id: number) => ThreadTask,
    { transfer = [], signal }: { readonly transfer?: readonly ArrayBuffer[]; readonly signal?: AbortSignal },
  ): Promise<ThreadReply> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const worker = this.#running();
      // First: where no thread can be started, or nothing can be sent to it, nobody waits.
      worker.postMessage(taskOf(id), transfer);
      const onAbort = (): void => {
        this.#cancel(id);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.set(id, { resolve, reject, leave: () => signal?.removeEventListener("abort", onAbort) });
      this.#cancelIdle();
      // While an answer is due, the thread keeps the process alive: nothing else does.
      worker.ref();
    });
  }

  async endIfIdle(): Promise<void> {
    if (this.#waiting.size === 0) await this.#end(new Error("the solver's thread was ended"));
  }

  #running(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.#file, { env: {}, execArgv: [], name: "capstan-solver" });
    this.#worker = worker;
    this.#generation++;
    this.#restIfIdle();
    const fail = (cause: unknown): void => {
      if (this.#worker !== worker) return;
      const message = cause instanceof Error ? cause.message : String(cause);
      void this.#end(new Error(`the solver's thread has died: ${message}`, { cause }));
    };
    worker.on("message", (reply: ThreadReply) => this.#settle(reply));
    worker.on("error", fail);
    worker.on("exit", (code) => fail(new Error(`exit code ${code}`)));
    return worker;
  }

  #settle(reply: ThreadReply): void {
    this.#cancelled.get(reply.id)?.();
    this.#cancelled.delete(reply.id);
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    waiting?.leave();
    if (reply.kind === "Failed") waiting?.reject(new Error(`the solver's thread failed: ${reply.message}`));
    else waiting?.resolve(reply);
    this.#restIfIdle();
  }

  #cancel(id: number): void {
    this.#waiting.delete(id);
    const worker = this.#worker;
    if (!worker) return;
    worker.postMessage({ kind: "cancel", id } satisfies ThreadTask);
    const giveUp = (): void => {
      if (this.#worker === worker) void this.#end(new Error("the solver's thread did not stop, and was ended"));
    };
    this.#cancelled.set(id, this.env.setTimer(cancelGraceMs, giveUp));
    this.#restIfIdle();
  }

  #restIfIdle(): void {
    if (this.#waiting.size > 0) return;
    this.#worker?.unref();
    this.#cancelIdle();
    this.#cancelIdle = this.env.setTimer(idleMs, () => void this.endIfIdle());
  }

  async #end(reason: Error): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#cancelIdle();
    for (const cancel of this.#cancelled.values()) cancel();
    this.#cancelled.clear();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject, leave } of waiting) {
      leave();
      reject(reason);
    }
    await worker?.terminate();
  }
}

interface Waiting {
  readonly resolve: (reply: ThreadReply) => void;
  readonly reject: (error: unknown) => void;
  leave(): void;
}

/** It stands beside this file and ends as this one does: `.ts` in a checkout, `.js` in the library, `.mjs` in the bundle. */
const threadFile = (): URL =>
  new URL(`./solver-thread${/\.[a-z]+$/.exec(import.meta.url)?.[0] ?? ".js"}`, import.meta.url);

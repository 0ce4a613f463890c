import type { Client } from "../client/client.ts";
import type { Env } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Controller } from "./controller.ts";
import { EventRecorder } from "./events.ts";
import { createInformer, type Informer, type InformerSettings, informerId } from "./informer.ts";
import { exposeInformers } from "./informer-metrics.ts";
import {
  type LeaderElection,
  type LeaderElectionOptions,
  LeadershipLost,
  runLeaderElection,
} from "./leader-election.ts";
import { type Logger, silentLogger } from "./log.ts";
import { MetricsRegistry } from "./metrics.ts";
import { RunningController } from "./running-controller.ts";
import { createTracing, type Tracing } from "./tracing.ts";
import type { WatcherScope } from "./watcher.ts";

/**
 * Runs controllers together: one cache per kind and scope, one order of starting and stopping.
 *
 *     start: caches → (leadership) → workers        stop: sources → workers drained → lease released → caches closed
 */
export interface Manager {
  /** Before or after `start`. */
  add(controller: Controller): RunningController;
  /** Resolves when every controller that may run does; caches of kinds that are not served yet are not waited for. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The shared cache of a kind, for parts that only read. */
  informer<T extends KubeObject>(kind: KindRef<T>, scope?: WatcherScope): Informer<T>;
  readonly controllers: readonly RunningController[];
  readonly informers: readonly Informer[];
  readonly metrics: MetricsRegistry;
  readonly isLeader: boolean;
  /** False when we believe to lead, but could not renew the lease in time. */
  readonly isElectionHealthy: boolean;
  /** Resolves with the reason when the manager has stopped by itself, for instance because the lease was lost. */
  readonly stopped: Promise<Error | undefined>;
}

export interface ManagerOptions {
  readonly env: Env;
  readonly client: Client;
  readonly log?: Logger;
  readonly metrics?: MetricsRegistry;
  readonly tracing?: Tracing;
  /** Names this process in events and leases. */
  readonly instance?: string;
  /** Watch only these namespaces; all when absent. */
  readonly namespaces?: readonly string[];
  /** Absent: this process leads. */
  readonly leaderElection?: LeaderElectionOptions;
  readonly cacheSyncTimeoutMs?: number;
  readonly drainMs?: number;
  readonly concurrency?: number;
  /** By `Kind.group`, where one kind needs more or fewer workers than the rest. */
  readonly concurrencyByKind?: Readonly<Record<string, number>>;
  readonly watcher?: InformerSettings["watcher"];
  /** By `Kind.group`: which objects of a kind are cached, and what of them. */
  readonly caches?: Readonly<Record<string, CacheSettings>>;
}

export interface CacheSettings {
  /** Added to what a controller asks for, where it does not say otherwise. */
  readonly scope?: WatcherScope;
  readonly namespaces?: readonly string[];
  /** Takes away what nobody reads; by default the managedFields. */
  readonly transform?: (object: KubeObject) => KubeObject;
}

export function createManager(options: ManagerOptions): Manager {
  return new ControllerManager(options);
}

class ControllerManager implements Manager {
  readonly metrics: MetricsRegistry;
  readonly stopped: Promise<Error | undefined>;
  readonly #options: ManagerOptions;
  readonly #log: Logger;
  readonly #tracing: Tracing;
  readonly #recorder: EventRecorder;
  readonly #informers = new Map<string, Informer>();
  readonly #controllers: RunningController[] = [];
  readonly #started = new Set<RunningController>();
  readonly #closeCaches = new AbortController();
  readonly #cacheRuns: Promise<void>[] = [];
  #resolveStopped: (reason: Error | undefined) => void = () => undefined;
  #state: "new" | "running" | "stopping" = "new";
  #election: LeaderElection | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLogger;
    this.metrics = options.metrics ?? new MetricsRegistry();
    this.#tracing = options.tracing ?? createTracing();
    this.#recorder = new EventRecorder({
      env: options.env,
      client: options.client,
      log: this.#log,
      instance: options.instance ?? "capstan",
      signal: this.#closeCaches.signal,
    });
    const stopExposing = exposeInformers(this.metrics, options.env, () => this.informers);
    this.#closeCaches.signal.addEventListener("abort", stopExposing, { once: true });
    this.stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
  }

  get controllers(): readonly RunningController[] {
    return this.#controllers;
  }
  get informers(): readonly Informer[] {
    return [...this.#informers.values()];
  }
  get isLeader(): boolean {
    if (this.#state !== "running") return false;
    return this.#options.leaderElection === undefined || (this.#election?.isLeader ?? false);
  }

  get isElectionHealthy(): boolean {
    return this.#election?.isHealthy ?? true;
  }

  add(controller: Controller): RunningController {
    if (this.#controllers.some((known) => known.controller.name === controller.name)) {
      throw new Error(`there are two controllers named ${controller.name}`);
    }
    const { env, client } = this.#options;
    const running = new RunningController(controller, {
      env,
      client,
      log: this.#log,
      metrics: this.metrics,
      recorder: this.#recorder,
      tracing: this.#tracing,
      informersFor: (kind, scope) => this.#informersFor(kind, scope),
      concurrency: this.#concurrencyOf(controller),
      fence: () => this.#fence(controller),
    });
    running.attach();
    this.#controllers.push(running);
    if (this.#state === "running") {
      this.#runCaches();
      if (this.#mayRun(running)) void this.#startWhenSynced(running).catch((error: unknown) => this.#fail(error));
    }
    return running;
  }

  informer<T extends KubeObject>(kind: KindRef<T>, scope: WatcherScope = {}): Informer<T> {
    const id = informerId(kind, scope);
    const known = this.#informers.get(id);
    if (known !== undefined) return known as unknown as Informer<T>;
    const { env, client, watcher } = this.#options;
    const transform = this.#options.caches?.[kindName(kind)]?.transform;
    const made = createInformer(kind, scope, {
      env,
      client,
      log: this.#log,
      ...(watcher && { watcher }),
      ...(transform && { transform }),
    });
    this.#informers.set(id, made as unknown as Informer);
    if (this.#state === "running") this.#runCaches();
    return made;
  }

  async start(): Promise<void> {
    if (this.#state !== "new") throw new Error("a manager starts once");
    this.#state = "running";
    this.#runCaches();
    const always = this.#controllers.filter(({ controller }) => controller.options.needsLeadership === false);
    const led = this.#controllers.filter(({ controller }) => controller.options.needsLeadership !== false);
    const { leaderElection } = this.#options;
    if (leaderElection === undefined) {
      await this.#startAll([...always, ...led]);
      return;
    }
    await this.#startAll(always);
    // On standby the caches are already warm and the queues full, so that taking over costs no list.
    this.#election = runLeaderElection(leaderElection, {
      env: this.#options.env,
      client: this.#options.client,
      log: this.#log,
      metrics: this.metrics,
      onLead: () =>
        this.#startAll(this.#controllers.filter((running) => !this.#started.has(running))).catch((error: unknown) =>
          this.#fail(error),
        ),
      onLose: (reason) => this.#lose(reason),
    });
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#shutDown(undefined);
    return this.#stopping;
  }

  async #shutDown(reason: Error | undefined): Promise<void> {
    this.#state = "stopping";
    await Promise.all(this.#controllers.map((running) => running.stop(this.#options.drainMs ?? defaultDrainMs)));
    await Promise.race([this.#recorder.drained(), after(this.#options.env, eventDrainMs)]);
    await this.#election?.release();
    this.#closeCaches.abort(new Error("the manager has stopped"));
    await Promise.all(this.#cacheRuns);
    this.#resolveStopped(reason);
  }

  /** Another replica may lead in a moment: nothing of ours may write any more. */
  #lose(reason: Error): void {
    for (const running of this.#controllers) {
      if (running.controller.options.needsLeadership !== false) running.abort(reason);
    }
    this.#fail(reason);
  }

  #fail(error: unknown): void {
    const reason = error instanceof Error ? error : new Error(String(error));
    if (this.#state !== "stopping") this.#log.error("the manager stops", { error: reason });
    this.#stopping ??= this.#shutDown(reason);
  }

  async #startAll(controllers: readonly RunningController[]): Promise<void> {
    await Promise.all(controllers.map((running) => this.#startWhenSynced(running)));
  }

  async #startWhenSynced(running: RunningController): Promise<void> {
    const { env, cacheSyncTimeoutMs = defaultCacheSyncMs } = this.#options;
    const synced = Promise.all(running.informers.map(({ cache }) => cache.whenSynced())).then(() => "synced" as const);
    const start = (): void => {
      if (this.#state !== "running" || this.#started.has(running)) return;
      this.#started.add(running);
      running.start();
    };
    for (;;) {
      const first = await Promise.race([synced, after(env, cacheSyncTimeoutMs), this.#unserved(running)]);
      if (first === "synced") return start();
      if (this.#state !== "running") return;
      const missing = running.informers.filter(({ cache }) => !cache.synced);
      if (missing.length === 0) return start();
      const absent = missing.filter(isAbsent);
      if (absent.length < missing.length) {
        const names = missing.map(({ kind, health }) => `${kind.kind} (${describeError(health.lastError)})`).join(", ");
        throw new Error(
          `the caches of controller ${running.controller.name} did not fill in ${cacheSyncTimeoutMs} ms: ${names}`,
        );
      }
      // Kinds may be installed later; the watch keeps asking, and the controller starts when they come.
      this.#log.info("controller waits for kinds that are not served yet", {
        controller: running.controller.name,
        kinds: absent.map(({ kind }) => kind.kind),
      });
      void synced.then(start);
      return;
    }
  }

  /** Resolves once all that is missing is known not to be served. */
  async #unserved(running: RunningController): Promise<void> {
    for (;;) {
      await after(this.#options.env, unservedCheckMs);
      const missing = running.informers.filter(({ cache }) => !cache.synced);
      if (missing.length === 0 || this.#state !== "running" || missing.every(isAbsent)) return;
    }
  }

  /** After a long stall the lease may be gone before its loss is noticed; the clock tells it at once. */
  #fence(controller: Controller): void {
    if (this.#election === undefined || this.#election.isLeader || controller.options.needsLeadership === false) return;
    throw new LeadershipLost("the lease was not renewed in time, so nothing more is written");
  }

  #mayRun(running: RunningController): boolean {
    return running.controller.options.needsLeadership === false || this.isLeader;
  }

  #informersFor(kind: KindRef, asked: WatcherScope): readonly Informer[] {
    const settings = this.#options.caches?.[kindName(kind)];
    const scope = { ...settings?.scope, ...asked };
    const namespaces = settings?.namespaces ?? this.#options.namespaces;
    if (!kind.namespaced || namespaces === undefined || scope.namespace !== undefined)
      return [this.informer(kind, scope)];
    return namespaces.map((namespace) => this.informer(kind, { ...scope, namespace }));
  }

  #runCaches(): void {
    for (const informer of this.#informers.values()) {
      const run = informer.run(this.#closeCaches.signal);
      if (!this.#cacheRuns.includes(run)) this.#cacheRuns.push(run);
    }
  }

  #concurrencyOf(controller: Controller): number {
    const byKind = this.#options.concurrencyByKind?.[kindName(controller.options.reconciles)];
    return controller.options.concurrency ?? byKind ?? this.#options.concurrency ?? defaultConcurrency;
  }
}

const defaultConcurrency = 4;
const defaultCacheSyncMs = 120_000;
const defaultDrainMs = 30_000;
const eventDrainMs = 1_000;
const unservedCheckMs = 500;

const kindName = ({ kind, group }: KindRef): string => (group === "" ? kind : `${kind}.${group}`);

const isAbsent = (informer: Informer): boolean => informer.health.absent;

const describeError = (error: unknown): string => (error instanceof Error ? error.message : "no answer yet");

const after = (env: Env, delayMs: number): Promise<void> =>
  new Promise((resolve) => void env.setTimer(delayMs, () => resolve()));

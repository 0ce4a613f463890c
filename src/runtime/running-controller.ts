import type { Span, SpanContext } from "@opentelemetry/api";
import type { Client } from "../client/client.ts";
import type { Env } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject, ObjectKey } from "../kube/object.ts";
import { keyText, parseKeyText } from "./cache.ts";
import { ChangeRouter, type Route } from "./change-router.ts";
import type { Controller, ReconcileContext, ReconcileRequest, Watch } from "./controller.ts";
import { type ControllerMetrics, controllerMetrics, initializeMetrics } from "./controller-metrics.ts";
import type { EventRecorder } from "./events.ts";
import type { Informer } from "./informer.ts";
import type { Logger } from "./log.ts";
import type { MetricsRegistry } from "./metrics.ts";
import { ObjectRateLimit } from "./object-rate-limit.ts";
import { OwnWrites } from "./own-writes.ts";
import { mergePermissions, type Permission } from "./permission.ts";
import { type QueuedKey, WorkQueue } from "./queue.ts";
import { createRead, type Read } from "./read.ts";
import type { Result } from "./result.ts";
import { conclude, type Outcome } from "./retry-policy.ts";
import { runWithin } from "./run-within.ts";
import type { Tracing } from "./tracing.ts";
import { UnchangedApplies } from "./unchanged-applies.ts";
import type { WatcherScope } from "./watcher.ts";
import { createWrite } from "./write.ts";

export interface ControllerEnvironment {
  readonly env: Env;
  readonly client: Client;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly recorder: EventRecorder;
  readonly tracing: Tracing;
  readonly informersFor: (kind: KindRef, scope: WatcherScope) => readonly Informer[];
  readonly concurrency: number;
  /** Throws when this process may not write any more. */
  readonly fence: () => void;
}

/** One controller at work: its queue, its workers, its view of the caches. */
export class RunningController {
  readonly controller: Controller;
  readonly queue: WorkQueue;
  readonly #environment: ControllerEnvironment;
  readonly #env: Env;
  readonly #metrics: ControllerMetrics;
  readonly #log: Logger;
  readonly #router: ChangeRouter;
  readonly #views = new Map<Informer, OwnWrites<KubeObject>>();
  readonly #viewsByKind = new Map<string, OwnWrites<KubeObject>[]>();
  readonly #read: Read;
  readonly #applies = new UnchangedApplies();
  readonly #rate: ObjectRateLimit | undefined;
  readonly #used: Permission[] = [];
  readonly #usedIds = new Set<string>();
  readonly #causes = new Map<string, SpanContext[]>();
  readonly #active = new Set<Promise<void>>();
  readonly #stopSources = new AbortController();
  readonly #cancel = new AbortController();
  #reconciles = 0;

  constructor(controller: Controller, environment: ControllerEnvironment) {
    this.controller = controller;
    this.#environment = environment;
    this.#env = environment.env;
    this.#metrics = controllerMetrics(environment.metrics);
    this.#log = environment.log.with({ controller: controller.name });
    this.queue = new WorkQueue({
      env: environment.env,
      name: controller.name,
      metrics: environment.metrics,
      ...(controller.options.backoff && { backoff: controller.options.backoff }),
      onRoom: () => this.#enqueueAll(),
    });
    const { objectRate } = controller.options;
    if (objectRate !== undefined) this.#rate = new ObjectRateLimit(environment.env, objectRate);
    this.#read = createRead((kind) => this.#viewsOf(kind));
    this.#router = new ChangeRouter({
      controller,
      env: environment.env,
      read: this.#read,
      log: this.#log,
      enqueue: (key, options) => void this.queue.add(keyText(key), options),
      onHandlerError: () => this.#metrics.handlerErrors.inc({ controller: controller.name }),
      onCause: (key, change) => this.#noteCause(keyText(key), change.kind, change.object),
    });
    initializeMetrics(this.#metrics, controller.name);
  }

  get informers(): readonly Informer[] {
    return [...this.#views.keys()];
  }
  /** True once everything that was there at the start has been turned into keys. */
  get synced(): boolean {
    return this.informers.every(({ cache }) => cache.synced);
  }
  /** Every write that was tried so far, as permissions. */
  get usedPermissions(): readonly Permission[] {
    return mergePermissions(this.#used);
  }
  get reconciles(): number {
    return this.#reconciles;
  }

  /** Follows all kinds and fills the queue; no reconcile runs yet. Replicas on standby stay in this state. */
  attach(): void {
    const { controller } = this;
    const { options } = controller;
    this.#follow(
      {
        kind: options.reconciles,
        predicates: options.predicates ?? [],
        ...(options.scope && { scope: options.scope }),
      },
      "self",
    );
    for (const owned of controller.owns) this.#follow(owned, "owner");
    for (const watched of controller.watches) this.#follow(watched, "map");
    for (const cached of controller.reads) this.#follow(cached, "none");
    for (const { kind, name, valuesOf } of options.indexes ?? []) {
      for (const informer of this.#informersOf(kind)) {
        if (!informer.cache.hasIndex(name)) informer.cache.addIndex(name, valuesOf);
      }
    }
    this.#router.subscribe(this.#views);
    for (const source of options.sources ?? []) {
      const enqueue = (key: ObjectKey, add?: { readonly priority?: number; readonly afterMs?: number }): void =>
        void this.queue.add(keyText(key), add);
      source.start(enqueue, { env: this.#env, signal: this.#stopSources.signal });
    }
  }

  /** Workers begin to reconcile. */
  start(): void {
    const { name } = this.controller;
    this.#metrics.maxConcurrent.set(this.#environment.concurrency, { controller: name });
    for (let worker = 0; worker < this.#environment.concurrency; worker++) this.#track(this.#work());
  }

  /** Stops taking keys, lets running reconciles finish, and cancels those that do not in time. */
  async stop(drainMs: number): Promise<void> {
    this.#stopSources.abort();
    this.#router.unsubscribe();
    this.queue.shutDown();
    const finished = Promise.all(this.#active).then(() => true);
    const drained = await Promise.race([finished, after(this.#env, drainMs)]);
    this.#cancel.abort(new Error("the controller is stopping"));
    if (drained !== true) {
      this.#log.warn("reconciles were cancelled because they did not end in time", {
        drainMs,
        running: this.#active.size,
      });
      await Promise.race([finished, after(this.#env, abandonMs)]);
    }
  }

  /** Cancels everything at once, because another replica may already lead. */
  abort(reason: Error): void {
    this.#stopSources.abort();
    this.#router.unsubscribe();
    this.queue.shutDown();
    this.#cancel.abort(reason);
  }

  async #work(): Promise<void> {
    for (;;) {
      const item = await this.queue.get(this.#cancel.signal);
      if (item === undefined) return;
      const waitMs = this.#rate?.waitMs(item.key) ?? 0;
      if (waitMs > 0) {
        this.queue.add(item.key, { afterMs: waitMs, priority: item.priority });
        this.queue.done(item);
        continue;
      }
      const released = this.#process(item);
      this.#track(released.settled);
      await released.moveOn;
    }
  }

  #track(work: Promise<void>): void {
    this.#active.add(work);
    void work.finally(() => this.#active.delete(work));
  }

  /** `moveOn`: the worker may take another key; `settled`: the reconcile has really ended and the key is free again. */
  #process(item: QueuedKey): { readonly moveOn: Promise<void>; readonly settled: Promise<void> } {
    const { name, options } = this.controller;
    const startedAtMs = this.#env.monotonicMs();
    const causes = this.#causes.get(item.key) ?? [];
    this.#causes.delete(item.key);
    this.#metrics.activeWorkers.add(1, { controller: name });
    this.#reconciles++;
    const request: ReconcileRequest = {
      key: parseKeyText(item.key),
      priority: item.priority,
      failures: this.queue.failures(item.key),
    };
    const limits = {
      timeoutMs: options.reconcileTimeoutMs ?? defaultReconcileTimeoutMs,
      abandonMs,
      signal: this.#cancel.signal,
    };
    const running = runWithin(this.#env, limits, (signal) => this.#reconcile(request, causes, signal));
    const moveOn = running.outcome.then(
      (result) => this.#conclude(item, { result }),
      (error: unknown) => this.#conclude(item, { error }),
    );
    const settled = Promise.all([moveOn, running.settled]).then(() => this.queue.done(item));
    const finished = moveOn.finally(() => {
      this.#metrics.activeWorkers.add(-1, { controller: name });
      this.#metrics.time.observe((this.#env.monotonicMs() - startedAtMs) / 1000, { controller: name });
    });
    return { moveOn: finished, settled };
  }

  async #reconcile(request: ReconcileRequest, causes: readonly SpanContext[], signal: AbortSignal): Promise<Result> {
    const { controller } = this;
    const { kind } = controller.options.reconciles;
    const attributes = {
      "k8s.controller": controller.name,
      "k8s.object.kind": kind,
      "k8s.object.name": request.key.name,
      ...(request.key.namespace !== undefined && { "k8s.namespace.name": request.key.namespace }),
      "capstan.failures": request.failures,
    };
    return this.#environment.tracing.run(`reconcile ${controller.name}`, attributes, causes, (span) =>
      controller.reconcile(request, this.#context(request, span, signal)),
    );
  }

  #context(request: ReconcileRequest, span: Span, signal: AbortSignal): ReconcileContext {
    const { controller } = this;
    const { client, recorder, tracing } = this.#environment;
    return {
      read: this.#read,
      now: this.#env.now(),
      write: createWrite({
        client,
        fieldManager: controller.fieldManager,
        signal,
        fence: this.#environment.fence,
        viewOf: (kind, key) => this.#viewFor(kind, key),
        applies: this.#applies,
        used: (permission) => this.#noteUse(permission),
        around: (verb, kind, key, write) =>
          tracing.child(
            span,
            `${verb} ${kind.plural}`,
            { "k8s.object.kind": kind.kind, "k8s.object.name": key?.name ?? "" },
            write,
          ),
      }),
      live: client,
      events: recorder.as(controller.name),
      log: this.#log.with({
        object: keyText(request.key),
        kind: controller.options.reconciles.kind,
        reconcileID: this.#env.uuid(),
        ...(span.spanContext().traceId !== noTrace && { traceId: span.spanContext().traceId }),
      }),
      signal,
      failures: request.failures,
      monotonicMs: this.#env.monotonicMs(),
      requeue: (key, afterMs = 0) => void this.queue.add(keyText(key), { afterMs }),
      background: (own, work) => {
        const lasting = AbortSignal.any([own, this.#stopSources.signal, this.#cancel.signal]);
        const running = work(this.#context(request, span, lasting)).catch((error: unknown) => {
          if (!lasting.aborted) this.#log.error("background work failed", { object: keyText(request.key), error });
        });
        this.#track(running);
        return running;
      },
    };
  }

  #conclude(item: QueuedKey, outcome: Outcome): void {
    // What a cancelled reconcile says is of no interest: whoever cancelled it takes care.
    if ("error" in outcome && this.#cancel.signal.aborted) return;
    conclude(item, outcome, { name: this.controller.name, queue: this.queue, metrics: this.#metrics, log: this.#log });
  }

  #follow(watched: Watch, route: Route): void {
    for (const informer of this.#environment.informersFor(watched.kind, watched.scope ?? {})) {
      let view = this.#views.get(informer);
      if (view === undefined) {
        view = new OwnWrites(this.#env, informer.cache, () =>
          this.#metrics.echoes.inc({ controller: this.controller.name }),
        );
        this.#views.set(informer, view);
        const id = kindText(watched.kind);
        this.#viewsByKind.set(id, [...(this.#viewsByKind.get(id) ?? []), view]);
      }
      this.#router.add(informer, watched, route);
    }
  }

  #viewsOf(kind: KindRef): readonly OwnWrites<KubeObject>[] {
    const views = this.#viewsByKind.get(kindText(kind));
    if (views !== undefined) return views;
    throw new Error(
      `controller ${this.controller.name} reads ${kind.kind}, but declares it neither in owns, watches nor reads`,
    );
  }

  #viewFor(kind: KindRef, key: ObjectKey): OwnWrites<KubeObject> | undefined {
    for (const [informer, view] of this.#views) {
      if (kindText(informer.kind) !== kindText(kind) || informer.scope.metadataOnly) continue;
      // Whether a written object is inside a selector only the server knows; such caches show it when the watch does.
      if (informer.scope.labelSelector !== undefined || informer.scope.fieldSelector !== undefined) continue;
      if (informer.scope.namespace === undefined || informer.scope.namespace === key.namespace) return view;
    }
    return undefined;
  }

  #informersOf(kind: KindRef): readonly Informer[] {
    return this.informers.filter((informer) => kindText(informer.kind) === kindText(kind));
  }

  #enqueueAll(): void {
    for (const { metadata } of this.#read.list(this.controller.options.reconciles)) this.queue.add(keyText(metadata));
  }

  #noteUse(permission: Permission): void {
    const id = `${permission.group}/${permission.resource}/${permission.verbs.join()}`;
    if (this.#usedIds.has(id)) return;
    this.#usedIds.add(id);
    this.#used.push(permission);
  }

  #noteCause(key: string, change: string, object: KubeObject): void {
    const cause = this.#environment.tracing.event(`watch ${object.kind} ${change}`, {
      "k8s.object.kind": object.kind,
      "k8s.object.name": object.metadata.name,
    });
    if (cause === undefined) return;
    const causes = this.#causes.get(key) ?? [];
    if (causes.length < maxCauses) this.#causes.set(key, [...causes, cause]);
  }
}

const defaultReconcileTimeoutMs = 300_000;
/** How long a reconcile may ignore its abort signal before its worker leaves it behind. */
const abandonMs = 30_000;
const maxCauses = 16;
const noTrace = "0".repeat(32);

const kindText = (kind: KindRef): string => `${kind.group}/${kind.plural}`;

const after = (env: Env, delayMs: number): Promise<void> =>
  new Promise((resolve) => void env.setTimer(delayMs, () => resolve()));

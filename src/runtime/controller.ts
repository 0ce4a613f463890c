import type { Client } from "../client/client.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject, ObjectKey } from "../kube/object.ts";
import type { BackoffOptions } from "./backoff.ts";
import type { IndexFunction } from "./cache.ts";
import type { Change } from "./change.ts";
import type { EventNote, ObjectEvents } from "./events.ts";
import type { Finalizer } from "./finalizer.ts";
import type { Logger } from "./log.ts";
import type { ObjectRate } from "./object-rate-limit.ts";
import { allow, mergePermissions, type Permission } from "./permission.ts";
import { runPipeline } from "./pipeline.ts";
import type { Predicate } from "./predicates.ts";
import type { Read } from "./read.ts";
import type { Result } from "./result.ts";
import type { Source } from "./source.ts";
import type { WatcherScope } from "./watcher.ts";
import type { Write } from "./write.ts";

/**
 * The normal way to write a controller: four functions, of which only one does anything.
 *
 *     observe (reads caches) → evaluate (decides, pure) → act (does, under preconditions) → reduce (merges, pure)
 *
 * The runtime writes the status that `reduce` answers, once, at the end, and only when it differs.
 */
export function defineController<T extends KubeObject, Snapshot, Decision, Outcome = undefined>(
  definition: ControllerDefinition<T, Snapshot, Decision, Outcome>,
): Controller {
  const { statusSubresource } = definition.reconciles;
  const writesStatus =
    statusSubresource === false
      ? allow(definition.reconciles, ["patch"])
      : allow(definition.reconciles, ["patch"], "status");
  return toController(definition, [writesStatus], (request, context) => runPipeline(definition, request, context));
}

/** A controller with a plain reconcile function, for what does not fit into four. */
export function defineReconciler<T extends KubeObject>(definition: ReconcilerDefinition<T>): Controller {
  return toController(definition, [], (request, context) => definition.reconcile(request.key, context, request));
}

export interface ControllerDefinition<T extends KubeObject, Snapshot, Decision, Outcome> extends ControllerOptions<T> {
  /** Everything that the decision depends on, from caches alone. */
  observe(object: T, context: ObserveContext): Snapshot;
  evaluate(snapshot: Snapshot): Decision;
  /** Answers refusals as part of the outcome; throws on faults, which are retried. */
  act?(decision: Decision, context: ActContext<T>): Promise<Outcome>;
  reduce(input: ReduceInput<T, Snapshot, Decision, Outcome>): Reduced<T>;
  /** The status to show while a fault lasts; without it a fault leaves the status as it is. */
  reduceFault?(input: FaultInput<T>): StatusOf<T>;
  readonly finalizer?: Finalizer<T>;
  /** What to do with an object that is being deleted and does not carry our finalizer; by default nothing. */
  readonly whileDeleting?: "skip" | "reconcile";
}

export interface ReconcilerDefinition<T extends KubeObject> extends ControllerOptions<T> {
  reconcile(key: ObjectKey, context: ReconcileContext, request: ReconcileRequest): Promise<Result>;
}

export interface ControllerOptions<T extends KubeObject> {
  readonly name: string;
  readonly reconciles: KindRef<T> & { readonly statusSubresource?: boolean };
  /** All must agree before a change of the reconciled kind counts. */
  readonly predicates?: readonly Predicate<T>[];
  /** Which objects of the reconciled kind are seen at all. */
  readonly scope?: WatcherScope;
  /** Kinds whose objects we control; a change of one reconciles its owner. */
  readonly owns?: readonly (KindRef | Watch)[];
  /** Other kinds, with a function from their objects to our keys. */
  readonly watches?: readonly Watch[];
  /** Kinds that are read from a cache but cause nothing. */
  readonly reads?: readonly (KindRef | Watch)[];
  readonly indexes?: readonly IndexDeclaration[];
  /** Keys from outside the API: channels, schedules. */
  readonly sources?: readonly Source[];
  readonly concurrency?: number;
  readonly reconcileTimeoutMs?: number;
  readonly backoff?: BackoffOptions;
  /** At most so many reconciles of one object within a time, whatever happens to it. */
  readonly objectRate?: ObjectRate;
  /** `capstan-<name>` by default. */
  readonly fieldManager?: string;
  /** What the controller writes; reading and status are added from the rest of the definition. */
  readonly permissions?: readonly Permission[];
  /** False: runs on every replica. */
  readonly needsLeadership?: boolean;
  /** True: the echo of an own write also causes a reconcile. */
  readonly reactsToOwnWrites?: boolean;
}

/** A controller as the manager runs it. */
export interface Controller {
  readonly name: string;
  readonly options: ControllerOptions<KubeObject>;
  readonly owns: readonly Watch[];
  readonly watches: readonly Watch[];
  readonly reads: readonly Watch[];
  readonly fieldManager: string;
  readonly permissions: readonly Permission[];
  reconcile(request: ReconcileRequest, context: ReconcileContext): Promise<Result>;
}

export interface ReconcileRequest {
  readonly key: ObjectKey;
  readonly priority: number;
  /** Failures of this key in a row before this attempt. */
  readonly failures: number;
}

export interface ObserveContext {
  readonly read: Read;
  readonly now: Date;
}

export interface ReconcileContext extends ObserveContext {
  readonly write: Write;
  /** Reads that do not go through the cache. */
  readonly live: Pick<Client, "get" | "list" | "pages" | "log" | "getScale" | "discover" | "createToken">;
  readonly events: ObjectEvents;
  readonly log: Logger;
  /** Aborted at the time limit, at shutdown and when leadership is lost; writes are refused from then on. */
  readonly signal: AbortSignal;
  /** Failures of this object in a row before this attempt. */
  readonly failures: number;
  /** On the clock that never goes back, when this reconcile began. */
  readonly monotonicMs: number;
  /** Puts a key of this controller into its queue. */
  requeue(key: ObjectKey, afterMs?: number): void;
  /**
   * Starts work that outlives this reconcile. Its context's signal is aborted by the given one and when the controller
   * stops, which waits for it. The promise never rejects: what the work throws is logged.
   */
  background(signal: AbortSignal, work: (context: ReconcileContext) => Promise<void>): Promise<void>;
}

export interface ActContext<T extends KubeObject> extends ReconcileContext {
  readonly object: T;
}

export interface ReduceInput<T extends KubeObject, Snapshot, Decision, Outcome> {
  readonly object: T;
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  readonly outcome: Outcome;
  readonly now: Date;
}

export interface FaultInput<T extends KubeObject> {
  readonly object: T;
  readonly error: unknown;
  readonly failures: number;
  readonly now: Date;
}

export type StatusOf<T extends KubeObject> = T extends { readonly status?: infer S } ? NonNullable<S> : never;

export interface Reduced<T extends KubeObject> {
  /** The whole new status; absent: leave it as it is. */
  readonly status?: StatusOf<T>;
  readonly requeueAfterMs?: number;
  /** Told after the status has been written. */
  readonly events?: readonly EventNote[];
  /** Called after the status has been written, for what must be counted once: a status that came too late is reduced again. */
  readonly afterWrite?: () => void;
  /** The object cannot be brought further until something changes. */
  readonly failure?: { readonly reason: string; readonly message: string };
}

/** A kind that a controller follows. Made by `watch` and `cached`, which know the type; kept without it. */
export interface Watch {
  readonly kind: KindRef;
  readonly scope?: WatcherScope;
  readonly predicates: readonly Predicate[];
  readonly map?: (object: KubeObject, read: Read, change: Change) => readonly ObjectKey[];
}

export interface WatchDeclaration<W extends KubeObject> {
  /** The keys of ours that a change of this object concerns; asked for its old and its new state. */
  readonly map?: (object: W, read: Read, change: Change<W>) => readonly ObjectKey[];
  readonly predicates?: readonly Predicate<W>[];
  readonly scope?: WatcherScope;
}

export function watch<W extends KubeObject>(kind: KindRef<W>, declaration: WatchDeclaration<W> = {}): Watch {
  const { predicates = [], map, scope } = declaration;
  // The cache of this kind only ever holds objects of this kind, so forgetting the type here is safe.
  return { kind, predicates, ...(scope && { scope }), ...(map && { map }) } as unknown as Watch;
}

export interface IndexDeclaration {
  readonly kind: KindRef;
  readonly name: string;
  readonly valuesOf: IndexFunction<KubeObject>;
}

export function index<W extends KubeObject>(
  kind: KindRef<W>,
  name: string,
  valuesOf: IndexFunction<W>,
): IndexDeclaration {
  return { kind, name, valuesOf: valuesOf as IndexFunction<KubeObject> };
}

export const kindId = (kind: KindRef): string => `${kind.group}/${kind.version}/${kind.plural}`;

function toController<T extends KubeObject>(
  options: ControllerOptions<T> & { readonly finalizer?: Finalizer<T> },
  implied: readonly Permission[],
  reconcile: Controller["reconcile"],
): Controller {
  const asWatch = (kind: KindRef | Watch): Watch => ("plural" in kind ? watch(kind) : kind);
  const owns = (options.owns ?? []).map(asWatch);
  const watches = options.watches ?? [];
  const reads = (options.reads ?? []).map(asWatch);
  const { reconciles } = options;
  const followed = [reconciles, ...[...owns, ...watches, ...reads].map(({ kind }) => kind)];
  return {
    name: options.name,
    options: options as unknown as ControllerOptions<KubeObject>,
    owns,
    watches,
    reads,
    fieldManager: options.fieldManager ?? `capstan-${options.name}`,
    permissions: mergePermissions([
      ...followed.map((kind) => allow(kind, ["get", "list", "watch"])),
      ...implied,
      ...(options.finalizer ? [allow(reconciles, ["patch"])] : []),
      // Needed to set blockOwnerDeletion where the OwnerReferencesPermissionEnforcement admission plug-in runs.
      ...(owns.length > 0 ? [allow(reconciles, ["update"], "finalizers")] : []),
      ...(options.permissions ?? []),
    ]),
    reconcile,
  };
}

import type { KubeObject } from "../kube/object.ts";
import { keyText } from "./cache.ts";
import { type ActContext, type Controller, type ControllerOptions, defineReconciler } from "./controller.ts";
import { done, requeueAfter } from "./result.ts";

/** Work that belongs to each object of a kind: again and again (a timer), or all the time that it exists (a daemon). */
export interface TimerDefinition<T extends KubeObject> extends ControllerOptions<T> {
  readonly everyMs: number;
  /** Before the first run; by default at once. */
  readonly firstAfterMs?: number;
  /** Objects for which this is false are left alone. */
  readonly when?: (object: T) => boolean;
  /** A run that throws is retried with back-off, like any reconcile. */
  run(object: T, context: ActContext<T>): Promise<void>;
}

/** Runs for each object every so often; changes of the object in between do not make it run earlier. */
export function defineTimer<T extends KubeObject>(definition: TimerDefinition<T>): Controller {
  const nextAt = new Map<string, { readonly uid: string | undefined; readonly atMs: number }>();
  return defineReconciler<T>({
    ...definition,
    async reconcile(key, context) {
      const object = context.read.get(definition.reconciles, key);
      const id = keyText(key);
      if (
        object === undefined ||
        object.metadata.deletionTimestamp !== undefined ||
        definition.when?.(object) === false
      ) {
        nextAt.delete(id);
        return done;
      }
      const nowMs = context.monotonicMs;
      let next = nextAt.get(id);
      if (next === undefined || next.uid !== object.metadata.uid) {
        next = { uid: object.metadata.uid, atMs: nowMs + (definition.firstAfterMs ?? 0) };
        nextAt.set(id, next);
      }
      if (next.atMs > nowMs) return requeueAfter(next.atMs - nowMs);
      await definition.run(object, { ...context, object });
      nextAt.set(id, { uid: object.metadata.uid, atMs: nowMs + definition.everyMs });
      return requeueAfter(definition.everyMs);
    },
  });
}

export interface DaemonDefinition<T extends KubeObject> extends ControllerOptions<T> {
  readonly when?: (object: T) => boolean;
  /** Must end when its signal is aborted: the object is gone, no longer wanted, or the process stops. Restarted with back-off when it throws. */
  run(object: T, context: ActContext<T>): Promise<void>;
}

/** Keeps one background task per object alive. */
export function defineDaemon<T extends KubeObject>(definition: DaemonDefinition<T>): Controller {
  const tasks = new Map<string, Task>();
  return defineReconciler<T>({
    ...definition,
    async reconcile(key, context) {
      const id = keyText(key);
      const object = context.read.get(definition.reconciles, key);
      const wanted =
        object !== undefined && object.metadata.deletionTimestamp === undefined && definition.when?.(object) !== false;
      const task = tasks.get(id);
      if (task !== undefined && (!wanted || task.uid !== object.metadata.uid)) {
        task.abort.abort(new Error("the object is gone or no longer wanted"));
        tasks.delete(id);
        await task.ended;
      }
      const running = tasks.get(id);
      if (running?.failure !== undefined) {
        tasks.delete(id);
        throw running.failure.error;
      }
      if (!wanted || running !== undefined) return done;
      const abort = new AbortController();
      const started: Task = { uid: object.metadata.uid, abort, ended: Promise.resolve() };
      started.ended = context.background(abort.signal, async (background) => {
        try {
          await definition.run(object, { ...background, object });
        } catch (error) {
          if (background.signal.aborted) return;
          started.failure = { error };
          // The reconcile that finds the failure throws it, so that it is counted, logged and backed off like any other.
          background.requeue(key);
        }
      });
      tasks.set(id, started);
      return done;
    },
  });
}

interface Task {
  readonly uid: string | undefined;
  readonly abort: AbortController;
  ended: Promise<void>;
  failure?: { readonly error: unknown };
}

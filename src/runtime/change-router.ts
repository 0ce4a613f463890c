import type { Env } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject, ObjectKey } from "../kube/object.ts";
import { controllerOf } from "../kube/owner-reference.ts";
import { backoffMs } from "./backoff.ts";
import type { Change } from "./change.ts";
import type { Controller, Watch } from "./controller.ts";
import type { Informer } from "./informer.ts";
import type { Logger } from "./log.ts";
import type { OwnWrites } from "./own-writes.ts";
import { type AddOptions, lowPriority } from "./queue.ts";
import type { Read } from "./read.ts";

/** From a change of some object to the keys of one controller. */
export class ChangeRouter {
  readonly #options: RouterOptions;
  readonly #routes: { readonly informer: Informer; readonly watched: Watch; readonly route: Route }[] = [];
  readonly #stops: (() => void)[] = [];
  #stopped = false;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  add(informer: Informer, watched: Watch, route: Route): void {
    if (route !== "none") this.#routes.push({ informer, watched, route });
  }

  subscribe(views: ReadonlyMap<Informer, OwnWrites<KubeObject>>): void {
    for (const { informer, watched, route } of this.#routes) {
      const view = views.get(informer);
      if (view === undefined) continue;
      this.#stops.push(informer.cache.subscribe((change) => this.#receive(view, watched, route, change)));
    }
  }

  unsubscribe(): void {
    this.#stopped = true;
    for (const stop of this.#stops.splice(0)) stop();
  }

  #receive(view: OwnWrites<KubeObject>, watched: Watch, route: Route, change: Change): void {
    if (this.#options.controller.options.reactsToOwnWrites) {
      this.#handle(watched, route, change, 1);
      return;
    }
    view.admit(change, () => this.#handle(watched, route, change, 1));
  }

  /** User code may throw here. The event must not get lost with it, so it is tried again, a bounded number of times. */
  #handle(watched: Watch, route: Route, change: Change, attempt: number): void {
    if (this.#stopped) return;
    const { env, log, onHandlerError } = this.#options;
    try {
      if (!watched.predicates.every((predicate) => predicate(change))) return;
      for (const key of this.#keysOf(watched, route, change)) {
        this.#options.onCause(key, change);
        this.#options.enqueue(key, { priority: change.origin === "Initial" ? lowPriority : 0 });
      }
    } catch (error) {
      onHandlerError();
      const last = attempt >= maxAttempts;
      const told = { kind: watched.kind.kind, object: change.object.metadata.name, attempt, error };
      log.error(
        last
          ? "a predicate or mapping function keeps failing; the event is given up"
          : "a predicate or mapping function failed",
        told,
      );
      if (last) return;
      env.setTimer(
        backoffMs(handlerBackoff, attempt, () => env.random()),
        () => this.#handle(watched, route, change, attempt + 1),
      );
    }
  }

  #keysOf(watched: Watch, route: Route, change: Change): readonly ObjectKey[] {
    const states = change.kind === "Updated" ? [change.object, change.old] : [change.object];
    const keys = states.flatMap((object) => {
      if (route === "self") return [keyOf(object)];
      if (route === "owner") return ownerKey(this.#options.controller.options.reconciles, object);
      return watched.map?.(object, this.#options.read, change) ?? [];
    });
    return keys.length < 2
      ? keys
      : [...new Map(keys.map((key) => [`${key.namespace ?? ""}/${key.name}`, key])).values()];
  }
}

/** `self`: the reconciled kind; `owner`: its children; `map`: by the declared function; `none`: only read. */
export type Route = "self" | "owner" | "map" | "none";

export interface RouterOptions {
  readonly controller: Controller;
  readonly env: Env;
  readonly read: Read;
  readonly log: Logger;
  readonly enqueue: (key: ObjectKey, options: AddOptions) => void;
  readonly onHandlerError: () => void;
  readonly onCause: (key: ObjectKey, change: Change) => void;
}

const maxAttempts = 6;
const handlerBackoff = { baseMs: 100, maxMs: 30_000 };

const keyOf = ({ metadata: { namespace, name } }: KubeObject): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };

function ownerKey(kind: KindRef, child: KubeObject): readonly ObjectKey[] {
  const owner = controllerOf(child);
  if (owner === undefined || owner.kind !== kind.kind || groupOf(owner.apiVersion) !== kind.group) return [];
  const { namespace } = child.metadata;
  return [kind.namespaced && namespace !== undefined ? { namespace, name: owner.name } : { name: owner.name }];
}

const groupOf = (apiVersion: string): string =>
  apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";

import { type Env, sleep } from "../env/env.ts";
import type { KubeObject, ObjectKey } from "../kube/object.ts";
import type { Change, ChangeHandler, Origin } from "./change.ts";
import { deepFreeze } from "./freeze.ts";
import { isOlder, laterVersion } from "./resource-version.ts";
import type { WatcherSink } from "./watcher.ts";

/**
 * The objects of one collection as the server last told them. One writer (the watcher), many readers. Objects are frozen
 * and shared: reading never copies.
 */
export class ObjectCache<T extends KubeObject> implements CacheReader<T> {
  readonly #options: CacheOptions<T>;
  readonly #namespaces = new Map<string, Map<string, T>>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #handlers = new Set<ChangeHandler<T>>();
  /** The version in which it went, by uid. */
  readonly #tombstones = new Map<string, string>();
  readonly #syncWaiters: (() => void)[] = [];
  #size = 0;
  #version: string | undefined;
  #synced = false;
  #hasWriter = false;

  constructor(options: CacheOptions<T>) {
    this.#options = options;
    for (const [name, valuesOf] of Object.entries(options.indexes ?? {})) this.addIndex(name, valuesOf);
  }

  get size(): number {
    return this.#size;
  }
  /** True once a whole list has been taken in and told to all handlers. */
  get synced(): boolean {
    return this.#synced;
  }
  /** Everything up to this version of the collection is in here. */
  get version(): string | undefined {
    return this.#version;
  }

  get(key: ObjectKey): T | undefined {
    return this.#namespaces.get(key.namespace ?? "")?.get(key.name);
  }

  /** All objects, or those of one namespace, in the order in which they came. */
  list(namespace?: string): readonly T[] {
    if (namespace !== undefined) return [...(this.#namespaces.get(namespace)?.values() ?? [])];
    const all: T[] = [];
    for (const objects of this.#namespaces.values()) for (const object of objects.values()) all.push(object);
    return all;
  }

  byIndex(name: string, value: string): readonly T[] {
    return [...(this.#index(name).objects.get(value) ?? [])];
  }

  /** What an index says about an object that need not be in the cache. */
  indexValues(name: string, object: T): readonly string[] {
    return this.#index(name).valuesOf(object);
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** May come late: objects that are already here are indexed at once. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) throw new Error(`index ${name} already exists`);
    const index: Index<T> = { valuesOf, objects: new Map() };
    this.#indexes.set(name, index);
    for (const object of this.list()) addToIndex(index, object);
  }

  /** The handler first learns the present state as additions, then every change; answers how to stop. */
  subscribe(handler: ChangeHandler<T>): () => void {
    for (const object of this.list()) this.#call(handler, { kind: "Added", object, origin: "Initial" });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  whenSynced(): Promise<void> {
    if (this.#synced) return Promise.resolve();
    return new Promise((resolve) => this.#syncWaiters.push(resolve));
  }

  /** The only way to change the cache; a second writer would undo the order of the first. */
  writer(): WatcherSink<T> {
    if (this.#hasWriter) throw new Error("this cache already has its writer");
    this.#hasWriter = true;
    let listing: { readonly seen: Set<string>; readonly trusted: boolean } | undefined;
    return {
      begin: ({ trusted }) => {
        listing = { seen: new Set(), trusted };
      },
      page: (objects) => this.#takePage(objects, listing?.seen, listing?.trusted ?? false),
      synced: (version) => {
        if (listing !== undefined) this.#removeUnseen(listing.seen);
        listing = undefined;
        this.#tombstones.clear();
        this.#version = version;
        this.#markSynced();
      },
      apply: (object) => {
        this.#put(object, "Watch", false);
        this.#version = laterVersion(this.#version, object.metadata.resourceVersion);
      },
      remove: (object) => {
        listing?.seen.delete(keyText(object.metadata));
        this.#take(object);
        this.#version = laterVersion(this.#version, object.metadata.resourceVersion);
      },
      progress: (version) => {
        this.#version = laterVersion(this.#version, version);
      },
      fault: (error, retryInMs) => this.#options.onFault?.(error, retryInMs),
    };
  }

  async #takePage(objects: readonly T[], seen: Set<string> | undefined, trusted: boolean): Promise<void> {
    const { env } = this.#options;
    let sliceStartMs = env.monotonicMs();
    for (const object of objects) {
      seen?.add(keyText(object.metadata));
      this.#put(object, this.#synced ? "List" : "Initial", trusted);
      if (env.monotonicMs() - sliceStartMs < sliceMs) continue;
      await sleep(env, 0);
      sliceStartMs = env.monotonicMs();
    }
  }

  #put(incoming: T, origin: Origin, trusted: boolean): void {
    const { uid, resourceVersion } = incoming.metadata;
    const old = this.get(incoming.metadata);
    if (old !== undefined && old.metadata.uid === uid) {
      if (old.metadata.resourceVersion === resourceVersion) return;
      if (!trusted && isOlder(resourceVersion, old.metadata.resourceVersion)) return;
    } else if (!trusted) {
      const buried = this.#tombstones.get(uid ?? "");
      if (buried !== undefined && !isOlder(buried, resourceVersion)) return;
      if (old !== undefined && isOlder(resourceVersion, old.metadata.resourceVersion)) return;
    }
    const object = this.#prepare(incoming);
    if (old !== undefined && old.metadata.uid !== uid) {
      // Same name, another object: whoever held something for the old one must learn that it is gone.
      this.#drop(old);
      this.#tell({ kind: "Deleted", object: old, finalStateUnknown: true, origin });
    }
    const same = old !== undefined && old.metadata.uid === uid;
    this.#store(object, same ? old : undefined);
    this.#tell(same ? { kind: "Updated", object, old, origin } : { kind: "Added", object, origin });
  }

  #take(gone: T): void {
    const { uid, resourceVersion } = gone.metadata;
    if (uid !== undefined && resourceVersion !== undefined) this.#bury(uid, resourceVersion);
    const old = this.get(gone.metadata);
    if (old === undefined || isOlder(resourceVersion, old.metadata.resourceVersion)) return;
    this.#drop(old);
    const known = old.metadata.uid === uid;
    const object = known ? this.#prepare(gone) : old;
    this.#tell({ kind: "Deleted", object, finalStateUnknown: !known, origin: "Watch" });
  }

  #removeUnseen(seen: ReadonlySet<string>): void {
    for (const object of this.list()) {
      if (seen.has(keyText(object.metadata))) continue;
      this.#drop(object);
      this.#tell({ kind: "Deleted", object, finalStateUnknown: true, origin: "List" });
    }
  }

  #prepare(object: T): T {
    return deepFreeze((this.#options.transform ?? withoutManagedFields)(object));
  }

  #store(object: T, old: T | undefined): void {
    const namespace = object.metadata.namespace ?? "";
    let objects = this.#namespaces.get(namespace);
    if (objects === undefined) {
      objects = new Map();
      this.#namespaces.set(namespace, objects);
    }
    objects.set(object.metadata.name, object);
    if (old === undefined) this.#size++;
    for (const index of this.#indexes.values()) {
      if (old !== undefined) removeFromIndex(index, old);
      addToIndex(index, object);
    }
  }

  #drop(object: T): void {
    const namespace = object.metadata.namespace ?? "";
    const objects = this.#namespaces.get(namespace);
    objects?.delete(object.metadata.name);
    if (objects?.size === 0) this.#namespaces.delete(namespace);
    this.#size--;
    for (const index of this.#indexes.values()) removeFromIndex(index, object);
  }

  #bury(uid: string, version: string): void {
    this.#tombstones.set(uid, version);
    if (this.#tombstones.size <= maxTombstones) return;
    for (const oldest of this.#tombstones.keys()) {
      this.#tombstones.delete(oldest);
      break;
    }
  }

  #tell(change: Change<T>): void {
    for (const handler of this.#handlers) this.#call(handler, change);
  }

  /** A handler that throws must not stop the others, nor the watch. */
  #call(handler: ChangeHandler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#options.onHandlerError?.(error, change);
    }
  }

  #markSynced(): void {
    this.#synced = true;
    for (const resolve of this.#syncWaiters.splice(0)) resolve();
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`there is no index ${name}; declare it where the kind is watched`);
    return index;
  }
}

/** What readers may do. */
export interface CacheReader<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  list(namespace?: string): readonly T[];
  byIndex(name: string, value: string): readonly T[];
}

export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

export interface CacheOptions<T extends KubeObject> {
  readonly env: Env;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Takes away what no reader needs before an object is kept; by default the managedFields. */
  readonly transform?: (object: T) => T;
  readonly onHandlerError?: (error: unknown, change: Change<T>) => void;
  readonly onFault?: (error: unknown, retryInMs: number) => void;
}

/** Usually half of an object, and of no use to a controller. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** `namespace/name`, or the name alone for cluster-scoped objects. */
export const keyText = (key: ObjectKey): string => (key.namespace ? `${key.namespace}/${key.name}` : key.name);

export const parseKeyText = (text: string): ObjectKey => {
  const slash = text.indexOf("/");
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
};

/** Longest piece of a list that is taken in without letting others run. */
const sliceMs = 5;
/** Deletions are remembered so that an event that was overtaken by its object's deletion does not bring it back. */
const maxTombstones = 1024;

interface Index<T extends KubeObject> {
  readonly valuesOf: IndexFunction<T>;
  readonly objects: Map<string, Set<T>>;
}

function addToIndex<T extends KubeObject>(index: Index<T>, object: T): void {
  for (const value of index.valuesOf(object)) {
    const objects = index.objects.get(value);
    if (objects === undefined) index.objects.set(value, new Set([object]));
    else objects.add(object);
  }
}

function removeFromIndex<T extends KubeObject>(index: Index<T>, object: T): void {
  for (const value of index.valuesOf(object)) {
    const objects = index.objects.get(value);
    objects?.delete(object);
    if (objects?.size === 0) index.objects.delete(value);
  }
}

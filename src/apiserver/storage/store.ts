import type { Env } from "../../env/env.ts";
import type { KubeObject } from "../../kube/object.ts";
import { Collection, type EntryView, viewOf } from "./collection.ts";
import type { CommitLog, LogRecord } from "./commit-log.ts";
import { Compactor, type HistoryLimits } from "./compactor.ts";
import { Entry, encodeEntry } from "./entry.ts";
import { type Change, EventLog } from "./event-log.ts";

/**
 * All objects of the server. Writers see every write that was accepted before theirs; readers and watchers see only what
 * is on disk. Writes that arrive while a commit is under way share the next one.
 *
 *     write → pending → commit log (disk) → committed state → event logs → watchers
 */
export class Store {
  readonly #env: Env;
  readonly #log: CommitLog;
  readonly #collections = new Map<string, Collection>();
  readonly #eventLogs = new Map<string, EventLog>();
  /** Accepted but not yet on disk, by resource and key; undefined stands for a deletion. */
  readonly #pending = new Map<string, PendingWrite>();
  readonly #compactor: Compactor;
  readonly #past = new Map<string, EntryView>();
  #queue: PendingWrite[] = [];
  #committing = false;
  /** Settled when no write is under way. */
  #committed: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #assignedRevision: number;
  #committedRevision: number;

  constructor(env: Env, log: CommitLog, limits?: Partial<HistoryLimits>) {
    this.#env = env;
    this.#log = log;
    this.#compactor = new Compactor(env, log, limits, (revision) => {
      for (const events of this.#eventLogs.values()) events.dropThrough(revision);
    });
    this.#committedRevision = this.#load();
    this.#assignedRevision = this.#committedRevision;
  }

  /** Why the last commit failed; undefined while writes reach the disk. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** The newest revision that is on disk. */
  get revision(): number {
    return this.#committedRevision;
  }

  /** History up to and including this revision is gone. */
  get compactedRevision(): number {
    return this.#compactor.compactedRevision;
  }

  get(resource: string, key: string): Entry | undefined {
    return this.#collections.get(resource)?.get(key);
  }

  /** For writers: what the next write will replace, on disk or not. */
  latest(resource: string, key: string): Entry | undefined {
    const pending = this.#pending.get(pendingKey(resource, key));
    return pending ? pending.next : this.get(resource, key);
  }

  collection(resource: string): Collection {
    return getOrCreate(this.#collections, resource, () => new Collection());
  }

  events(resource: string): EventLog {
    return getOrCreate(this.#eventLogs, resource, () => new EventLog());
  }

  /** The entries of a resource as they were at a revision that history still reaches. */
  viewAt(resource: string, prefix: string, revision: number): EntryView {
    const undone = this.events(resource).newestFirstUntil(revision);
    if (undone.length === 0) return this.collection(resource).view(prefix);
    // A client that walks through pages asks for the same moment again and again, and the past does not change.
    const name = `${resource}\u0000${prefix}\u0000${revision}`;
    const known = this.#past.get(name);
    if (known) return known;
    const past = viewOf(undo(this.collection(resource).range(prefix), prefix, undone));
    if (this.#past.size >= maxRememberedPasts) this.#past.delete(this.#past.keys().next().value ?? "");
    this.#past.set(name, past);
    return past;
  }

  /**
   * Replaces the object that the writer has seen (`expected`, from `latest`). Undefined stands for absence on both
   * sides. Answers undefined at once when somebody else was quicker; otherwise resolves when the write is on disk.
   */
  write(resource: string, key: string, expected: Entry | undefined, object: KubeObject | undefined): WriteOutcome {
    const latest = this.latest(resource, key);
    if (latest?.revision !== expected?.revision) return undefined;
    const revision = ++this.#assignedRevision;
    const atMs = this.#env.now().getTime();
    const next = object && encodeEntry(key, revision, object, atMs);
    const write = new PendingWrite({ resource, key, revision, previous: latest, next, atMs });
    this.#pending.set(pendingKey(resource, key), write);
    this.#queue.push(write);
    if (!this.#committing) {
      this.#committing = true;
      // A microtask later, so that writes of the same turn share the commit.
      this.#committed = Promise.resolve().then(() => this.#commitAll());
    }
    return write.done;
  }

  async close(): Promise<void> {
    this.#compactor.stop();
    await this.#committed;
    await this.#log.close();
  }

  async #commitAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#log.append(batch.map(recordOf));
        this.#failure = undefined;
        this.#publish(batch);
      } catch (error) {
        this.#failure = error instanceof Error ? error : new Error(String(error));
        this.#abandon([...batch, ...this.#queue], error);
        this.#queue = [];
      }
    }
    this.#committing = false;
  }

  #publish(batch: readonly PendingWrite[]): void {
    const touched = new Set<EventLog>();
    for (const write of batch) {
      const change = this.#remember(write);
      this.#committedRevision = write.revision;
      const pending = pendingKey(write.resource, write.key);
      if (this.#pending.get(pending) === write) this.#pending.delete(pending);
      touched.add(this.events(write.resource));
      write.resolve(change.entry);
    }
    for (const events of touched) events.announce();
    this.#compactor.compactIfFull();
  }

  /** Nothing of the batch is on disk, and what was queued behind it may rest on it: all of it fails together. */
  #abandon(writes: readonly PendingWrite[], error: unknown): void {
    this.#pending.clear();
    for (const write of writes) write.reject(new Error("the write could not be stored", { cause: error }));
  }

  #remember({ resource, previous, next, key, revision, atMs }: Write): Change {
    const collection = this.collection(resource);
    if (next) collection.set(next);
    else collection.delete(key);
    const entry = next ?? lastState(previous, key, revision, atMs);
    const kind = next ? (previous ? "Updated" : "Created") : "Deleted";
    const change: Change = { revision, resource, kind, entry, atMs, ...(previous && { previous }) };
    this.events(resource).append(change);
    this.#compactor.track(change);
    return change;
  }

  #load(): number {
    const { compactedRevision, records } = this.#log.load();
    this.#compactor.compactedRevision = compactedRevision;
    let last = compactedRevision;
    for (const { revision, resource, key, body, atMs } of records) {
      last = Math.max(last, revision);
      const previous = this.get(resource, key);
      const bytes = body && Buffer.from(body.buffer, body.byteOffset, body.length);
      const next = bytes ? new Entry(key, revision, bytes, undefined, atMs) : undefined;
      if (revision > compactedRevision) {
        this.#remember({ resource, key, revision, atMs, previous, next });
      } else if (next) {
        this.collection(resource).set(next);
      }
    }
    return last;
  }
}

const maxRememberedPasts = 8;

function undo(present: readonly Entry[], prefix: string, newestFirst: readonly Change[]): readonly Entry[] {
  const past = new Map(present.map((entry) => [entry.key, entry]));
  for (const { entry, previous } of newestFirst) {
    if (!entry.key.startsWith(prefix)) continue;
    if (previous) past.set(entry.key, previous);
    else past.delete(entry.key);
  }
  return [...past.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Undefined: the object is not what the writer has seen; look again. */
export type WriteOutcome = Promise<Entry> | undefined;

class PendingWrite {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  readonly previous: Entry | undefined;
  readonly next: Entry | undefined;
  readonly atMs: number;
  readonly done: Promise<Entry>;
  readonly resolve: (entry: Entry) => void;
  readonly reject: (error: Error) => void;

  constructor(write: Write) {
    this.resource = write.resource;
    this.key = write.key;
    this.revision = write.revision;
    this.previous = write.previous;
    this.next = write.next;
    this.atMs = write.atMs;
    const { promise, resolve, reject } = Promise.withResolvers<Entry>();
    this.done = promise;
    this.resolve = resolve;
    this.reject = reject;
  }
}

interface Write {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  readonly previous: Entry | undefined;
  readonly next: Entry | undefined;
  readonly atMs: number;
}

const recordOf = ({ revision, resource, key, next, atMs }: PendingWrite): LogRecord => ({
  revision,
  resource,
  key,
  body: next?.bytes ?? null,
  atMs,
});

function lastState(previous: Entry | undefined, key: string, revision: number, atMs: number): Entry {
  if (!previous) throw new Error(`revision ${revision} deletes ${key}, which does not exist`);
  return encodeEntry(key, revision, previous.object, atMs);
}

const pendingKey = (resource: string, key: string): string => `${resource}\u0000${key}`;

function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}

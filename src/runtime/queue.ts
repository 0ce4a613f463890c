import type { CancelTimer, Env } from "../env/env.ts";
import {
  type BackoffOptions,
  backoffMs,
  keyBackoff,
  retryBucket,
  TokenBucket,
  type TokenBucketOptions,
} from "./backoff.ts";
import { Heap } from "./heap.ts";
import type { MetricsRegistry } from "./metrics.ts";
import { Item } from "./queue-item.ts";
import { QueueMetrics } from "./queue-metrics.ts";
import { ReadyLanes } from "./ready-lanes.ts";

/**
 * The work queue: keys in, keys out, each key at most once at a time.
 *
 *     add ─▶ delayed (heap by time) ─▶ ready (one FIFO per priority) ─▶ processing ─▶ done
 *                                          ▲                               │ added meanwhile
 *                                          └───────────────────────────────┘
 *
 * A key that waits twice waits once, with the higher priority and the shorter delay. A key that is being processed is
 * never handed out again before `done`.
 */
export class WorkQueue {
  readonly #env: Env;
  readonly #options: QueueOptions;
  #items = new Map<string, Item>();
  readonly #failures = new Map<string, number>();
  readonly #ready = new ReadyLanes();
  readonly #delayed = new Heap<Item>(
    (a, b) => a.readyAtMs < b.readyAtMs || (a.readyAtMs === b.readyAtMs && a.sequence < b.sequence),
  );
  readonly #getters: Getter[] = [];
  readonly #bucket: TokenBucket | undefined;
  readonly #metrics: QueueMetrics;
  readonly #maxLength: number;
  #sequence = 0;
  #waitingCount = 0;
  #processingCount = 0;
  #delayedCount = 0;
  #timer: { readonly atMs: number; readonly cancel: CancelTimer } | undefined;
  #shutDown = false;
  #overflowed = false;

  constructor(options: QueueOptions) {
    this.#env = options.env;
    this.#options = options;
    this.#maxLength = options.maxLength ?? defaultMaxLength;
    if (options.retryBucket !== null) this.#bucket = new TokenBucket(options.env, options.retryBucket ?? retryBucket);
    this.#metrics = new QueueMetrics(options, {
      depths: () => this.#ready.depths(),
      startedAtMs: () => this.#processing().map((item) => item.startedAtMs),
    });
  }

  /** Keys that wait, now or later; not the ones being processed. */
  get length(): number {
    return this.#waitingCount;
  }
  /** Entries in memory, among them ones that are only waiting to be thrown away. */
  get size(): number {
    return this.#items.size + this.#delayed.size;
  }
  get readyLength(): number {
    return this.#ready.length;
  }
  get processingLength(): number {
    return this.#processingCount;
  }
  get processingKeys(): readonly string[] {
    return this.#processing().map(({ key }) => key);
  }
  get isShutDown(): boolean {
    return this.#shutDown;
  }

  add(key: string, options: AddOptions = noOptions): AddResult {
    if (this.#shutDown) return "ShutDown";
    const nowMs = this.#env.monotonicMs();
    const readyAtMs = nowMs + Math.max(0, options.afterMs ?? 0);
    const priority = options.priority ?? 0;
    const known = this.#items.get(key);
    const waits =
      known !== undefined && known.state !== "idle" && (known.state !== "processing" || known.again !== undefined);
    if (waits) return this.#merge(known, readyAtMs, priority, nowMs);
    if (this.#waitingCount >= this.#maxLength) {
      this.#overflowed = true;
      this.#metrics.dropped();
      return "Full";
    }
    this.#metrics.added();
    this.#waitingCount++;
    if (known?.state === "processing") known.again = { priority, readyAtMs, addedAtMs: nowMs };
    else this.#enter(known ?? this.#newItem(key), priority, readyAtMs, nowMs, nowMs);
    return "Added";
  }

  /** Adds after the key's own back-off and the overall rate limit, whichever is longer. */
  addRateLimited(key: string, options: Pick<AddOptions, "priority"> = {}): AddResult {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#metrics.retried();
    const own = backoffMs(this.#options.backoff ?? keyBackoff, failures, () => this.#env.random());
    return this.add(key, { ...options, afterMs: Math.max(own, this.#bucket?.reserve() ?? 0) });
  }

  /** Failures of the key in a row. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The key has succeeded: its back-off starts anew. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next ready key, if there is one now. */
  tryGet(): QueuedKey | undefined {
    const item = this.#ready.take();
    if (item === undefined) return undefined;
    const nowMs = this.#env.monotonicMs();
    item.state = "processing";
    item.startedAtMs = nowMs;
    this.#waitingCount--;
    this.#processingCount++;
    this.#metrics.got(Math.max(0, nowMs - Math.max(item.addedAtMs, item.readyAtMs)));
    this.#reportRoom();
    return item;
  }

  /** Waits for the next ready key; undefined once the queue is shut down or the signal is aborted. */
  get(signal?: AbortSignal): Promise<QueuedKey | undefined> {
    if (signal?.aborted || this.#shutDown) return Promise.resolve(undefined);
    const item = this.#getters.length === 0 ? this.tryGet() : undefined;
    if (item !== undefined) return Promise.resolve(item);
    return new Promise((resolve) => {
      const onAbort = (): void => {
        const at = this.#getters.indexOf(getter);
        if (at >= 0) this.#getters.splice(at, 1);
        resolve(undefined);
      };
      const getter: Getter = (key) => {
        signal?.removeEventListener("abort", onAbort);
        resolve(key);
      };
      this.#getters.push(getter);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** The key's work is over. If it was added meanwhile, it becomes ready again. What `get` gave is found faster. */
  done(finished: string | QueuedKey): void {
    const item =
      finished instanceof Item ? finished : this.#items.get(typeof finished === "string" ? finished : finished.key);
    if (item === undefined || item.state !== "processing") return;
    const nowMs = this.#env.monotonicMs();
    this.#processingCount--;
    this.#metrics.finished(nowMs - item.startedAtMs);
    const { again } = item;
    item.again = undefined;
    item.state = "idle";
    if (again !== undefined) this.#enter(item, again.priority, again.readyAtMs, again.addedAtMs, nowMs);
    else this.#forgetIdle();
  }

  /** Hands out nothing more: waiting getters get undefined, later adds are refused. Running work may still call `done`. */
  shutDown(): void {
    if (this.#shutDown) return;
    this.#shutDown = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const getter of this.#getters.splice(0)) getter(undefined);
    this.#metrics.close();
  }

  #newItem(key: string): Item {
    const item = new Item(key);
    this.#items.set(key, item);
    return item;
  }

  /** A key that was worked on will often come again, so its entry stays for a while; not longer than is good for memory. */
  #forgetIdle(): void {
    const live = this.#waitingCount + this.#processingCount;
    if (this.#items.size <= 4 * live + minSweep) return;
    const kept = new Map<string, Item>();
    if (live > 0) for (const [key, item] of this.#items) if (item.state !== "idle") kept.set(key, item);
    this.#items = kept;
  }

  #enter(item: Item, priority: number, readyAtMs: number, addedAtMs: number, nowMs: number): void {
    item.priority = priority;
    item.readyAtMs = readyAtMs;
    item.addedAtMs = addedAtMs;
    item.sequence = this.#sequence++;
    this.#place(item, nowMs);
  }

  #merge(item: Item, readyAtMs: number, priority: number, nowMs: number): AddResult {
    const waits = item.again ?? item;
    const higher = priority > waits.priority;
    const sooner = readyAtMs < waits.readyAtMs && item.state !== "ready";
    if (!higher && !sooner) return "Merged";
    const merged = {
      priority: Math.max(priority, waits.priority),
      readyAtMs: Math.min(readyAtMs, waits.readyAtMs),
      addedAtMs: waits.addedAtMs,
    };
    if (item.again !== undefined) {
      item.again = merged;
      return "Merged";
    }
    // Heaps and lanes cannot be searched cheaply: the old entry stays where it is as a husk, and a new one takes over.
    this.#discard(item);
    this.#enter(this.#newItem(item.key), merged.priority, merged.readyAtMs, merged.addedAtMs, nowMs);
    return "Merged";
  }

  #discard(item: Item): void {
    if (item.state === "ready") this.#ready.discard(item);
    else this.#delayedCount--;
    item.state = "husk";
    this.#sweepDelayed();
  }

  /** Husks of long delays would pile up for hours; when they are most of the heap, it is built anew. */
  #sweepDelayed(): void {
    if (this.#delayed.size < 2 * this.#delayedCount + minSweep) return;
    this.#delayed.keep((item) => item.state === "delayed");
  }

  #place(item: Item, nowMs: number): void {
    if (item.readyAtMs > nowMs) {
      item.state = "delayed";
      this.#delayedCount++;
      this.#delayed.push(item);
      this.#armTimer();
      return;
    }
    this.#ready.push(item);
    this.#serveGetters();
  }

  #serveGetters(): void {
    while (this.#getters.length > 0) {
      const item = this.tryGet();
      if (item === undefined) return;
      this.#getters.shift()?.(item);
    }
  }

  #releaseDelayed(): void {
    const nowMs = this.#env.monotonicMs();
    for (;;) {
      const item = this.#delayed.peek();
      if (item === undefined || (item.state === "delayed" && item.readyAtMs > nowMs)) break;
      this.#delayed.pop();
      if (item.state !== "delayed") continue;
      this.#delayedCount--;
      this.#ready.push(item);
    }
    this.#serveGetters();
    this.#armTimer();
  }

  #armTimer(): void {
    while (this.#delayed.peek()?.state === "husk") this.#delayed.pop();
    const next = this.#delayed.peek();
    if (next === undefined || this.#shutDown) return;
    if (this.#timer !== undefined && this.#timer.atMs <= next.readyAtMs) return;
    this.#timer?.cancel();
    const delayMs = Math.max(0, next.readyAtMs - this.#env.monotonicMs());
    const cancel = this.#env.setTimer(delayMs, () => {
      this.#timer = undefined;
      this.#releaseDelayed();
    });
    this.#timer = { atMs: next.readyAtMs, cancel };
  }

  /** After an overflow, whoever feeds the queue must feed it again once there is room: a refused key is not lost. */
  #reportRoom(): void {
    if (!this.#overflowed || this.#waitingCount > this.#maxLength / 2) return;
    this.#overflowed = false;
    this.#options.onRoom?.();
  }

  #processing(): readonly Item[] {
    return [...this.#items.values()].filter(({ state }) => state === "processing");
  }
}

/** What an initial list or an unchanged resync gets, so that real changes overtake it. */
export const lowPriority = -100;
export const defaultMaxLength = 2_000_000;

export interface QueueOptions {
  readonly env: Env;
  readonly name: string;
  /** The label `controller` of the metrics; the name when absent. */
  readonly controller?: string;
  readonly metrics?: MetricsRegistry;
  readonly maxLength?: number;
  readonly backoff?: BackoffOptions;
  /** The overall limit of retries; null for none. */
  readonly retryBucket?: TokenBucketOptions | null;
  /** Keys were refused because the queue was full, and now half of it is free. */
  readonly onRoom?: () => void;
}

export interface AddOptions {
  readonly priority?: number;
  readonly afterMs?: number;
}
export type AddResult = "Added" | "Merged" | "Full" | "ShutDown";

export interface QueuedKey {
  readonly key: string;
  readonly priority: number;
}

const noOptions: AddOptions = {};
const minSweep = 1024;

type Getter = (key: QueuedKey | undefined) => void;

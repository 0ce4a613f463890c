import type { Env } from "../env/env.ts";
import { TokenBucket } from "./backoff.ts";
import type { EventNote, ObjectReference } from "./events.ts";

/**
 * Keeps events from flooding the API, with the numbers that client-go uses: more than 10 similar ones in 10 minutes are
 * combined into one, repetitions raise a count, and one object gets a burst of 25 and then one in 5 minutes.
 */
export class EventCorrelator {
  readonly #env: Env;
  readonly #similar = new BoundedMap<{ readonly messages: Set<string>; lastAtMs: number }>(maxRemembered);
  readonly #known = new BoundedMap<CorrelatedEvent>(maxRemembered);
  readonly #buckets = new BoundedMap<TokenBucket>(maxRemembered);

  constructor(env: Env) {
    this.#env = env;
  }

  /** What to write, or undefined when the object has had its share. */
  correlate(event: RawEvent): CorrelatedEvent | undefined {
    const group = [event.component, refText(event.involvedObject), event.type, event.reason].join("\0");
    const combined = this.#isOneOfMany(group, event.message);
    const key = combined ? group : `${group}\0${event.message}`;
    const message = combined ? `(combined from similar events): ${event.message}` : event.message;
    const now = this.#env.now();
    const known = this.#known.get(key);
    const correlated: CorrelatedEvent = {
      name: known?.name ?? `${event.involvedObject.name.slice(0, maxNameLength)}.${this.#suffix()}`,
      message,
      count: (known?.count ?? 0) + 1,
      firstAt: known?.firstAt ?? now,
      lastAt: now,
    };
    this.#known.set(key, correlated);
    return this.#bucketOf(event).take() ? correlated : undefined;
  }

  #isOneOfMany(group: string, message: string): boolean {
    const nowMs = this.#env.monotonicMs();
    let entry = this.#similar.get(group);
    if (entry === undefined || nowMs - entry.lastAtMs > similarWindowMs)
      entry = { messages: new Set(), lastAtMs: nowMs };
    entry.lastAtMs = nowMs;
    if (entry.messages.size < maxSimilar) entry.messages.add(message);
    this.#similar.set(group, entry);
    return (
      entry.messages.size >= maxSimilar && !(entry.messages.has(message) && this.#known.has(`${group}\0${message}`))
    );
  }

  #bucketOf({ component, involvedObject }: RawEvent): TokenBucket {
    const key = `${component}\0${refText(involvedObject)}`;
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#env, { ratePerSecond: 1 / 300, burst: 25 });
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #suffix(): string {
    return this.#env.uuid().replaceAll("-", "").slice(0, 16);
  }
}

export interface RawEvent extends EventNote {
  readonly component: string;
  readonly involvedObject: ObjectReference;
}

export interface CorrelatedEvent {
  readonly name: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

const maxSimilar = 10;
const similarWindowMs = 600_000;
const maxRemembered = 4096;
const maxNameLength = 253 - 17;

const refText = (ref: ObjectReference): string =>
  [ref.apiVersion, ref.kind, ref.namespace ?? "", ref.name, ref.uid ?? ""].join("\0");

/** Forgets what was used longest ago. */
class BoundedMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }
  has(key: string): boolean {
    return this.#entries.has(key);
  }
  get(key: string): V | undefined {
    return this.#entries.get(key);
  }
  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      break;
    }
  }
}

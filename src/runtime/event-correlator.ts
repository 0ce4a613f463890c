import type { Env } from "../env/env.ts";
import { TokenBucket, type TokenBucketOptions } from "./backoff.ts";
import { BoundedMap } from "./bounded-map.ts";
import { digestOf } from "./digest.ts";
import type { EventNote, ObjectReference } from "./events.ts";

/**
 * Keeps events from flooding the API, with the numbers that client-go uses: more than 10 similar ones in 10 minutes are
 * combined into one, repetitions raise a count, and one object gets a burst of 25 and then one in 5 minutes. It remembers
 * thousands of events for hours, so it keeps digests of what they said, and nothing that can be made again.
 */
export class EventCorrelator {
  readonly #env: Env;
  readonly #similar: BoundedMap<Similar>;
  readonly #known = new BoundedMap<Known>(maxRemembered);
  readonly #buckets: BoundedMap<TokenBucket>;

  constructor(env: Env) {
    this.#env = env;
    this.#similar = new BoundedMap(maxRemembered, ({ lastAtMs }) => env.monotonicMs() - lastAtMs > similarWindowMs);
    // One that is full again is like a new one.
    this.#buckets = new BoundedMap(maxRemembered, (bucket) => bucket.isFull());
  }

  /** What to write, or undefined when the object has had its share. */
  correlate(event: RawEvent): CorrelatedEvent | undefined {
    const object = `${event.component}\0${refText(event.involvedObject)}`;
    const group = digestOf(`${object}\0${event.type}\0${event.reason}`);
    const single = digestOf(`${group}\0${event.message}`);
    const combined = this.#isOneOfMany(group, single);
    const key = combined ? group : single;
    const message = combined ? `(combined from similar events): ${event.message}` : event.message;
    const now = this.#env.now();
    const known = this.#known.get(key) ?? { suffix: this.#suffix(), count: 0, firstAtMs: now.getTime() };
    known.count++;
    this.#known.set(key, known);
    if (!this.#bucketOf(object).take()) return undefined;
    return {
      name: `${event.involvedObject.name.slice(0, maxNameLength)}.${known.suffix}`,
      message,
      count: known.count,
      firstAt: new Date(known.firstAtMs),
      lastAt: now,
    };
  }

  #isOneOfMany(group: string, single: string): boolean {
    const nowMs = this.#env.monotonicMs();
    let entry = this.#similar.get(group);
    if (entry === undefined || nowMs - entry.lastAtMs > similarWindowMs)
      entry = { messages: [single], lastAtMs: nowMs };
    entry.lastAtMs = nowMs;
    const { messages } = entry;
    if (messages.length < maxSimilar && !messages.includes(single)) messages.push(single);
    this.#similar.set(group, entry);
    return messages.length >= maxSimilar && !(messages.includes(single) && this.#known.has(single));
  }

  #bucketOf(object: string): TokenBucket {
    const key = digestOf(object);
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#env, perObject);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  /** 16 digits, joined instead of cut, since a piece that is cut off keeps the whole text in memory. */
  #suffix(): string {
    return this.#env.uuid().split("-").slice(0, 3).join("");
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

/** What one component has said of one object for one reason lately. */
interface Similar {
  /** Digests, at most `maxSimilar`. */
  readonly messages: string[];
  lastAtMs: number;
}

interface Known {
  readonly suffix: string;
  readonly firstAtMs: number;
  count: number;
}

const maxSimilar = 10;
const similarWindowMs = 600_000;
const maxRemembered = 4096;
const maxNameLength = 253 - 17;
const perObject: TokenBucketOptions = { ratePerSecond: 1 / 300, burst: 25 };

const refText = (ref: ObjectReference): string =>
  [ref.apiVersion, ref.kind, ref.namespace ?? "", ref.name, ref.uid ?? ""].join("\0");

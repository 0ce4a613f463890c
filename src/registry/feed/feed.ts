import type { Env } from "../../env/env.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Change } from "../model/change.ts";
import type { RegistryLog } from "../storage/registry-log.ts";
import { bookmark, changeFrame, gapComment, gapFrame, keepAlive, pingFrame } from "./frame.ts";
import { Ring } from "./ring.ts";

export interface FeedOptions {
  readonly env: Env;
  readonly storage: Pick<RegistryLog, "changesAfter">;
  /** Changes that wait in memory for slow readers at most; older ones are read from the log by those who resume. */
  readonly recentChanges: number;
  readonly keepAliveMs: number;
}

export interface Subscription {
  readonly dialect: Dialect;
  /** Ids are sequence numbers, and nothing is lost that the log still has. */
  readonly isResumable: boolean;
  /** The last number that the reader has seen. */
  readonly after?: number;
  readonly signal: AbortSignal;
}

/**
 * What happens, to everyone who listens. Readers hold a place in one shared ring, so that a slow one costs no memory: it
 * falls behind, and then reads the log (when it resumes by number) or is told that it has missed something.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #recent: Ring<FramedChange>;
  readonly #pings = new Ring<FramedPing>(recentPings);
  readonly #pingedAtMs = new Map<string, number>();
  readonly #readers = new Set<Reader>();
  #cancelTick: (() => void) | undefined;
  #gaps = 0;
  #lastText = "";
  #lastBytes = new Uint8Array(0);

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#recent = new Ring(options.recentChanges);
  }

  get subscribers(): number {
    return this.#readers.size;
  }
  /** Changes that are in memory. */
  get remembered(): number {
    return this.#recent.end - this.#recent.start;
  }
  /** How often a reader was told that it has missed something. */
  get gaps(): number {
    return this.#gaps;
  }

  /** The changes after this number are the ones to come. */
  startAfter(sequence: number): void {
    this.#recent.clear(sequence + 1);
    this.#wake();
  }

  publish(changes: readonly Change[]): void {
    this.#forgetRead();
    for (const change of changes) this.#recent.push(new FramedChange(change));
    this.#wake();
  }

  /** At most one a second for each service, and only while somebody listens. */
  ping(id: string): void {
    if (this.#readers.size === 0) return;
    const nowMs = this.#options.env.monotonicMs();
    const lastMs = this.#pingedAtMs.get(id);
    if (lastMs !== undefined && nowMs - lastMs < pingPeriodMs) return;
    if (this.#pingedAtMs.size >= maxRememberedPings) this.#pingedAtMs.clear();
    this.#pingedAtMs.set(id, nowMs);
    this.#pings.push(new FramedPing(id));
    this.#wake();
  }

  async *subscribe(subscription: Subscription): AsyncGenerator<Uint8Array> {
    const { isResumable, after, signal } = subscription;
    const reader = new Reader(subscription, after ?? this.#recent.end - 1, this.#pings.end);
    this.#readers.add(reader);
    this.#tick();
    const wake = (): void => reader.wake();
    signal.addEventListener("abort", wake, { once: true });
    try {
      const greeting = await this.#greet(reader, after);
      if (greeting !== "") yield this.#encode(greeting);
      while (!signal.aborted) {
        const text = (await this.#missedBy(reader)) + this.#newsFor(reader);
        if (text !== "") yield this.#encode(text);
        else if (!this.#hasNews(reader) && !signal.aborted) {
          const isQuiet = await reader.untilWoken(this.#options.env.monotonicMs());
          if (isQuiet) yield this.#encode(isResumable ? bookmark(reader.last) : keepAlive);
        }
      }
    } finally {
      signal.removeEventListener("abort", wake);
      this.#readers.delete(reader);
      this.#forgetRead();
      if (this.#readers.size === 0) {
        this.#pingedAtMs.clear();
        this.#cancelTick?.();
        this.#cancelTick = undefined;
      }
    }
  }

  /** A reader that resumes is told its place; one that knows a number which was never given is told that, too. */
  async #greet(reader: Reader, after: number | undefined): Promise<string> {
    if (!reader.isResumable) return "";
    if (after === undefined) return bookmark(reader.last);
    if (after < this.#recent.end) return "";
    // Another replica may be ahead of this one; then the log has the number, and we shall get there.
    const { changes } = await this.#options.storage.changesAfter(after - 1, 1);
    if (changes.length > 0) return "";
    reader.last = this.#recent.end - 1;
    this.#gaps++;
    return gapFrame(1, reader.last);
  }

  /** What is no longer in the ring. */
  async #missedBy(reader: Reader): Promise<string> {
    if (reader.last + 1 >= this.#recent.start) return "";
    if (!reader.isResumable) {
      const missed = this.#recent.start - reader.last - 1;
      reader.last = this.#recent.start - 1;
      this.#gaps++;
      return gapComment(missed);
    }
    const { changes, oldest } = await this.#options.storage.changesAfter(reader.last, changesPerRead);
    const first = changes[0]?.sequence ?? Math.max(oldest, this.#recent.start);
    let text = "";
    if (first > reader.last + 1) {
      text = gapFrame(reader.last + 1, first - 1);
      reader.last = first - 1;
      this.#gaps++;
    }
    for (const change of changes) {
      if (change.sequence >= this.#recent.end) break;
      text += changeFrame(change, reader.dialect, true) ?? "";
      reader.last = change.sequence;
    }
    return text;
  }

  #newsFor(reader: Reader): string {
    let text = "";
    if (reader.last + 1 >= this.#recent.start) {
      const end = Math.min(this.#recent.end, reader.last + 1 + framesPerChunk);
      for (let sequence = reader.last + 1; sequence < end; sequence++)
        text += this.#recent.at(sequence)?.frame(reader.dialect, reader.isResumable) ?? "";
      reader.last = Math.max(reader.last, end - 1);
    }
    const end = Math.min(this.#pings.end, Math.max(reader.nextPing, this.#pings.start) + framesPerChunk);
    for (let index = Math.max(reader.nextPing, this.#pings.start); index < end; index++)
      text += this.#pings.at(index)?.frame(reader.isResumable) ?? "";
    reader.nextPing = end;
    return text;
  }

  #hasNews(reader: Reader): boolean {
    return reader.last + 1 < this.#recent.end || reader.nextPing < this.#pings.end;
  }

  /** What the slowest reader has behind it would be in memory for nobody: whoever resumes from there reads the log. */
  #forgetRead(): void {
    let last = this.#recent.end - 1 - keptForReturning;
    for (const reader of this.#readers) last = Math.min(last, reader.last);
    this.#recent.forgetBefore(last + 1);
  }

  #wake(): void {
    for (const reader of this.#readers) reader.wake();
  }

  /** One timer for all: says something to those who have heard nothing for as long as a connection may be silent. */
  #tick(): void {
    if (this.#cancelTick !== undefined) return;
    const { env, keepAliveMs } = this.#options;
    const again = (): void => {
      this.#cancelTick = env.setTimer(keepAliveMs / ticksPerKeepAlive, () => {
        const quietSinceMs = env.monotonicMs() - keepAliveMs;
        for (const reader of this.#readers) reader.wakeIfQuietSince(quietSinceMs);
        again();
      });
    };
    again();
  }

  /** Most readers get the same bytes at the same time. */
  #encode(text: string): Uint8Array {
    if (text !== this.#lastText) {
      this.#lastText = text;
      this.#lastBytes = encoder.encode(text);
    }
    return this.#lastBytes;
  }
}

class Reader {
  readonly dialect: Dialect;
  readonly isResumable: boolean;
  last: number;
  nextPing: number;
  #waitingSinceMs = 0;
  #resolve: ((isQuiet: boolean) => void) | undefined;

  constructor({ dialect, isResumable }: Subscription, last: number, nextPing: number) {
    this.dialect = dialect;
    this.isResumable = isResumable;
    this.last = last;
    this.nextPing = nextPing;
  }

  /** True when it was woken only because nothing came. */
  untilWoken(nowMs: number): Promise<boolean> {
    this.#waitingSinceMs = nowMs;
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  wake(isQuiet = false): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve?.(isQuiet);
  }

  wakeIfQuietSince(sinceMs: number): void {
    if (this.#waitingSinceMs <= sinceMs) this.wake(true);
  }
}

/** A change with its frames, each made once however many read it. */
class FramedChange {
  readonly #change: Change;
  readonly #frames = new Map<string, string>();

  constructor(change: Change) {
    this.#change = change;
  }

  frame(dialect: Dialect, withSequence: boolean): string {
    const variant = withSequence ? `${dialect}#` : dialect;
    let frame = this.#frames.get(variant);
    if (frame === undefined) {
      frame = changeFrame(this.#change, dialect, withSequence) ?? "";
      this.#frames.set(variant, frame);
    }
    return frame;
  }
}

class FramedPing {
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  frame(withSequence: boolean): string {
    return pingFrame(this.#id, withSequence);
  }
}

const encoder = new TextEncoder();
const ticksPerKeepAlive = 3;
const pingPeriodMs = 1_000;
/** Changes that stay although all have read them, for those who come back soon. */
const keptForReturning = 500;
const recentPings = 4_096;
const maxRememberedPings = 200_000;
const framesPerChunk = 256;
const changesPerRead = 500;

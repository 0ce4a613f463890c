import { ApiError, isGone, isKindMissing } from "../client/api-error.ts";
import type { Client, WatchEvent } from "../client/client.ts";
import { ConnectionError, MalformedAnswerError } from "../client/connection-error.ts";
import { type Env, sleep } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { type BackoffOptions, backoffMs } from "./backoff.ts";
import { compareVersions, isOlder, laterVersion } from "./resource-version.ts";
import { newHealth, type WatcherHealth } from "./watch-health.ts";
import {
  close,
  type Empty,
  type Listed,
  type Paging,
  type State,
  type Streaming,
  versionOf,
  type Watching,
  watching,
} from "./watch-state.ts";
import { type OpenWatch, openWatch, WatchIdle } from "./watch-stream.ts";

/**
 * Follows one collection for ever. It keeps no objects: it tells a sink what the server said, in the server's order.
 *
 *     Empty ──▶ Paging ────▶ Listed ──▶ Watching ──┐      a stream that ends resumes from the last version;
 *       ▲  └──▶ Streaming ─────────────▲   │  ▲────┘      410, disorder or repeated failure lists again.
 *       └──────────────────────────────────┘
 *
 * There is no state "stopped": every error leads back to a state that tries again, later.
 */
export class Watcher<T extends KubeObject> {
  readonly #options: WatcherOptions<T>;
  readonly #env: Env;
  readonly #sink: WatcherSink<T>;
  #useWatchList: boolean;
  #failures = 0;
  readonly #health: WatcherHealth;
  #relistAtMs: number;
  #relistWanted = false;
  #regressions = 0;

  constructor(options: WatcherOptions<T>) {
    this.#options = options;
    this.#env = options.env;
    this.#sink = options.sink;
    this.#useWatchList = options.watchList ?? false;
    const nowMs = options.env.monotonicMs();
    this.#relistAtMs = nowMs + this.#relistPeriodMs();
    this.#health = newHealth(nowMs);
  }

  /** What a probe needs: a watcher that is silent for minutes although bookmarks are asked for is not healthy. */
  get health(): WatcherHealth {
    return this.#health;
  }

  /** Forgets the position and lists again at the next opportunity. */
  relist(): void {
    this.#relistWanted = true;
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    let state: State<T> = { kind: "Empty", lastVersion: undefined };
    while (!signal.aborted) {
      try {
        state = await this.step(state, signal);
        this.#note({ state: state.kind });
      } catch (error) {
        if (signal.aborted) break;
        state = await this.#recover(state, error, signal);
      }
    }
    await close(state);
  }

  /** One move of the machine; throws what the server or the network threw. */
  async step(state: State<T>, signal: AbortSignal): Promise<State<T>> {
    switch (state.kind) {
      case "Empty":
        return this.#useWatchList ? this.#startStreaming(state, signal) : this.#startPaging(state, signal);
      case "Paging":
        return this.#nextPage(state);
      case "Streaming":
        return this.#nextInitialEvent(state);
      case "Listed":
        return this.#startWatching(state, signal);
      case "Watching":
        return this.#nextEvent(state);
    }
  }

  #startPaging(state: Empty, signal: AbortSignal): Paging<T> {
    this.#health.counts.lists++;
    const { kind, client } = this.#options;
    const pages = client.pages(kind, { ...this.#scope(), limit: this.#options.pageSize ?? defaultPageSize, signal });
    return {
      kind: "Paging",
      pages: pages[Symbol.asyncIterator](),
      lastVersion: state.lastVersion,
      version: undefined,
      begun: false,
    };
  }

  async #nextPage(state: Paging<T>): Promise<State<T>> {
    const page = await state.pages.next();
    if (page.done) {
      this.#synced(state.version);
      return { kind: "Listed", version: state.version ?? "" };
    }
    const version = state.version ?? page.value.metadata.resourceVersion;
    if (!state.begun) {
      this.#refuseTimeTravel(version, state.lastVersion);
      this.#sink.begin({ trusted: true });
    }
    await this.#sink.page(page.value.items);
    this.#active("lastEventAtMs");
    return { ...state, version, begun: true };
  }

  #startStreaming(state: Empty, signal: AbortSignal): Streaming<T> {
    this.#health.counts.lists++;
    const stream = this.#open({ sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }, signal);
    this.#sink.begin({ trusted: false });
    return { kind: "Streaming", stream, lastVersion: state.lastVersion, startedAtMs: this.#env.monotonicMs() };
  }

  async #nextInitialEvent(state: Streaming<T>): Promise<State<T>> {
    const next = await state.stream.next();
    if (next === undefined) throw new WatchListIncomplete("the stream ended before k8s.io/initial-events-end");
    if (this.#env.monotonicMs() - state.startedAtMs > maxInitialStreamMs) {
      throw new WatchListIncomplete(`no k8s.io/initial-events-end within ${maxInitialStreamMs} ms`);
    }
    this.#active("lastEventAtMs");
    switch (next.type) {
      case "ADDED":
      case "MODIFIED":
        await this.#sink.page([next.object]);
        return state;
      case "DELETED":
        this.#sink.remove(next.object);
        return state;
      case "BOOKMARK": {
        if (next.object.metadata.annotations?.["k8s.io/initial-events-end"] !== "true") return state;
        const version = next.object.metadata.resourceVersion;
        if (isOlder(version, state.lastVersion)) {
          // Its events were mixed in before its version was known; pages say their version first, so they decide.
          this.#useWatchList = false;
          this.#refuseTimeTravel(version, state.lastVersion);
        }
        this.#synced(version);
        return watching(version ?? "", state.stream, this.#env.monotonicMs());
      }
    }
  }

  #startWatching(state: Listed, signal: AbortSignal): Watching<T> {
    const stream = this.#open({ ...(state.version !== "" && { resourceVersion: state.version }) }, signal);
    return watching(state.version, stream, this.#env.monotonicMs());
  }

  async #nextEvent(state: Watching<T>): Promise<State<T>> {
    if (this.#relistWanted || this.#env.monotonicMs() >= this.#relistAtMs) {
      await close(state);
      return { kind: "Empty", lastVersion: state.version };
    }
    const next = await state.stream.next();
    if (next === undefined) return this.#resume(state);
    const version = next.object.metadata.resourceVersion;
    if (next.type === "BOOKMARK") {
      this.#active("lastBookmarkAtMs");
      this.#healthy();
      const later = laterVersion(state.version, version) ?? state.version;
      this.#sink.progress(later);
      return this.#at({ ...state, version: later });
    }
    this.#active("lastEventAtMs");
    this.#healthy();
    return this.#at(this.#deliver(state, next));
  }

  /** The protocol promises versions that rise and lie after the one we asked for. What does not is suspect. */
  #deliver(state: Watching<T>, event: Change<T>): Watching<T> {
    const version = event.object.metadata.resourceVersion;
    const order = compareVersions(version, state.version);
    const beforeStart = isOlder(version, state.startVersion) || (order === 0 && version === state.startVersion);
    if (beforeStart) {
      // A replica that lags behind replays what we already know; believing it could bring deleted objects back to life.
      this.#health.counts.timeTravels++;
      this.#relistWanted = true;
      return state;
    }
    if (order !== undefined && order < 0) {
      this.#health.counts.stale++;
      this.#relistWanted = true;
    }
    if (event.type === "DELETED") this.#sink.remove(event.object);
    else this.#sink.apply(event.object);
    return { ...state, version: laterVersion(state.version, version) ?? state.version };
  }

  /** The server ended the stream: normal after the time that we asked for, suspicious at once. */
  async #resume(state: Watching<T>): Promise<State<T>> {
    const livedMs = this.#env.monotonicMs() - state.startedAtMs;
    if (livedMs < minStreamLifeMs && state.version === state.startVersion) {
      throw new WatchEndedEarly(`the watch ended after ${Math.round(livedMs)} ms without an event`);
    }
    return { kind: "Listed", version: state.version };
  }

  /** Where to go on after an error, and when: the only place that decides it. */
  async #recover(state: State<T>, error: unknown, signal: AbortSignal): Promise<State<T>> {
    await close(state);
    this.#failures++;
    this.#health.counts.faults++;
    const expired = isGone(error);
    if (expired) this.#health.counts.expired++;
    if (error instanceof MalformedAnswerError) this.#health.counts.malformed++;
    const refused = state.kind === "Streaming" && this.#giveUpWatchList(error);
    const lastVersion = versionOf(state);
    const keepsPosition =
      (state.kind === "Watching" || state.kind === "Listed") && !expired && this.#failures <= maxWatchFailures;
    const next: State<T> = keepsPosition
      ? { kind: "Listed", version: lastVersion ?? "" }
      : { kind: "Empty", lastVersion };
    this.#note({
      state: next.kind,
      consecutiveFailures: this.#failures,
      lastError: error,
      absent: isKindMissing(error),
    });
    const atOnce = this.#failures === 1 && (expired || refused);
    const delayMs = atOnce ? 0 : this.#delayMs(error);
    this.#sink.fault?.(error, delayMs);
    if (delayMs > 0) await sleep(this.#env, delayMs, signal).catch(() => undefined);
    return next;
  }

  #delayMs(error: unknown): number {
    const options = this.#options.backoff ?? watchBackoff;
    const capped = isKindMissing(error) ? { ...options, maxMs: Math.min(options.maxMs, notServedMaxMs) } : options;
    const askedMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    return Math.max(
      askedMs,
      backoffMs(capped, this.#failures, () => this.#env.random()),
    );
  }

  /** A server that refuses or never completes a streamed list is asked for pages from now on. */
  #giveUpWatchList(error: unknown): boolean {
    const code = error instanceof ApiError ? error.status : undefined;
    const silent = error instanceof WatchIdle || (error instanceof ConnectionError && error.reason === "Silent");
    const unfinished = error instanceof WatchListIncomplete || silent;
    const refused = code === 400 || code === 422 || code === 500;
    if (unfinished || refused) this.#useWatchList = false;
    return refused;
  }

  /** A list that is older than what we have seen comes from a replica that lags; only if it persists is it the truth. */
  #refuseTimeTravel(version: string | undefined, lastVersion: string | undefined): void {
    if (!isOlder(version, lastVersion)) return;
    this.#health.counts.timeTravels++;
    if (++this.#regressions > maxRegressions) return;
    throw new TimeTravel(`the list is at version ${version}, but ${lastVersion} was seen before`);
  }

  #synced(version: string | undefined): void {
    this.#regressions = 0;
    this.#relistWanted = false;
    this.#relistAtMs = this.#env.monotonicMs() + this.#relistPeriodMs();
    this.#sink.synced(version ?? "");
    this.#healthy();
    this.#note({ resourceVersion: version });
  }

  #open(
    extra: {
      readonly sendInitialEvents?: boolean;
      readonly resourceVersionMatch?: "NotOlderThan";
      readonly resourceVersion?: string;
    },
    signal: AbortSignal,
  ): OpenWatch<T> {
    this.#health.counts.watches++;
    const timeoutSeconds = Math.round(minWatchSeconds * (1 + this.#env.random()));
    return openWatch(
      this.#env,
      this.#options.client,
      this.#options.kind,
      {
        ...this.#scope(),
        ...extra,
        allowWatchBookmarks: true,
        timeoutSeconds,
        idleTimeoutMs: this.#options.idleTimeoutMs ?? defaultIdleMs,
      },
      signal,
    );
  }

  #scope(): WatcherScope {
    const { namespace, labelSelector, fieldSelector, metadataOnly } = this.#options.scope ?? {};
    return {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
      ...(metadataOnly && { metadataOnly }),
    };
  }

  #relistPeriodMs(): number {
    return (this.#options.relistEveryMs ?? defaultRelistMs) * (0.9 + 0.2 * this.#env.random());
  }

  #at(state: Watching<T>): Watching<T> {
    this.#note({ resourceVersion: state.version });
    return state;
  }

  #healthy(): void {
    this.#failures = 0;
    if (this.#health.consecutiveFailures > 0)
      this.#note({ consecutiveFailures: 0, lastError: undefined, absent: false });
  }

  #active(field: "lastEventAtMs" | "lastBookmarkAtMs"): void {
    const nowMs = this.#env.monotonicMs();
    this.#health.lastActivityAtMs = nowMs;
    this.#health[field] = nowMs;
  }

  #note(change: Partial<WatcherHealth>): void {
    Object.assign(this.#health, change);
  }
}

/** Receives what the server says, in order. `begin … synced` frame a list; what it did not name is gone. */
export interface WatcherSink<T extends KubeObject> {
  /** A trusted list replaces what is known; from an untrusted one only what is newer counts. */
  begin(info: { readonly trusted: boolean }): void;
  /** May take its time, so that a large list does not block everything else. */
  page(objects: readonly T[]): Promise<void> | void;
  synced(version: string): void;
  apply(object: T): void;
  remove(object: T): void;
  /** Nothing has happened in this collection up to this version. */
  progress(version: string): void;
  fault?(error: unknown, retryInMs: number): void;
}

export interface WatcherScope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly metadataOnly?: boolean;
}

export interface WatcherOptions<T extends KubeObject> {
  readonly env: Env;
  readonly client: Client;
  readonly kind: KindRef<T>;
  readonly sink: WatcherSink<T>;
  readonly scope?: WatcherScope;
  /** Ask for the initial state as a stream of events; falls back to pages where the server cannot. */
  readonly watchList?: boolean;
  readonly pageSize?: number;
  readonly idleTimeoutMs?: number;
  readonly relistEveryMs?: number;
  readonly backoff?: BackoffOptions;
}

type Change<T extends KubeObject> = Exclude<WatchEvent<T>, { readonly type: "BOOKMARK" }>;

export class WatchListIncomplete extends Error {}
export class WatchEndedEarly extends Error {}
export class TimeTravel extends Error {}

/** As client-go: 800 ms doubling to 30 s, spread so that a restarted server is not stormed. */
export const watchBackoff: BackoffOptions = { baseMs: 800, maxMs: 30_000, jitter: 1 };
const notServedMaxMs = 5_000;
const defaultPageSize = 500;
const minWatchSeconds = 290;
const minStreamLifeMs = 1_000;
/** Bookmarks come about once a minute, so three silent minutes mean a dead connection. */
const defaultIdleMs = 180_000;
/** An event that was lost on the way leaves no trace in the protocol; a rare fresh list heals even that. */
const defaultRelistMs = 3_600_000;
const maxInitialStreamMs = 300_000;
const maxWatchFailures = 5;
const maxRegressions = 3;

import type { HttpResponse } from "../../http/message.ts";
import { EventEncoder } from "../encode/watch-events.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { expired, type StatusError } from "../protocol/status-error.ts";
import { encodeEntry } from "../storage/entry.ts";
import type { Change, EventLog } from "../storage/event-log.ts";
import { Alarm } from "./alarm.ts";
import { parseWatchOptions, type WatchOptions } from "./list-options.ts";
import { isSelected, parseSelection, type Selection } from "./selection.ts";

/** Bookmarks tell a quiet client how far the world has moved on, about once a minute and right before the end. */
const bookmarkEveryMs = 60_000;
const minTimeoutSeconds = 1800;
const batchBytes = 64 * 1024;

/** A stream of changes in the order of commits. */
export function watch(parts: ServerParts, request: ApiRequest): HttpResponse {
  const options = parseWatchOptions(request.info.query);
  const selection = parseSelection(request);
  return {
    status: 200,
    headers: { "content-type": "application/json", "cache-control": "no-cache, private" },
    body: new WatchStream(parts, request, options, selection).run(),
  };
}

class WatchStream {
  readonly #parts: ServerParts;
  readonly #request: ApiRequest;
  readonly #options: WatchOptions;
  readonly #selection: Selection;
  readonly #encoder: EventEncoder;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal | undefined;

  constructor(parts: ServerParts, request: ApiRequest, options: WatchOptions, selection: Selection) {
    this.#parts = parts;
    this.#request = request;
    this.#options = options;
    this.#selection = selection;
    this.#encoder = new EventEncoder(parts, request);
    const seconds = options.timeoutSeconds ?? minTimeoutSeconds * (1 + parts.env.random());
    this.#deadlineMs = parts.env.monotonicMs() + seconds * 1000;
    this.#signal = request.http.signal;
  }

  async *run(): AsyncGenerator<Uint8Array> {
    const { store } = this.#parts;
    const events = store.events(this.#request.endpoint.collection);
    const { resourceVersion, sendInitialEvents, allowBookmarks } = this.#options;
    const fromNow = resourceVersion === undefined || resourceVersion === 0;
    const withState = sendInitialEvents ?? fromNow;
    if (!withState && !fromNow && resourceVersion < store.compactedRevision) {
      yield this.#encoder.error(tooOld(resourceVersion, store.compactedRevision));
      return;
    }
    // State and position are taken in the same turn, so that no change falls between them.
    const start = withState || fromNow ? store.revision : resourceVersion;
    const position = events.positionAfter(start);
    if (withState) {
      const initial = store.collection(this.#request.endpoint.collection).range(this.#selection.prefix);
      for (const entry of initial) if (isSelected(this.#selection, entry)) yield this.#encoder.event("ADDED", entry);
      if (allowBookmarks) yield this.#encoder.bookmark(start, { "k8s.io/initial-events-end": "true" });
    }
    const alarm = new Alarm(this.#parts.env);
    const unsubscribe = events.subscribe(alarm.ring);
    this.#signal?.addEventListener("abort", alarm.ring);
    try {
      yield* this.#follow(events, position, start, alarm);
    } finally {
      unsubscribe();
      alarm.cancel();
      this.#signal?.removeEventListener("abort", alarm.ring);
    }
  }

  async *#follow(events: EventLog, from: number, start: number, alarm: Alarm): AsyncGenerator<Uint8Array> {
    const { env, store } = this.#parts;
    const { allowBookmarks } = this.#options;
    let position = from;
    let nextBookmarkMs = allowBookmarks ? env.monotonicMs() + bookmarkEveryMs : Number.POSITIVE_INFINITY;
    while (!this.#signal?.aborted && this.#isServed()) {
      if (position < events.end) {
        const batch = this.#readBatch(events, position, start);
        if (batch === "dropped") return;
        position = batch.position;
        if (batch.bytes) yield batch.bytes;
        continue;
      }
      const now = env.monotonicMs();
      const isOver = now >= this.#deadlineMs;
      if (allowBookmarks && (isOver || now >= nextBookmarkMs)) {
        nextBookmarkMs = now + bookmarkEveryMs;
        yield this.#encoder.bookmark(Math.max(store.revision, start));
      }
      if (isOver) return;
      await alarm.ringing(Math.min(nextBookmarkMs, this.#deadlineMs));
    }
  }

  /** What has happened since, in one piece: a reader that is behind catches up with few writes. */
  #readBatch(events: EventLog, from: number, start: number): { position: number; bytes?: Uint8Array } | "dropped" {
    let position = from;
    let length = 0;
    const pieces: Uint8Array[] = [];
    while (length < batchBytes) {
      const change = events.at(position);
      if (change === "dropped") return "dropped";
      if (!change) break;
      position++;
      const encoded = this.#encodeChange(change, start);
      if (!encoded) continue;
      pieces.push(encoded);
      length += encoded.length;
    }
    const [only] = pieces;
    if (only === undefined) return { position };
    return { position, bytes: pieces.length === 1 ? only : Buffer.concat(pieces, length) };
  }

  /** A definition that changed or went ends its watches: their clients come back to the new form, or learn that it is gone. */
  #isServed(): boolean {
    const { endpoint } = this.#request;
    const { group, version, plural } = endpoint.resource;
    return !endpoint.isCustom || this.#parts.resources.find(group, version, plural) === endpoint;
  }

  /** An object that starts or stops matching the selector appears or disappears for this watcher. */
  #encodeChange(change: Change, start: number): Uint8Array | undefined {
    if (change.revision <= start) return undefined;
    const { kind, entry, previous } = change;
    const was = previous !== undefined && isSelected(this.#selection, previous);
    const is = kind !== "Deleted" && isSelected(this.#selection, entry);
    if (is) return this.#encoder.change(was ? "MODIFIED" : "ADDED", change);
    if (!was || !previous) return undefined;
    if (kind === "Deleted") return this.#encoder.change("DELETED", change);
    // It disappears as the watcher knew it, under the revision of the change.
    return this.#encoder.event("DELETED", encodeEntry(entry.key, change.revision, previous.object, change.atMs));
  }
}

const tooOld = (wanted: number, compacted: number): StatusError =>
  expired(`too old resource version: ${wanted} (${compacted})`);

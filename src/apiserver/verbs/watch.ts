import type { HttpResponse } from "../../http/message.ts";
import { partialObjectMetadata } from "../encode/partial-metadata.ts";
import { tableOf } from "../encode/table.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { expired, type StatusError } from "../protocol/status-error.ts";
import { type Entry, encodeEntry } from "../storage/entry.ts";
import type { Change } from "../storage/event-log.ts";
import { parseWatchOptions, type WatchOptions } from "./list-options.ts";
import { isSelected, parseSelection, type Selection } from "./selection.ts";

type EventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

/** Bookmarks tell a quiet client how far the world has moved on, about once a minute and right before the end. */
const bookmarkEveryMs = 60_000;
const minTimeoutSeconds = 1800;

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
    if (
      !withState &&
      resourceVersion !== undefined &&
      resourceVersion > 0 &&
      resourceVersion < store.compactedRevision
    ) {
      yield this.#encoder.error(tooOld(resourceVersion, store.compactedRevision));
      return;
    }
    // State and position are taken in the same turn, so that no change falls between them.
    const start = withState || fromNow ? store.revision : (resourceVersion ?? 0);
    let position = events.positionAfter(start);
    if (withState) {
      const initial = store.collection(this.#request.endpoint.collection).range(this.#selection.prefix);
      const revision = store.revision;
      for (const entry of initial) if (isSelected(this.#selection, entry)) yield this.#encoder.event("ADDED", entry);
      if (allowBookmarks) yield this.#encoder.bookmark(revision, { "k8s.io/initial-events-end": "true" });
    }
    let nextBookmarkMs = this.#parts.env.monotonicMs() + bookmarkEveryMs;
    while (!this.#signal?.aborted && this.#isServed()) {
      const change = events.at(position);
      if (change === "dropped") return;
      if (change) {
        position++;
        const encoded = this.#encodeChange(change, start);
        if (encoded) yield encoded;
        continue;
      }
      const now = this.#parts.env.monotonicMs();
      if (allowBookmarks && now >= Math.min(nextBookmarkMs, this.#deadlineMs)) {
        nextBookmarkMs = now + bookmarkEveryMs;
        yield this.#encoder.bookmark(Math.max(store.revision, start));
      }
      if (now >= this.#deadlineMs) return;
      await this.#changeOr((allowBookmarks ? Math.min(nextBookmarkMs, this.#deadlineMs) : this.#deadlineMs) - now);
    }
  }

  /** A definition that changed or went ends its watches: their clients come back to the new form, or learn that it is gone. */
  #isServed(): boolean {
    const { endpoint } = this.#request;
    const { group, version, plural } = endpoint.resource;
    return !endpoint.isCustom || this.#parts.resources.find(group, version, plural) === endpoint;
  }

  /** Waits for the next commit to this resource, for the time to pass, or for the client to go. */
  #changeOr(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancelTimer();
        stopWaiting();
        this.#signal?.removeEventListener("abort", done);
        resolve();
      };
      const stopWaiting = this.#parts.store.events(this.#request.endpoint.collection).onAnnounce(done);
      const cancelTimer = this.#parts.env.setTimer(delayMs, done);
      this.#signal?.addEventListener("abort", done, { once: true });
      if (this.#signal?.aborted) done();
    });
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
    return this.#encoder.event("DELETED", encodeEntry(entry.key, change.revision, previous.object));
  }
}

const tooOld = (wanted: number, compacted: number): StatusError =>
  expired(`too old resource version: ${wanted} (${compacted})`);

/** Events in the form that the client asked for. */
class EventEncoder {
  readonly #parts: ServerParts;
  readonly #request: ApiRequest;
  #isFirst = true;

  constructor(parts: ServerParts, request: ApiRequest) {
    this.#parts = parts;
    this.#request = request;
  }

  /** All watchers that want the plain object share the bytes of a change. */
  change(type: EventType, change: Change): Uint8Array {
    const { form, endpoint } = this.#request;
    if (form.kind !== "Object" || form.yaml || endpoint.view(change.entry) !== change.entry) {
      return this.event(type, change.entry);
    }
    const known = encodedChanges.get(change);
    if (known?.type === type) return known.bytes;
    const bytes = plainEvent(type, change.entry);
    encodedChanges.set(change, { type, bytes });
    return bytes;
  }

  event(type: EventType, entry: Entry): Uint8Array {
    const { form, endpoint } = this.#request;
    const seen = endpoint.view(entry);
    if (form.kind === "Object" && !form.yaml) return plainEvent(type, seen);
    return encodeEvent(type, this.#form(seen));
  }

  bookmark(revision: number, annotations?: Readonly<Record<string, string>>): Uint8Array {
    const { resource, apiVersion } = this.#request.endpoint;
    const metadata = {
      resourceVersion: String(revision),
      creationTimestamp: null,
      ...(annotations && { annotations }),
    };
    const object = { kind: resource.kind, apiVersion, metadata };
    const { form } = this.#request;
    if (form.kind === "Object") return encodeEvent("BOOKMARK", object);
    if (form.kind === "PartialObjectMetadata") {
      return encodeEvent("BOOKMARK", {
        kind: "PartialObjectMetadata",
        apiVersion: `meta.k8s.io/${form.version}`,
        metadata,
      });
    }
    const table = {
      kind: "Table",
      apiVersion: `meta.k8s.io/${form.version}`,
      metadata: { resourceVersion: String(revision) },
    };
    return encodeEvent("BOOKMARK", { ...table, columnDefinitions: null, rows: [] });
  }

  error(error: StatusError): Uint8Array {
    return encodeEvent("ERROR", error.status);
  }

  #form(entry: Entry): unknown {
    const { form, endpoint, info } = this.#request;
    if (form.kind !== "Table") return partialObjectMetadata(form.kind === "Object" ? "v1" : form.version, entry.object);
    const withoutColumns = !this.#isFirst;
    this.#isFirst = false;
    return tableOf(endpoint.resource, form.version, [entry.object], {
      metadata: { resourceVersion: entry.object.metadata.resourceVersion ?? "" },
      now: this.#parts.env.now(),
      includeObject: info.query.get("includeObject"),
      withoutColumns,
    });
  }
}

const encodedChanges = new WeakMap<Change, { readonly type: EventType; readonly bytes: Uint8Array }>();

const plainEvent = (type: EventType, entry: Entry): Uint8Array =>
  Buffer.concat([Buffer.from(`{"type":"${type}","object":`), entry.bytes, eventEnd]);
const eventEnd = Buffer.from("}\n");

const encodeEvent = (type: EventType, object: unknown): Uint8Array =>
  Buffer.from(`${JSON.stringify({ type, object })}\n`);

import type { ApiRequest, ServerParts } from "../parts.ts";
import type { StatusError } from "../protocol/status-error.ts";
import type { Entry } from "../storage/entry.ts";
import type { Change } from "../storage/event-log.ts";
import { partialObjectMetadata } from "./partial-metadata.ts";
import { tableOf } from "./table.ts";

export type EventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

/** Events in the form that the client asked for. */
export class EventEncoder {
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

import type { KubeObject } from "../../kube/object.ts";

/**
 * One version of one stored object. Its bytes are what lists and watches send, so nothing is serialised twice; the
 * parsed form is made on demand and must never be changed in place.
 */
export class Entry {
  readonly key: string;
  readonly revision: number;
  readonly bytes: Buffer;
  /** When the version was written; 0 for one that never was. */
  readonly atMs: number;
  #object: KubeObject | undefined;

  constructor(key: string, revision: number, bytes: Buffer, object?: KubeObject, atMs = 0) {
    this.key = key;
    this.revision = revision;
    this.bytes = bytes;
    this.atMs = atMs;
    this.#object = object;
  }

  get object(): KubeObject {
    this.#object ??= JSON.parse(this.bytes.toString()) as KubeObject;
    return this.#object;
  }
}

/** Stamps the revision into the object and serialises it once, apiVersion and kind first. */
export function encodeEntry(key: string, revision: number, object: KubeObject, atMs: number): Entry {
  const { apiVersion, kind, metadata, ...rest } = object;
  const stamped = { apiVersion, kind, metadata: { ...metadata, resourceVersion: String(revision) }, ...rest };
  return new Entry(key, revision, Buffer.from(JSON.stringify(stamped)), stamped, atMs);
}

/** An object that was only tried out: it carries the revision that it has now, or none. */
export function unsavedEntry(key: string, object: KubeObject): Entry {
  const { apiVersion, kind, metadata, ...rest } = object;
  const ordered = { apiVersion, kind, metadata, ...rest };
  return new Entry(key, 0, Buffer.from(JSON.stringify(ordered)), ordered);
}

/** `namespace/name`, or only the name of a cluster-scoped object. Lists are in the order of these keys. */
export const storageKey = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;

import type { KindRef } from "../kube/kind.ts";
import type { KubeList, KubeObject, ObjectKey, ObjectMeta, Status } from "../kube/object.ts";

/**
 * What a controller may ask of a Kubernetes API. One interface, several makers: over TLS to a cluster, in process to the
 * embedded server, and wrappers (dry-run, default field manager, one namespace).
 * Every refusal is thrown as an `ApiError` (api-error.ts) that one can branch on.
 */
export interface Client {
  get<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey, options?: GetOptions): Promise<T>;
  /** All objects, fetched in pages; the resourceVersion is the first page's consistent snapshot. */
  list<T extends KubeObject>(kind: KindRef<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** One page at a time, so that a large list never blocks the event loop. */
  pages<T extends KubeObject>(kind: KindRef<T>, options?: ListOptions): AsyncIterable<KubeList<T>>;
  /** One watch request: ends when the server ends it, throws on a broken stream, an error event or silence. */
  watch<T extends KubeObject>(kind: KindRef<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(kind: KindRef<T>, object: NewObject<T>, options?: WriteOptions): Promise<T>;
  update<T extends KubeObject>(kind: KindRef<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Server-side apply of exactly the given fields. */
  apply<T extends KubeObject>(kind: KindRef<T>, object: ApplyObject<T>, options?: ApplyOptions): Promise<T>;
  /** Answers the object while finalizers hold it, otherwise the server's Status. */
  delete<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | Status>;
  deleteCollection(kind: KindRef, options?: ListOptions & DeleteOptions): Promise<void>;
  getScale(kind: KindRef, key: ObjectKey, options?: RequestOptions): Promise<Scale>;
  setScale(kind: KindRef, key: ObjectKey, replicas: number, options?: WriteOptions): Promise<Scale>;
  /** The log as it comes; ends with the container unless `follow` is set. */
  log(pod: ObjectKey, options?: LogOptions): AsyncIterable<Uint8Array>;
  evict(pod: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** A short-lived token of a ServiceAccount. */
  createToken(serviceAccount: ObjectKey, options?: TokenOptions): Promise<string>;
  /** The served kind for a group and kind, or undefined; notices CRDs installed later. */
  discover(group: string, kind: string, options?: RequestOptions): Promise<KindRef | undefined>;
  /** Any other request; a JSON answer is parsed. */
  raw(request: RawRequest): Promise<unknown>;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
}
export interface GetOptions extends RequestOptions {
  readonly subresource?: "status";
  readonly resourceVersion?: string;
}
export interface ListOptions extends RequestOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** Objects per page. */
  readonly limit?: number;
  /** Only metadata is fetched: objects come as PartialObjectMetadata. */
  readonly metadataOnly?: boolean;
}
export interface WatchOptions extends RequestOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  readonly metadataOnly?: boolean;
  /** A stream that says nothing for this long, not even a bookmark, is taken for dead. */
  readonly idleTimeoutMs?: number;
}
export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: KubeObject };

export interface WriteOptions extends RequestOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  readonly subresource?: "status" | "scale";
  /** Called for every warning header of the answer. */
  readonly onWarning?: (warning: string) => void;
}
export interface ApplyOptions extends WriteOptions {
  readonly force?: boolean;
}
export interface DeleteOptions extends RequestOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}
export interface LogOptions extends RequestOptions {
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  readonly limitBytes?: number;
  readonly timestamps?: boolean;
}
export interface TokenOptions extends RequestOptions {
  readonly audiences?: readonly string[];
  readonly expirationSeconds?: number;
  readonly dryRun?: boolean;
}
export interface RawRequest extends RequestOptions {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export type Patch =
  | { readonly type: "json"; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: "merge"; readonly value: unknown }
  | { readonly type: "strategic"; readonly value: unknown };

export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

export interface Scale extends KubeObject {
  readonly spec: { readonly replicas: number };
  readonly status: { readonly replicas: number; readonly selector?: string };
}

/** A new object needs no apiVersion and kind: its Kind brings them; a generateName may stand for the name. */
export type NewObject<T extends KubeObject> = Omit<T, "apiVersion" | "kind" | "metadata"> & {
  readonly metadata: Partial<ObjectMeta>;
};

/** An apply states the fields that the caller owns, whatever else the object has. */
export type ApplyObject<T extends KubeObject> = DeepPartial<Omit<T, "apiVersion" | "kind" | "metadata">> & {
  readonly metadata: Partial<ObjectMeta> & { readonly name: string };
};

export type DeepPartial<T> = T extends readonly (infer E)[]
  ? readonly DeepPartial<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

import { apiVersionOf, type KindRef } from "../kube/kind.ts";
import type { KubeObject, ObjectKey } from "../kube/object.ts";
import type {
  ApplyObject,
  ApplyOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  NewObject,
  Patch,
  RawRequest,
  TokenOptions,
  WatchOptions,
  WriteOptions,
} from "./client.ts";
import { collectionPath, objectPath, query, subjectOf } from "./request-path.ts";

/**
 * Every request of the client as data. Nothing here sends anything: what a verb means on the wire can be read, and
 * tested, from this file alone.
 */
export interface ApiRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** `Pod "default/web"`: what error messages call it. */
  readonly subject: string;
  /** Sending it twice does no more than sending it once, so it may be repeated when it is unknown whether it arrived. */
  readonly repeatable: boolean;
}

export function getRequest(kind: KindRef, key: ObjectKey, options: GetOptions = {}): ApiRequest {
  const target = objectPath(kind, key, options.subresource) + query({ resourceVersion: options.resourceVersion });
  return { method: "GET", target, headers: acceptJson, subject: subjectOf(kind, key), repeatable: true };
}

export function listRequest(kind: KindRef, options: ListOptions = {}, continueToken?: string): ApiRequest {
  const target =
    collectionPath(kind, options.namespace) +
    query({
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit,
      continue: continueToken,
      // The token already holds the version; the server refuses both together.
      resourceVersion: continueToken === undefined ? options.resourceVersion : undefined,
      resourceVersionMatch: continueToken === undefined ? options.resourceVersionMatch : undefined,
    });
  const headers = options.metadataOnly ? acceptMetadataList : acceptJson;
  return { method: "GET", target, headers, subject: subjectOf(kind, options), repeatable: true };
}

export function watchRequest(kind: KindRef, options: WatchOptions = {}): ApiRequest {
  const target =
    collectionPath(kind, options.namespace) +
    query({
      watch: true,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      resourceVersion: options.resourceVersion,
      // The server demands this match with initial events and knows no other for a watch.
      resourceVersionMatch:
        options.resourceVersionMatch ?? (options.sendInitialEvents === undefined ? undefined : "NotOlderThan"),
      allowWatchBookmarks: options.allowWatchBookmarks,
      sendInitialEvents: options.sendInitialEvents,
      timeoutSeconds: options.timeoutSeconds,
    });
  const headers = options.metadataOnly ? acceptMetadata : acceptJson;
  return { method: "GET", target, headers, subject: subjectOf(kind, options), repeatable: true };
}

export function createRequest<T extends KubeObject>(
  kind: KindRef<T>,
  object: NewObject<T>,
  options: WriteOptions = {},
): ApiRequest {
  const { name, generateName, namespace } = object.metadata;
  const key = { name: name ?? `${generateName ?? ""}*`, ...(namespace !== undefined && { namespace }) };
  return {
    method: "POST",
    target: collectionPath(kind, namespace, "create") + query(writeParameters(options)),
    headers: sendJson,
    body: encode(withHeader(kind, object)),
    subject: subjectOf(kind, key),
    repeatable: options.dryRun === true,
  };
}

export function updateRequest<T extends KubeObject>(
  kind: KindRef<T>,
  object: T,
  options: WriteOptions = {},
): ApiRequest {
  return {
    method: "PUT",
    target: objectPath(kind, object.metadata, options.subresource) + query(writeParameters(options)),
    headers: sendJson,
    body: encode(options.subresource === "scale" ? object : withHeader(kind, object)),
    subject: subjectOf(kind, object.metadata),
    // With a resourceVersion the second one is refused as a conflict; without one it writes the same again.
    repeatable: true,
  };
}

export function patchRequest(kind: KindRef, key: ObjectKey, patch: Patch, options: WriteOptions = {}): ApiRequest {
  return {
    method: "PATCH",
    target: objectPath(kind, key, options.subresource) + query(writeParameters(options)),
    headers: { ...acceptJson, "content-type": patchTypes[patch.type] },
    body: encode(patch.type === "json" ? patch.operations : patch.value),
    subject: subjectOf(kind, key),
    repeatable: options.dryRun === true || isRepeatablePatch(patch),
  };
}

export function applyRequest<T extends KubeObject>(
  kind: KindRef<T>,
  object: ApplyObject<T>,
  options: ApplyOptions & { readonly fieldManager: string },
): ApiRequest {
  return {
    method: "PATCH",
    target:
      objectPath(kind, object.metadata, options.subresource) +
      query({ ...writeParameters(options), force: options.force }),
    headers: { ...acceptJson, "content-type": "application/apply-patch+yaml" },
    body: encode(withHeader(kind, object)),
    subject: subjectOf(kind, object.metadata),
    repeatable: true,
  };
}

export function deleteRequest(kind: KindRef, key: ObjectKey, options: DeleteOptions = {}): ApiRequest {
  return {
    method: "DELETE",
    target: objectPath(kind, key),
    ...deleteBody(options),
    subject: subjectOf(kind, key),
    // Without a precondition the second one could hit an object that was made anew under the same name.
    repeatable: options.dryRun === true || options.preconditions?.uid !== undefined,
  };
}

export function deleteCollectionRequest(kind: KindRef, options: ListOptions & DeleteOptions = {}): ApiRequest {
  const target =
    collectionPath(kind, options.namespace, "delete") +
    query({
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
    });
  const repeatable = options.dryRun === true;
  return { method: "DELETE", target, ...deleteBody(options), subject: subjectOf(kind, options), repeatable };
}

export function getScaleRequest(kind: KindRef, key: ObjectKey): ApiRequest {
  const target = objectPath(kind, key, "scale");
  return { method: "GET", target, headers: acceptJson, subject: subjectOf(kind, key), repeatable: true };
}

export function setScaleRequest(
  kind: KindRef,
  key: ObjectKey,
  replicas: number,
  options: WriteOptions = {},
): ApiRequest {
  return patchRequest(
    kind,
    key,
    { type: "merge", value: { spec: { replicas } } },
    { ...options, subresource: "scale" },
  );
}

export function logRequest(pod: ObjectKey, options: LogOptions = {}): ApiRequest {
  const target =
    objectPath(podKind, pod, "log") +
    query({
      container: options.container,
      follow: options.follow,
      previous: options.previous,
      tailLines: options.tailLines,
      sinceSeconds: options.sinceSeconds,
      limitBytes: options.limitBytes,
      timestamps: options.timestamps,
    });
  return { method: "GET", target, headers: { accept: "*/*" }, subject: subjectOf(podKind, pod), repeatable: true };
}

export function evictRequest(pod: ObjectKey, options: DeleteOptions = {}): ApiRequest {
  const deleteOptions = deleteOptionsOf(options);
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: pod.name, namespace: pod.namespace },
    ...(Object.keys(deleteOptions).length > 0 && { deleteOptions }),
  };
  return {
    method: "POST",
    target: objectPath(podKind, pod, "eviction") + query({ dryRun: options.dryRun ? "All" : undefined }),
    headers: sendJson,
    body: encode(eviction),
    subject: subjectOf(podKind, pod),
    repeatable: options.dryRun === true || options.preconditions?.uid !== undefined,
  };
}

export function tokenRequest(serviceAccount: ObjectKey, options: TokenOptions = {}): ApiRequest {
  const { audiences, expirationSeconds } = options;
  return {
    method: "POST",
    target:
      objectPath(serviceAccountKind, serviceAccount, "token") + query({ dryRun: options.dryRun ? "All" : undefined }),
    headers: sendJson,
    body: encode({
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { ...(audiences && { audiences }), ...(expirationSeconds !== undefined && { expirationSeconds }) },
    }),
    subject: subjectOf(serviceAccountKind, serviceAccount),
    // A second token changes nothing in the cluster.
    repeatable: true,
  };
}

export function rawRequest({ method, target, headers, body }: RawRequest): ApiRequest {
  const isBytes = body instanceof Uint8Array;
  return {
    method,
    target,
    headers: {
      accept: "application/json",
      ...(body !== undefined && !isBytes && typeof body !== "string" && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isBytes ? body : typeof body === "string" ? Buffer.from(body) : encode(body) }),
    subject: `${method} ${target}`,
    repeatable: method === "GET" || method === "HEAD" || method === "OPTIONS" || method === "PUT",
  };
}

const podKind: KindRef = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
const serviceAccountKind: KindRef = {
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};

const acceptJson = { accept: "application/json" };
const sendJson = { ...acceptJson, "content-type": "application/json" };
const acceptMetadataList = {
  accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
};
const acceptMetadata = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json" };

const patchTypes: Readonly<Record<Patch["type"], string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

/** Merge patches set values; operations may add to a list twice, unless they test the version that they started from. */
const isRepeatablePatch = (patch: Patch): boolean =>
  patch.type !== "json" ||
  patch.operations.some(({ op, path }) => op === "test" && path === "/metadata/resourceVersion");

const writeParameters = (options: WriteOptions): Parameters<typeof query>[0] => ({
  dryRun: options.dryRun ? "All" : undefined,
  fieldManager: options.fieldManager,
  fieldValidation: options.fieldValidation,
});

function withHeader(kind: KindRef, object: object): object {
  const header = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return { ...header, ...object, ...header };
}

function deleteBody(options: DeleteOptions): { headers: Readonly<Record<string, string>>; body?: Uint8Array } {
  const body = deleteOptionsOf(options);
  return Object.keys(body).length === 0 ? { headers: acceptJson } : { headers: sendJson, body: encode(body) };
}

function deleteOptionsOf({ preconditions, propagationPolicy, gracePeriodSeconds, dryRun }: DeleteOptions): object {
  return {
    ...(preconditions && { preconditions }),
    ...(propagationPolicy && { propagationPolicy }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(dryRun && { dryRun: ["All"] }),
  };
}

const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

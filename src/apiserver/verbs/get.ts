import { encodeObject } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { notFound, revisionTooLarge, StatusError } from "../protocol/status-error.ts";
import { type Entry, storageKey } from "../storage/entry.ts";
import { parseVersion } from "./list-options.ts";

export function get(parts: ServerParts, request: ApiRequest): Answer {
  return encodeObject(parts, request, 200, findObject(parts, request));
}

/** The committed object that the path names. */
export function findObject({ store }: ServerParts, { info, endpoint }: ApiRequest): Entry {
  const wanted = parseVersion(info.query.get("resourceVersion") ?? "", (message) => new StatusError(500, "", message));
  if (wanted !== undefined && wanted > store.revision) throw revisionTooLarge(wanted, store.revision);
  const entry = store.get(endpoint.collection, storageKey(namespaceOf(endpoint, info.namespace), info.name));
  if (!entry) throw notFound(endpoint.resourceName, info.name);
  return entry;
}

/** The namespace part of a storage key; a path may carry one that a cluster-scoped resource does not use. */
export const namespaceOf = (endpoint: ApiRequest["endpoint"], namespace: string): string | undefined =>
  endpoint.resource.namespaced ? namespace : undefined;

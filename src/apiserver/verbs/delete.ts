import { parseDeleteOptions } from "../decode/delete-options.ts";
import { encodeList } from "../encode/list.ts";
import { encodeObject, encodeValue } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { type Answer, warningHeader } from "../protocol/respond.ts";
import { StatusError } from "../protocol/status-error.ts";
import { type Entry, storageKey } from "../storage/entry.ts";
import { deleteObject } from "../writes/delete.ts";
import { answersWithObject } from "../writes/deletion.ts";
import { namespaceOf } from "./get.ts";
import { isSelected, parseSelection } from "./selection.ts";

export async function deleteOne(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const { endpoint, info } = request;
  const options = parseDeleteOptions(parts, request);
  if (endpoint.collection === "jobs.batch" && !options.propagationPolicy) request.warnings.push(orphanedPods);
  const key = storageKey(namespaceOf(endpoint, info.namespace), info.name);
  const { isGone, entry } = await deleteObject(parts, request, key, options);
  if (!isGone || answersWithObject.has(endpoint.collection)) return encodeObject(parts, request, 200, entry);
  const { name, group } = { name: info.name, group: endpoint.resource.group };
  const details = {
    name,
    ...(group !== "" && { group }),
    kind: endpoint.resource.plural,
    uid: entry.object.metadata.uid,
  };
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
  return encodeValue(
    { form: { kind: "Object", yaml: false, pretty: request.form.pretty } },
    200,
    status,
    warningHeader(request.warnings),
  );
}

const orphanedPods =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

/** Deletes what a list with the same selectors would show; an object that is gone by then counts as deleted. */
export async function deleteCollection(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const options = parseDeleteOptions(parts, request);
  const selection = parseSelection(request);
  const { store } = parts;
  const found = store
    .collection(request.endpoint.collection)
    .range(selection.prefix)
    .filter((entry) => isSelected(selection, entry));
  const deleted = await Promise.all(found.map((entry) => deleteIfThere(parts, request, entry, options)));
  return encodeList(parts, request, deleted, { resourceVersion: String(store.revision) });
}

async function deleteIfThere(
  parts: ServerParts,
  request: ApiRequest,
  entry: Entry,
  options: ReturnType<typeof parseDeleteOptions>,
): Promise<Entry> {
  try {
    return (await deleteObject(parts, request, entry.key, options)).entry;
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return entry;
    throw error;
  }
}

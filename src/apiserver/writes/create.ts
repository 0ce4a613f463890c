import type { KubeObject } from "../../kube/object.ts";
import type { AdmissionQuestion } from "../admission/admission.ts";
import type { WriteOptions } from "../decode/write-options.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { alreadyExists, internalError, invalid } from "../protocol/status-error.ts";
import { type Entry, storageKey, unsavedEntry } from "../storage/entry.ts";
import { namespaceOf } from "../verbs/get.ts";
import { stampNew } from "./metadata.ts";

/** A generated name that is taken is tried again with another ending. */
const maxNameAttempts = 8;

/** admit → mutate → validate → store: the way of a new object. Answers the entry that is on disk. */
export async function createObject(
  parts: ServerParts,
  request: ApiRequest,
  given: KubeObject,
  options: WriteOptions,
  managed: (object: KubeObject) => KubeObject,
): Promise<Entry> {
  const hasGeneratedName = !given.metadata?.name && Boolean(given.metadata?.generateName);
  for (let attempt = 1; ; attempt++) {
    try {
      return await createOnce(parts, request, given, options, managed);
    } catch (error) {
      if (!hasGeneratedName || attempt === maxNameAttempts || !isTaken(error)) throw error;
    }
  }
}

async function createOnce(
  parts: ServerParts,
  request: ApiRequest,
  given: KubeObject,
  options: WriteOptions,
  managed: (object: KubeObject) => KubeObject,
): Promise<Entry> {
  const { env, store, admission } = parts;
  const { endpoint, info } = request;
  const { strategy } = endpoint.resource;
  const stamped = managed(stampNew(env, endpoint, info.namespace, given));
  const question: AdmissionQuestion = {
    request,
    endpoint,
    operation: "CREATE",
    subresource: "",
    namespace: endpoint.resource.namespaced ? info.namespace : "",
    name: stamped.metadata.name,
    object: stamped,
    dryRun: options.dryRun,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", ...optionsBody(options) },
  };
  const object = strategy.prepareForCreate((await admission.mutate(question)) ?? stamped);
  const errors = strategy.validate(object);
  if (errors.length > 0) throw invalid(endpoint.kindName, object.metadata.name, errors);
  request.warnings.push(...(strategy.warnings?.(object) ?? []));
  const { name } = object.metadata;
  await admission.validate({ ...question, name, object });
  // From here to the write nothing waits: whatever else asks for the rest of a quota comes before or after.
  const charge = parts.quotas.check({ ...question, name, object });
  const key = storageKey(namespaceOf(endpoint, info.namespace), name);
  const taken = store.latest(endpoint.collection, key)?.object;
  if (taken) throw alreadyExists(endpoint.resourceName, name, taken.metadata.deletionTimestamp !== undefined);
  const stored = endpoint.toStored(object);
  if (options.dryRun) return unsavedEntry(key, stored);
  const outcome = store.write(endpoint.collection, key, undefined, stored);
  if (!outcome) throw internalError("the object appeared in the same turn");
  charge?.();
  return outcome;
}

export const optionsBody = ({ dryRun, fieldManager, fieldValidation }: WriteOptions): Record<string, unknown> => ({
  ...(dryRun && { dryRun: ["All"] }),
  fieldManager,
  fieldValidation,
});

const isTaken = (error: unknown): boolean =>
  error instanceof Error && "status" in error && (error.status as { reason?: string }).reason === "AlreadyExists";

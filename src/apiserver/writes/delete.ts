import type { KubeObject, ObjectMeta } from "../../kube/object.ts";
import type { AdmissionQuestion } from "../admission/admission.ts";
import { definitionCollection } from "../crd/definition.ts";
import type { DeleteOptions } from "../decode/delete-options.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { conflict, modifiedMeanwhile, notFound } from "../protocol/status-error.ts";
import type { Entry } from "../storage/entry.ts";
import { unsavedEntry } from "../storage/entry.ts";
import {
  finalizersOnDelete,
  gracePeriodSeconds,
  isHeld,
  type PropagationPolicy,
  withDeletionMarks,
  withPropagation,
} from "./deletion.ts";
import { timestamp } from "./metadata.ts";

export interface DeleteOutcome {
  /** False while finalizers or a grace period hold the object. */
  readonly isGone: boolean;
  readonly entry: Entry;
}

const maxAttempts = 100;

/** Deletes one object, or marks it as being deleted. */
export async function deleteObject(
  parts: ServerParts,
  request: ApiRequest,
  key: string,
  options: DeleteOptions,
): Promise<DeleteOutcome> {
  const { endpoint } = request;
  const name = key.slice(key.lastIndexOf("/") + 1);
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const existing = parts.store.latest(endpoint.collection, key);
    if (!existing) throw notFound(endpoint.resourceName, name);
    const object = endpoint.view(existing).object;
    checkPreconditions(request, object, options);
    const question: AdmissionQuestion = {
      request,
      endpoint,
      operation: "DELETE",
      subresource: "",
      namespace: object.metadata.namespace ?? "",
      name,
      oldObject: object,
      dryRun: options.dryRun,
      options: { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", ...options.given },
    };
    await parts.admission.mutate(question);
    await parts.admission.validate(question);
    const outcome = await deleteOnce(parts, request, existing, options);
    if (outcome) return outcome;
  }
  throw conflict(endpoint.resourceName, name, modifiedMeanwhile);
}

async function deleteOnce(
  { env, store }: ServerParts,
  { endpoint }: ApiRequest,
  existing: Entry,
  options: DeleteOptions,
): Promise<DeleteOutcome | undefined> {
  const object = endpoint.view(existing).object;
  const marked = markAsDeleting(object, {
    finalizers: finalizersOnDelete(
      object.metadata.deletionTimestamp === undefined ? endpoint.collection : "",
      withPropagation(object.metadata, options.propagationPolicy ?? defaultPolicy(endpoint.collection)),
    ),
    graceSeconds: gracePeriodSeconds(endpoint, object, options.gracePeriodSeconds),
    now: env.now(),
    isDefinition: endpoint.collection === definitionCollection,
  });
  const isGone = !isHeld(endpoint, marked) && (marked.metadata.deletionGracePeriodSeconds ?? 0) === 0;
  if (options.dryRun) return { isGone, entry: unsavedEntry(existing.key, endpoint.toStored(isGone ? object : marked)) };
  if (isGone) {
    const gone = store.write(endpoint.collection, existing.key, existing, undefined);
    return gone && { isGone, entry: await gone };
  }
  if (marked === object) return { isGone, entry: existing };
  const written = store.write(
    endpoint.collection,
    existing.key,
    existing,
    endpoint.toStored(withDeletionMarks(endpoint.collection, marked, timestamp(env.now()))),
  );
  return written && { isGone, entry: await written };
}

/** Jobs predate cascading deletion: their pods stay unless the caller says otherwise. */
const defaultPolicy = (collection: string): PropagationPolicy | undefined =>
  collection === "jobs.batch" ? "Orphan" : undefined;

interface Marking {
  readonly finalizers: readonly string[];
  readonly graceSeconds: number;
  readonly now: Date;
  /** Definitions are marked in a way of their own: without a grace period, and in the same generation. */
  readonly isDefinition: boolean;
}

/** Sets when the object has to be gone; a later delete can only bring that forward. */
function markAsDeleting(object: KubeObject, { finalizers, graceSeconds, now, isDefinition }: Marking): KubeObject {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, generation } = object.metadata;
  const isAlreadyMarked = deletionTimestamp !== undefined && deletionGracePeriodSeconds <= graceSeconds;
  const sameFinalizers = finalizers.join() === (object.metadata.finalizers ?? []).join();
  if (isAlreadyMarked && sameFinalizers) return object;
  const { finalizers: _before, ...rest } = object.metadata;
  const metadata: ObjectMeta = {
    ...rest,
    ...(finalizers.length > 0 && { finalizers }),
    ...(!isAlreadyMarked && {
      deletionTimestamp: timestamp(new Date(now.getTime() + graceSeconds * 1000)),
      ...(!isDefinition && { deletionGracePeriodSeconds: graceSeconds }),
      ...(generation !== undefined &&
        deletionTimestamp === undefined &&
        !isDefinition && { generation: generation + 1 }),
    }),
  };
  return { ...object, metadata };
}

function checkPreconditions(
  { endpoint }: ApiRequest,
  { metadata }: KubeObject,
  { preconditions }: DeleteOptions,
): void {
  const { uid, resourceVersion } = preconditions;
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      endpoint.kindName,
      metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      endpoint.kindName,
      metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

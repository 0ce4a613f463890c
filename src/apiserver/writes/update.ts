import { keepTimesIfUnchanged } from "../../kube/apply/managed-times.ts";
import { deepEqual } from "../../kube/equality.ts";
import { type FieldError, invalid as invalidField } from "../../kube/field-error.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { AdmissionQuestion } from "../admission/admission.ts";
import type { WriteOptions } from "../decode/write-options.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { conflict, invalid, modifiedMeanwhile, notFound, StatusError } from "../protocol/status-error.ts";
import { type Entry, storageKey, unsavedEntry } from "../storage/entry.ts";
import { namespaceOf } from "../verbs/get.ts";
import { optionsBody } from "./create.ts";
import { isReleased } from "./deletion.ts";
import { stampUpdated } from "./metadata.ts";

/** How an existing object is to change. */
export interface Change {
  readonly options: WriteOptions;
  readonly optionsKind: "UpdateOptions" | "PatchOptions";
  /** The object as the writer wants it, from the object as it is. Called again when somebody else was quicker. */
  wanted(current: KubeObject): KubeObject;
  /** Writes down who owns which field. */
  managed(object: KubeObject, old: KubeObject): KubeObject;
  /** What this path may change of the object, when it is neither the object itself nor its status. */
  readonly prepare?: (object: KubeObject, old: KubeObject) => KubeObject;
  /** Replaces the ordinary validation of an update. */
  readonly validate?: (object: KubeObject, old: KubeObject) => readonly FieldError[];
  /** The object must be the one with this uid. */
  readonly expectedUid?: string;
}

/** Another writer between our reading and our writing is rare; a hundred of them is a bug. */
const maxAttempts = 100;

/** The way of a change: current → wanted → prepared → admitted → validated → stored. */
export async function updateObject(parts: ServerParts, request: ApiRequest, change: Change): Promise<Entry> {
  const { endpoint, info } = request;
  const key = storageKey(namespaceOf(endpoint, info.namespace), info.name);
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const existing = parts.store.latest(endpoint.collection, key);
    if (!existing) throw notFound(endpoint.resourceName, info.name);
    const outcome = await updateOnce(parts, request, change, existing);
    if (outcome) return outcome;
  }
  throw conflict(endpoint.resourceName, info.name, modifiedMeanwhile);
}

async function updateOnce(
  parts: ServerParts,
  request: ApiRequest,
  change: Change,
  existing: Entry,
): Promise<Entry | undefined> {
  const { store, admission } = parts;
  const { endpoint, info } = request;
  const { options } = change;
  const old = endpoint.view(existing).object;
  checkUid(request, change, old);
  const wanted = checkVersion(request, change.wanted(old), old);
  const prepare = preparation(request, change, old);
  const stamped = change.managed(stampUpdated(wanted, old), old);
  const question: AdmissionQuestion = {
    request,
    endpoint,
    operation: "UPDATE",
    subresource: info.subresource,
    namespace: endpoint.resource.namespaced ? info.namespace : "",
    name: info.name,
    object: stamped,
    oldObject: old,
    dryRun: options.dryRun,
    options: { kind: change.optionsKind, apiVersion: "meta.k8s.io/v1", ...optionsBody(options) },
  };
  // Only now are defaults and what nobody may change in their places, and can be seen that nothing else has changed.
  const object = keepTimesIfUnchanged(old, prepare((await admission.mutate(question)) ?? stamped));
  const errors = validation(request, change, object, old);
  if (errors.length > 0) throw invalid(endpoint.kindName, info.name, errors);
  if (info.subresource === "") request.warnings.push(...(endpoint.resource.strategy.warnings?.(object, old) ?? []));
  await admission.validate({ ...question, object });
  if (deepEqual(object, old)) return existing;
  const charge = parts.quotas.check({ ...question, object });
  const stored = endpoint.toStored(object);
  if (options.dryRun) return unsavedEntry(existing.key, stored);
  if (isReleased(endpoint, object)) {
    const gone = store.write(endpoint.collection, existing.key, existing, undefined);
    // The answer shows the object as its last writer left it.
    return gone?.then(() => unsavedEntry(existing.key, stored));
  }
  const written = store.write(endpoint.collection, existing.key, existing, stored);
  if (written) charge?.();
  return written;
}

function checkUid({ endpoint, info }: ApiRequest, { expectedUid }: Change, old: KubeObject): void {
  if (expectedUid === undefined || expectedUid === "" || expectedUid === old.metadata.uid) return;
  const key = `/registry/${endpoint.isCustom ? `${endpoint.resource.group}/` : ""}${endpoint.resource.plural}/${storageKey(info.namespace, info.name)}`;
  throw conflict(
    endpoint.resourceName,
    info.name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${expectedUid}, UID in object meta: ${old.metadata.uid}`,
  );
}

/** Writers say which version they have seen, unless the resource lets them overwrite whatever is there. */
function checkVersion({ endpoint, info }: ApiRequest, wanted: KubeObject, old: KubeObject): KubeObject {
  const seen = wanted.metadata.resourceVersion ?? "";
  const current = old.metadata.resourceVersion ?? "";
  if (seen === current) return wanted;
  if (seen === "" || seen === "0") {
    if (!endpoint.resource.strategy.allowUnconditionalUpdate) {
      const error = invalidField("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid(endpoint.resourceName, info.name, [error]);
    }
    return { ...wanted, metadata: { ...wanted.metadata, resourceVersion: current } };
  }
  if (!/^\d+$/.test(seen)) {
    throw new StatusError(500, "", `strconv.ParseUint: parsing ${JSON.stringify(seen)}: invalid syntax`);
  }
  throw conflict(endpoint.resourceName, info.name, modifiedMeanwhile);
}

function preparation(
  { endpoint, info }: ApiRequest,
  change: Change,
  old: KubeObject,
): (object: KubeObject) => KubeObject {
  const { prepare } = change;
  if (prepare) return (object) => prepare(object, old);
  const { strategy, statusStrategy, partStrategies } = endpoint.resource;
  const part = partStrategies?.[info.subresource];
  if (part) return (object) => part.prepareForUpdate(object, old);
  if (info.subresource !== "status") return (object) => strategy.prepareForUpdate(object, old);
  if (statusStrategy) return (object) => statusStrategy.prepareForUpdate(object, old);
  return (object) => onlyStatus(object, old);
}

/** Everything but the status stays; managedFields record the writer. */
function onlyStatus(object: KubeObject, old: KubeObject): KubeObject {
  const { status } = object as KubeObject & { status?: unknown };
  const { managedFields } = object.metadata;
  const { status: _before, ...rest } = old as KubeObject & { status?: unknown };
  const metadata = { ...old.metadata, ...(managedFields && { managedFields }) };
  return { ...rest, metadata, ...(status !== undefined && { status }) } as KubeObject;
}

function validation(
  { endpoint, info }: ApiRequest,
  { validate }: Change,
  object: KubeObject,
  old: KubeObject,
): readonly FieldError[] {
  if (validate) return validate(object, old);
  const { strategy, statusStrategy, partStrategies } = endpoint.resource;
  const part = partStrategies?.[info.subresource];
  if (part) return part.validateUpdate(object, old);
  return info.subresource === "status" && statusStrategy
    ? statusStrategy.validateUpdate(object, old)
    : strategy.validateUpdate(object, old);
}

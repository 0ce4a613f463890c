import { type FieldError, forbidden, invalid, required, tooLong } from "../../kube/field-error.ts";
import { goQuote, utf8Length } from "../../kube/go-text.ts";
import { dns1123LabelErrors, labelKeyErrors, labelValueErrors } from "../../kube/names.ts";
import { child, type Draft, entries, items, numeral, strings, text } from "./draft.ts";
import type { NameRule } from "./names.ts";

/** What every object's metadata must satisfy, built in or custom, when it is created and when it changes. */

const annotationsLimitBytes = 256 * 1024;

export function validateObjectMeta(object: Draft, namespaced: boolean, rule: NameRule): readonly FieldError[] {
  const metadata = child(object, "metadata") ?? {};
  const name = text(metadata, "name");
  const generateName = text(metadata, "generateName");
  const errors: FieldError[] = [];
  if (generateName !== "") {
    errors.push(...rule(generateName, true).map((error) => invalid("metadata.generateName", generateName, error)));
  }
  if (name === "") errors.push(required("metadata.name", "name or generateName is required"));
  else errors.push(...rule(name, false).map((error) => invalid("metadata.name", name, error)));
  errors.push(...namespaceErrors(text(metadata, "namespace"), namespaced));
  const generation = numeral(metadata, "generation") ?? 0;
  if (generation < 0) errors.push(invalid("metadata.generation", generation, "must be greater than or equal to 0"));
  errors.push(
    ...validateLabels(metadata, "labels", "metadata.labels"),
    ...validateAnnotations(metadata, "metadata.annotations"),
    ...validateOwnerReferences(metadata),
    ...validateFinalizers(strings(metadata, "finalizers")),
    ...validateManagedFields(metadata),
  );
  return errors;
}

export function validateObjectMetaUpdate(object: Draft, old: Draft): readonly FieldError[] {
  const metadata = child(object, "metadata") ?? {};
  const before = child(old, "metadata") ?? {};
  const errors: FieldError[] = [];
  if (before["deletionTimestamp"] !== undefined) errors.push(...newFinalizerErrors(metadata, before));
  if (text(metadata, "resourceVersion") === "") {
    errors.push(
      invalid("metadata.resourceVersion", text(metadata, "resourceVersion"), "must be specified for an update"),
    );
  }
  const generation = numeral(metadata, "generation") ?? 0;
  if (generation < (numeral(before, "generation") ?? 0)) {
    errors.push(invalid("metadata.generation", generation, "must not be decremented"));
  }
  for (const [field, empty] of fixedFields) {
    if ((metadata[field] ?? empty) !== (before[field] ?? empty)) {
      errors.push(invalid(`metadata.${field}`, metadata[field] ?? empty, immutableMessage));
    }
  }
  errors.push(
    ...validateLabels(metadata, "labels", "metadata.labels"),
    ...validateAnnotations(metadata, "metadata.annotations"),
    ...validateOwnerReferences(metadata),
    ...validateManagedFields(metadata),
  );
  return errors;
}

/** Labels and match labels share their rules; the field names the path that errors carry. */
export function validateLabels(holder: Draft | undefined, field: string, path: string): readonly FieldError[] {
  return entries(holder, field).flatMap(([key, value]) => [
    ...labelKeyErrors(key).map((error) => invalid(path, key, error)),
    ...labelValueErrors(String(value)).map((error) => invalid(path, value, error)),
  ]);
}

export function validateAnnotations(metadata: Draft | undefined, path: string): readonly FieldError[] {
  const annotations = entries(metadata, "annotations");
  const errors = annotations.flatMap(([key]) =>
    labelKeyErrors(key.toLowerCase()).map((error) => invalid(path, key, error)),
  );
  const size = annotations.reduce((sum, [key, value]) => sum + utf8Length(key) + utf8Length(String(value)), 0);
  return size > annotationsLimitBytes ? [...errors, tooLong(path, annotationsLimitBytes)] : errors;
}

export const immutableMessage = "field is immutable";

const fixedFields: readonly (readonly [string, unknown])[] = [
  ["name", ""],
  ["namespace", ""],
  ["uid", ""],
  ["creationTimestamp", null],
  ["deletionTimestamp", null],
  ["deletionGracePeriodSeconds", null],
];

function namespaceErrors(namespace: string, namespaced: boolean): readonly FieldError[] {
  if (!namespaced) return namespace === "" ? [] : [forbidden("metadata.namespace", "not allowed on this type")];
  if (namespace === "") return [required("metadata.namespace")];
  return dns1123LabelErrors(namespace).map((error) => invalid("metadata.namespace", namespace, error));
}

function validateOwnerReferences(metadata: Draft): readonly FieldError[] {
  const path = "metadata.ownerReferences";
  const owners = items(metadata, "ownerReferences");
  const errors: FieldError[] = [];
  let controller = "";
  for (const owner of owners) {
    const apiVersion = text(owner, "apiVersion");
    const kind = text(owner, "kind");
    const version = apiVersion.split("/").length > 2 ? "" : (apiVersion.split("/").at(-1) ?? "");
    if (version === "") errors.push(invalid(`${path}.apiVersion`, apiVersion, "version must not be empty"));
    if (kind === "") errors.push(invalid(`${path}.kind`, kind, "must not be empty"));
    if (text(owner, "name") === "") errors.push(invalid(`${path}.name`, "", "must not be empty"));
    if (text(owner, "uid") === "") errors.push(invalid(`${path}.uid`, "", "must not be empty"));
    if (apiVersion === "v1" && kind === "Event") {
      errors.push(invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (owner["controller"] !== true) continue;
    const current = `${kind}/${text(owner, "name")}`;
    if (controller === "") controller = current;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`;
      errors.push({ type: "Invalid", field: path, detail: `${JSON.stringify(owners)}: ${detail}` });
    }
  }
  return errors;
}

function validateFinalizers(finalizers: readonly string[]): readonly FieldError[] {
  const path = "metadata.finalizers";
  const errors = finalizers.flatMap((finalizer) =>
    labelKeyErrors(finalizer).map((error) => invalid(path, finalizer, error)),
  );
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.push(invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return errors;
}

function newFinalizerErrors(metadata: Draft, before: Draft): readonly FieldError[] {
  const known = new Set(strings(before, "finalizers"));
  const added = strings(metadata, "finalizers").filter((finalizer) => !known.has(finalizer));
  if (added.length === 0) return [];
  const list = `[]string{${[...new Set(added)].sort().map(goQuote).join(", ")}}`;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [forbidden("metadata.finalizers", detail)];
}

function validateManagedFields(metadata: Draft): readonly FieldError[] {
  return items(metadata, "managedFields").flatMap((entry, index) => {
    const path = `metadata.managedFields[${index}]`;
    const operation = text(entry, "operation");
    const fieldsType = text(entry, "fieldsType");
    const errors: FieldError[] = [];
    if (operation !== "Apply" && operation !== "Update") {
      errors.push(invalid(`${path}.operation`, operation, "must be `Apply` or `Update`"));
    }
    if (fieldsType !== "" && fieldsType !== "FieldsV1") {
      errors.push(invalid(`${path}.fieldsType`, fieldsType, "must be `FieldsV1`"));
    }
    if (utf8Length(text(entry, "manager")) > 128) errors.push(tooLong(`${path}.manager`, 128));
    if (utf8Length(text(entry, "subresource")) > 256) errors.push(tooLong(`${path}.subresource`, 256));
    return errors;
  });
}

import { type FieldError, invalid, tooLong } from "./field-error.ts";
import { utf8Length } from "./go-text.ts";
import { dns1123LabelErrors, labelKeyErrors, labelValueErrors } from "./names.ts";
import type { OwnerReference } from "./object.ts";
import { validateOwnerReferences } from "./owner-reference.ts";

/** The rules for metadata that hold whatever the kind; the name only has to fit into a URL. */
export function validateMetadata(metadata: Readonly<Record<string, unknown>>, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ["generateName", "name"]) {
    const name = metadata[field];
    if (typeof name === "string") {
      errors.push(
        ...pathSegmentErrors(name, field === "generateName").map((e) => invalid(`${path}.${field}`, name, e)),
      );
    }
  }
  const { namespace, ownerReferences, finalizers } = metadata;
  if (typeof namespace === "string" && namespace !== "") {
    errors.push(...dns1123LabelErrors(namespace).map((error) => invalid(`${path}.namespace`, namespace, error)));
  }
  for (const [key, value] of entriesOf(metadata["labels"])) {
    errors.push(...labelKeyErrors(key).map((error) => invalid(`${path}.labels`, key, error)));
    errors.push(...labelValueErrors(String(value)).map((error) => invalid(`${path}.labels`, value, error)));
  }
  errors.push(...annotationErrors(entriesOf(metadata["annotations"]), `${path}.annotations`));
  if (Array.isArray(ownerReferences)) {
    const references = ownerReferences.filter((reference) => typeof reference === "object" && reference !== null);
    errors.push(...validateOwnerReferences(references as readonly OwnerReference[], `${path}.ownerReferences`));
  }
  for (const finalizer of Array.isArray(finalizers) ? finalizers.map(String) : []) {
    errors.push(...labelKeyErrors(finalizer).map((error) => invalid(`${path}.finalizers`, finalizer, error)));
  }
  return errors;
}

export const annotationsMaxBytes = 256 * 1024;

function annotationErrors(annotations: readonly (readonly [string, unknown])[], path: string): readonly FieldError[] {
  const errors = annotations.flatMap(([key]) =>
    labelKeyErrors(key.toLowerCase()).map((error) => invalid(path, key, error)),
  );
  const size = annotations.reduce((sum, [key, value]) => sum + utf8Length(key) + utf8Length(String(value)), 0);
  return size > annotationsMaxBytes ? [...errors, tooLong(path, annotationsMaxBytes)] : errors;
}

function pathSegmentErrors(name: string, isPrefix: boolean): readonly string[] {
  if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  return ["/", "%"].filter((sign) => name.includes(sign)).map((sign) => `may not contain '${sign}'`);
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];

import { deepEqual } from "../../../kube/equality.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../../../kube/field-error.ts";
import { child, type Draft, entries, strings, text } from "../draft.ts";
import { jsonDiff } from "../go-diff.ts";
import { read } from "./quantities.ts";
import { checkOneOf, checkSubdomain, type Errors, unsupportedText } from "./rules.ts";
import { checkHostPath } from "./volumes.ts";

export const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

export function checkAccessModes(modes: readonly string[], path: string): Errors {
  const errors: FieldError[] = modes
    .filter((mode) => !accessModes.includes(mode))
    .map((mode) => notSupported(path, mode, accessModes));
  if (modes.includes("ReadWriteOncePod") && modes.length > 1) {
    errors.push(forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

/** A volume of the cluster: what it can hold, who may mount it how, and exactly one place where it is. */
export function validatePersistentVolume(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const modes = strings(spec, "accessModes");
  const errors: FieldError[] = [];
  if (modes.length === 0) errors.push(required("spec.accessModes"));
  errors.push(...checkAccessModes(modes, "spec.accessModes"), ...capacityErrors(spec));
  const reclaim = text(spec, "persistentVolumeReclaimPolicy");
  errors.push(...checkOneOf(reclaim, "spec.persistentVolumeReclaimPolicy", ["Delete", "Recycle", "Retain"]));
  errors.push(...sourceErrors(spec));
  if (text(child(spec, "hostPath"), "path") === "/" && reclaim === "Recycle") {
    const detail = "may not be 'recycle' for a hostPath mount of '/'";
    errors.push(forbidden("spec.persistentVolumeReclaimPolicy", detail));
  }
  const storageClass = text(spec, "storageClassName");
  if (storageClass !== "") errors.push(...checkSubdomain(storageClass, "spec.storageClassName"));
  return [...errors, ...checkOneOf(text(spec, "volumeMode"), "spec.volumeMode", ["Block", "Filesystem"])];
}

export function validatePersistentVolumeUpdate(object: Draft, old: Draft): Errors {
  const [now, before] = [child(object, "spec") ?? {}, child(old, "spec") ?? {}];
  const errors: FieldError[] = [];
  if (!deepEqual(sourcesOf(now), sourcesOf(before))) {
    const detail = "spec.persistentvolumesource is immutable after creation";
    errors.push(forbidden("spec.persistentvolumesource", `${detail}\n${jsonDiff(sourcesOf(before), sourcesOf(now))}`));
  }
  if (text(now, "volumeMode") !== text(before, "volumeMode")) {
    errors.push(invalid("volumeMode", text(now, "volumeMode"), "field is immutable"));
  }
  return errors;
}

function capacityErrors(spec: Draft): Errors {
  const capacity = entries(spec, "capacity");
  const errors: FieldError[] = capacity.length === 0 ? [required("spec.capacity")] : [];
  const storage = child(spec, "capacity")?.["storage"];
  if (storage === undefined || capacity.length > 1) {
    const shown = capacity.length === 0 ? "null" : JSON.stringify(Object.fromEntries(capacity));
    errors.push(unsupportedText("spec.capacity", shown, ["storage"]));
  }
  for (const [name, quantity] of capacity) {
    const { nanos } = read(quantity);
    const field = `spec.capacity[${name}]`;
    if (nanos < 0n)
      errors.push({ type: "Invalid", field, detail: `${String(quantity)}: must be a valid resource quantity` });
    if (nanos <= 0n) errors.push(invalid(field, quantity, "must be greater than zero"));
  }
  return errors;
}

/** All that a volume's spec says besides where the volume is. */
const otherFields: ReadonlySet<string> = new Set([
  ...["accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy"],
  ...["storageClassName", "volumeAttributesClassName", "volumeMode"],
]);

const sourcesOf = (spec: Draft): Draft =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => !otherFields.has(field)));

function sourceErrors(spec: Draft): Errors {
  const [first, ...others] = Object.keys(sourcesOf(spec)).sort((a, b) => rank(a) - rank(b));
  if (first === undefined) return [required("spec", "must specify a volume type")];
  const errors: FieldError[] = others.map((field) =>
    forbidden(`spec.${field}`, "may not specify more than 1 volume type"),
  );
  const source = child(spec, first) ?? {};
  if (first === "hostPath") errors.push(...checkHostPath(source, "spec.hostPath"));
  for (const field of neededFields[first] ?? []) {
    if (text(source, field) === "") errors.push(required(`spec.${first}.${field}`));
  }
  if (first === "nfs" && !text(source, "path").startsWith("/")) {
    errors.push(invalid("spec.nfs.path", text(source, "path"), "must be an absolute path"));
  }
  if (first === "local" && child(spec, "nodeAffinity") === undefined) {
    errors.push(required("spec.nodeAffinity", "Local volume requires node affinity"));
  }
  return errors;
}

/** The order in which the real server looks at them, which decides which of two is one too many. */
const sourceOrder = ["hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs"];
const rank = (field: string): number => (sourceOrder.includes(field) ? sourceOrder.indexOf(field) : sourceOrder.length);

const neededFields: Readonly<Record<string, readonly string[]>> = {
  nfs: ["server", "path"],
  local: ["path"],
  csi: ["driver", "volumeHandle"],
};

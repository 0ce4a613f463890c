import { deepEqual } from "../../../kube/equality.ts";
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from "../../../kube/field-error.ts";
import { labelKeyErrors } from "../../../kube/names.ts";
import { child, type Draft, entries, items, strings, text } from "../draft.ts";
import { jsonDiff } from "../go-diff.ts";
import { immutableMessage, validateLabels } from "../object-meta.ts";
import { checkNetwork } from "./addresses.ts";
import { checkAccessModes } from "./persistent-volume.ts";
import { read } from "./quantities.ts";
import { checkOneOf, checkQualifiedName, checkSubdomain, configKeyErrors, type Errors } from "./rules.ts";

/** Namespace, ConfigMap, Secret, Node and PersistentVolumeClaim. */

const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

export function validateNamespace(object: Draft): Errors {
  return [
    ...strings(child(object, "spec"), "finalizers").flatMap((name) => finalizerErrors(name, "spec.finalizers")),
    ...podSecurityErrors(child(child(object, "metadata"), "labels")),
  ];
}

const podSecurityLevels = ["privileged", "baseline", "restricted"];

function podSecurityErrors(labels: Draft | undefined): Errors {
  return ["enforce", "audit", "warn"].flatMap((mode) => {
    const label = `pod-security.kubernetes.io/${mode}`;
    const level = labels?.[label];
    if (level === undefined || podSecurityLevels.includes(String(level))) return [];
    return [invalid(`metadata.labels[${label}]`, level, `must be one of ${podSecurityLevels.join(", ")}`)];
  });
}

/** Core kinds want finalizers that say whose they are. */
export function validateCoreFinalizers(object: Draft): Errors {
  return strings(child(object, "metadata"), "finalizers").flatMap((name, index) => {
    if (name.includes("/") || standardFinalizers.has(name)) return [];
    const detail = "name is neither a standard finalizer name nor is it fully qualified";
    return [invalid(`metadata.finalizers[${index}]`, name, detail)];
  });
}

function finalizerErrors(name: string, path: string): Errors {
  const wrong = labelKeyErrors(name);
  if (wrong.length > 0) return wrong.map((error) => invalid(path, name, error));
  if (name.includes("/") || standardFinalizers.has(name)) return [];
  return [invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")];
}

const dataLimitBytes = 1024 * 1024;

export function validateConfigMap(object: Draft): Errors {
  const data = entries(object, "data");
  const binary = entries(object, "binaryData");
  const errors: FieldError[] = [];
  for (const [key] of data) {
    errors.push(...configKeyErrors(key).map((error) => invalid(`data[${key}]`, key, error)));
    if (binary.some(([other]) => other === key)) {
      errors.push(invalid(`data[${key}]`, key, "duplicate of key present in binaryData"));
    }
  }
  for (const [key] of binary)
    errors.push(...configKeyErrors(key).map((error) => invalid(`binaryData[${key}]`, key, error)));
  const size = data.reduce((sum, [, value]) => sum + Buffer.byteLength(String(value)), 0) + decodedSize(binary);
  // The real server has no name for the whole object.
  return size > dataLimitBytes ? [...errors, tooLong("[]", dataLimitBytes)] : errors;
}

const decodedSize = (values: readonly (readonly [string, unknown])[]): number =>
  values.reduce((sum, [, value]) => sum + Buffer.byteLength(String(value), "base64"), 0);

/** What was declared to stay as it is. */
export function validateImmutableData(object: Draft, old: Draft): Errors {
  if (old["immutable"] !== true) return [];
  const errors: FieldError[] = [];
  if (object["immutable"] !== true) errors.push(forbidden("immutable", "field is immutable when `immutable` is set"));
  for (const field of ["data", "binaryData"]) {
    if (!deepEqual(object[field], old[field]))
      errors.push(forbidden(field, "field is immutable when `immutable` is set"));
  }
  return errors;
}

export function validateSecret(object: Draft): Errors {
  const data = entries(object, "data");
  const errors: FieldError[] = data.flatMap(([key]) =>
    configKeyErrors(key).map((error) => invalid(`data[${key}]`, key, error)),
  );
  if (decodedSize(data) > dataLimitBytes) errors.push(tooLong("data", dataLimitBytes));
  return [...errors, ...secretTypeErrors(object)];
}

function secretTypeErrors(object: Draft): Errors {
  const data = child(object, "data") ?? {};
  const need = (...keys: readonly string[]): Errors =>
    keys.filter((key) => data[key] === undefined).map((key) => required(`data[${key}]`));
  switch (text(object, "type")) {
    case "kubernetes.io/service-account-token": {
      const key = "kubernetes.io/service-account.name";
      const name = text(child(child(object, "metadata"), "annotations"), key);
      return name === "" ? [required(`metadata.annotations[${key}]`)] : [];
    }
    case "kubernetes.io/dockercfg":
      return jsonErrors(data, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return jsonErrors(data, ".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      return data["username"] === undefined && data["password"] === undefined ? need("username", "password") : [];
    case "kubernetes.io/ssh-auth":
      return text(data, "ssh-privatekey") === "" ? [required("data[ssh-privatekey]")] : [];
    case "kubernetes.io/tls":
      return need("tls.crt", "tls.key");
    default:
      return [];
  }
}

function jsonErrors(data: Draft, key: string): Errors {
  if (data[key] === undefined) return [required(`data[${key}]`)];
  const problem = goJsonProblem(Buffer.from(String(data[key]), "base64").toString("utf8"));
  return problem === undefined ? [] : [invalid(`data[${key}]`, "<secret contents redacted>", problem)];
}

/** What Go's reader says to text that is no JSON, for the beginnings that people get wrong. */
function goJsonProblem(body: string): string | undefined {
  try {
    JSON.parse(body);
    return undefined;
  } catch {
    if (body.trim() === "") return "unexpected end of JSON input";
    const start = body.trimStart();
    for (const word of ["null", "true", "false"]) {
      if (start[0] !== word[0]) continue;
      const at = [...word].findIndex((letter, index) => start[index] !== letter);
      const found = start[at];
      return found === undefined
        ? "unexpected end of JSON input"
        : `invalid character '${found}' in literal ${word} (expecting '${word[at]}')`;
    }
    return `invalid character '${start[0]}' looking for beginning of value`;
  }
}

export function validateSecretUpdate(object: Draft, old: Draft): Errors {
  const errors: FieldError[] = [];
  if (object["type"] !== old["type"]) errors.push(invalid("type", object["type"], immutableMessage));
  return [...errors, ...validateImmutableData(object, old), ...validateSecret(object)];
}

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function validateNode(object: Draft): Errors {
  const spec = child(object, "spec");
  const seen = new Set<string>();
  const errors: FieldError[] = items(spec, "taints").flatMap((taint, index) => {
    const path = `metadata.taints[${index}]`;
    const [key, effect] = [text(taint, "key"), text(taint, "effect")];
    const found: FieldError[] = [...checkQualifiedName(key, `${path}.key`)];
    if (effect === "") found.push(required(`${path}.effect`));
    else if (!taintEffects.includes(effect)) found.push(notSupported(`${path}.effect`, effect, taintEffects));
    if (seen.has(`${key}:${effect}`)) found.push(repeatedTaint(taint, path));
    seen.add(`${key}:${effect}`);
    return found;
  });
  const networks = strings(spec, "podCIDRs");
  return [...errors, ...networks.flatMap((network, index) => checkNetwork(network, `spec.podCIDRs[${index}]`))];
}

function repeatedTaint(taint: Draft, path: string): FieldError {
  const shown = JSON.stringify({
    Key: text(taint, "key"),
    Value: text(taint, "value"),
    Effect: text(taint, "effect"),
    TimeAdded: taint["timeAdded"] ?? null,
  });
  return { type: "Duplicate", field: path, detail: `${shown}: taints must be unique by key and effect pair` };
}

export function validateClaim(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const modes = strings(spec, "accessModes");
  const errors: FieldError[] = [];
  if (modes.length === 0) errors.push(required("spec.accessModes", "at least 1 access mode is required"));
  errors.push(...validateLabels(child(spec, "selector"), "matchLabels", "spec.selector.matchLabels"));
  errors.push(...checkAccessModes(modes, "spec.accessModes"));
  const storage = child(child(spec, "resources"), "requests")?.["storage"];
  if (storage === undefined) errors.push(required("spec.resources[storage]"));
  else if (read(storage).nanos <= 0n)
    errors.push(invalid("spec.resources[storage]", storage, "must be greater than zero"));
  const storageClass = text(spec, "storageClassName");
  if (storageClass !== "") errors.push(...checkSubdomain(storageClass, "spec.storageClassName"));
  return [...errors, ...checkOneOf(text(spec, "volumeMode"), "spec.volumeMode", ["Block", "Filesystem"])];
}

export function validateClaimUpdate(object: Draft, old: Draft): Errors {
  const before = child(old, "spec") ?? {};
  const now = { ...child(object, "spec") };
  // A claim is bound by filling in the name of its volume, and may grow once it is bound.
  if (text(before, "volumeName") === "") restore(now, before, "volumeName");
  if (text(child(old, "status"), "phase") === "Bound") {
    restore(now, before, "resources");
    restore(now, before, "volumeAttributesClassName");
  }
  if (deepEqual(now, before)) return [];
  const detail =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
  return [forbidden("spec", `${detail}\n${jsonDiff(goClaim(before), goClaim(now))}`)];
}

function restore(draft: Draft, before: Draft, field: string): void {
  if (before[field] === undefined) delete draft[field];
  else draft[field] = before[field];
}

/** The message shows the server's inner form. */
const goClaim = (spec: Draft): Draft => ({
  AccessModes: spec["accessModes"] ?? null,
  Selector: spec["selector"] ?? null,
  Resources: {
    Limits: child(spec, "resources")?.["limits"] ?? null,
    Requests: child(spec, "resources")?.["requests"] ?? null,
  },
  VolumeName: text(spec, "volumeName"),
  StorageClassName: spec["storageClassName"] ?? null,
  VolumeMode: spec["volumeMode"] ?? null,
  DataSource: spec["dataSource"] ?? null,
  DataSourceRef: spec["dataSourceRef"] ?? null,
  VolumeAttributesClassName: spec["volumeAttributesClassName"] ?? null,
});

import { type FieldError, invalid, notSupported, required } from "../../../kube/field-error.ts";
import { child, type Draft, items, text } from "../draft.ts";
import { checkSubdomain, configKeyErrors, type Errors } from "./rules.ts";

/** Environment variables, and where their values come from. */
export function validateEnvironment(container: Draft, path: string): Errors {
  return [
    ...items(container, "env").flatMap((variable, index) => variableErrors(variable, `${path}.env[${index}]`)),
    ...items(container, "envFrom").flatMap((source, index) => sourceErrors(source, `${path}.envFrom`, index)),
  ];
}

const nameMessage = "a valid environment variable name must consist only of printable ASCII characters other than '='";

const nameErrors = (name: string, path: string): Errors =>
  /^[ -<>-~]+$/.test(name) ? [] : [invalid(path, name, nameMessage)];

function variableErrors(variable: Draft, path: string): Errors {
  const name = text(variable, "name");
  return [
    ...(name === "" ? [required(`${path}.name`)] : nameErrors(name, `${path}.name`)),
    ...valueFromErrors(variable, `${path}.valueFrom`),
  ];
}

const sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"] as const;

function valueFromErrors(variable: Draft, path: string): Errors {
  const from = child(variable, "valueFrom");
  if (!from) return [];
  const present = sources.filter((source) => child(from, source));
  const errors: FieldError[] = present.flatMap((source) => [
    ...referenceErrors(source, child(from, source) ?? {}, `${path}.${source}`),
  ]);
  if (present.length === 0) {
    const choices = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    errors.push(invalid(path, "", `must specify one of: ${choices}`));
  } else if (text(variable, "value") !== "")
    errors.push(invalid(path, "", "may not be specified when `value` is not empty"));
  else if (present.length > 1) errors.push(invalid(path, "", "may not have more than one field specified at a time"));
  return errors;
}

function referenceErrors(source: (typeof sources)[number], reference: Draft, path: string): Errors {
  switch (source) {
    case "fieldRef":
      return validateFieldReference(reference, path, environmentFields);
    case "resourceFieldRef":
      return resourceErrors(reference, path);
    case "fileKeyRef":
      return text(reference, "key") === "" ? [required(`${path}.key`)] : [];
    default:
      return keyErrors(reference, path);
  }
}

function keyErrors(reference: Draft, path: string): Errors {
  const key = text(reference, "key");
  return [
    ...checkSubdomain(text(reference, "name"), `${path}.name`),
    ...(key === ""
      ? [required(`${path}.key`)]
      : configKeyErrors(key).map((error) => invalid(`${path}.key`, key, error))),
  ];
}

const environmentFields = [
  ...["metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"],
  ...["status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"],
];
export const volumeFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.labels",
  "metadata.annotations",
  "metadata.uid",
];
const knownFields = new Set([
  ...environmentFields,
  ...volumeFields,
  "status.phase",
  "spec.restartPolicy",
  "spec.schedulerName",
]);

export function validateFieldReference(reference: Draft, path: string, supported: readonly string[]): Errors {
  const fieldPath = text(reference, "fieldPath");
  if (text(reference, "apiVersion") === "") return [required(`${path}.apiVersion`)];
  if (fieldPath === "") return [required(`${path}.fieldPath`)];
  const subscripted = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(fieldPath);
  if (subscripted) return [];
  if (!knownFields.has(fieldPath)) {
    const detail = `error converting fieldPath: field label not supported: ${fieldPath}`;
    return [invalid(`${path}.fieldPath`, fieldPath, detail)];
  }
  return supported.includes(fieldPath) ? [] : [notSupported(`${path}.fieldPath`, fieldPath, supported.toSorted())];
}

const resourceFields = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

function resourceErrors(reference: Draft, path: string): Errors {
  const resource = text(reference, "resource");
  if (resource === "") return [required(`${path}.resource`)];
  const isKnown = resourceFields.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource);
  return isKnown ? [] : [notSupported(`${path}.resource`, resource, resourceFields)];
}

function sourceErrors(source: Draft, path: string, index: number): Errors {
  const at = `${path}[${index}]`;
  const prefix = text(source, "prefix");
  const present = ["configMapRef", "secretRef"].filter((field) => child(source, field));
  const errors: FieldError[] = prefix === "" ? [] : [...nameErrors(prefix, `${at}.prefix`)];
  for (const field of present) {
    const name = text(child(source, field), "name");
    errors.push(...(name === "" ? [required(`${at}.${field}.name`)] : checkSubdomain(name, `${at}.${field}.name`)));
  }
  // The real server names the list here, not the item.
  if (present.length === 0) errors.push(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"));
  if (present.length > 1) errors.push(invalid(path, "", "may not have more than one field specified at a time"));
  return errors;
}

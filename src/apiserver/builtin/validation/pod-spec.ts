import { type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { child, type Draft, items, numeral, strings, text } from "../draft.ts";
import { validateLabels } from "../object-meta.ts";
import { checkAddress } from "./addresses.ts";
import { validateContainers, validateInitContainers } from "./containers.ts";
import {
  checkLabel,
  checkOneOf,
  checkQualifiedName,
  checkRequiredOneOf,
  checkSubdomain,
  type Errors,
} from "./rules.ts";
import { validateAffinity, validateSpread, validateTolerations } from "./scheduling.ts";
import { validatePodSecurity } from "./security.ts";
import { validateVolumes } from "./volumes.ts";

/** What a pod's spec must satisfy, in a pod and in a template. */

const maxInt32 = 2 ** 31 - 1;

export function validatePodSpec(spec: Draft, path: string): Errors {
  const volumes = items(spec, "volumes");
  const volumeNames = new Set(volumes.map((volume) => text(volume, "name")));
  const at = (field: string): string => `${path}.${field}`;
  return [
    ...validateVolumes(volumes, at("volumes")),
    ...validateContainers(spec, volumeNames, at("containers")),
    ...validateInitContainers(spec, volumeNames, at("initContainers")),
    ...hostNetworkErrors(spec, path),
    ...checkRequiredOneOf(text(spec, "restartPolicy"), at("restartPolicy"), ["Always", "OnFailure", "Never"]),
    ...checkRequiredOneOf(text(spec, "dnsPolicy"), at("dnsPolicy"), dnsPolicies),
    ...validateLabels(spec, "nodeSelector", at("nodeSelector")),
    ...processErrors(spec, at("securityContext.shareProcessNamespace")),
    ...validatePodSecurity(child(spec, "securityContext"), at("securityContext")),
    ...validateAffinity(child(spec, "affinity"), at("affinity")),
    ...dnsConfigErrors(spec, at("dnsConfig")),
    ...items(spec, "readinessGates").flatMap((gate, index) =>
      checkQualifiedName(text(gate, "conditionType"), `${at("readinessGates")}[${index}].conditionType`),
    ),
    ...gateErrors(spec, at("schedulingGates")),
    ...validateSpread(items(spec, "topologySpreadConstraints"), at("topologySpreadConstraints")),
    ...nameErrors(spec, at),
    ...deadlineErrors(spec, at("activeDeadlineSeconds")),
    ...optional(spec, "hostname", at, checkLabel),
    ...optional(spec, "subdomain", at, checkLabel),
    ...validateTolerations(items(spec, "tolerations"), at("tolerations")),
    ...hostAliasErrors(spec, at("hostAliases")),
    ...optional(spec, "priorityClassName", at, checkSubdomain),
    ...optional(spec, "runtimeClassName", at, checkSubdomain),
    ...checkOneOf(text(spec, "preemptionPolicy"), at("preemptionPolicy"), ["PreemptLowerPriority", "Never"]),
    ...(child(spec, "os") ? checkRequiredOneOf(text(child(spec, "os"), "name"), at("os"), ["linux", "windows"]) : []),
  ];
}

const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

type At = (field: string) => string;

const optional = (spec: Draft, field: string, at: At, check: (value: string, path: string) => Errors): Errors => {
  const value = text(spec, field);
  return value === "" ? [] : check(value, at(field));
};

function nameErrors(spec: Draft, at: At): Errors {
  return [
    ...optional(spec, "serviceAccountName", at, checkSubdomain),
    ...optional(spec, "nodeName", at, checkSubdomain),
  ];
}

function hostNetworkErrors(spec: Draft, path: string): Errors {
  if (spec["hostNetwork"] !== true) return [];
  return ["containers", "initContainers"].flatMap((list) =>
    items(spec, list).flatMap((container, index) =>
      items(container, "ports").flatMap((port, position) => {
        if (port["hostPort"] === undefined || port["hostPort"] === port["containerPort"]) return [];
        const field = `${path}.${list}[${index}].ports[${position}].hostPort`;
        return [invalid(field, port["hostPort"], "must match `containerPort` when `hostNetwork` is true")];
      }),
    ),
  );
}

function processErrors(spec: Draft, path: string): Errors {
  if (spec["shareProcessNamespace"] !== true || spec["hostPID"] !== true) return [];
  return [invalid(path, true, "ShareProcessNamespace and HostPID cannot both be enabled")];
}

function dnsConfigErrors(spec: Draft, path: string): Errors {
  const config = child(spec, "dnsConfig");
  const isNone = text(spec, "dnsPolicy") === "None";
  if (!config) return isNone ? [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")] : [];
  const servers = strings(config, "nameservers");
  const errors: FieldError[] = [];
  if (isNone && servers.length === 0) {
    errors.push(required(`${path}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None"));
  }
  if (servers.length > 3) errors.push(invalid(`${path}.nameservers`, servers, "must not have more than 3 nameservers"));
  errors.push(...servers.flatMap((server, index) => checkAddress(server, `${path}.nameservers[${index}]`)));
  errors.push(
    ...strings(config, "searches").flatMap((search, index) => searchErrors(search, `${path}.searches[${index}]`)),
  );
  errors.push(
    ...items(config, "options").flatMap((option, index) =>
      text(option, "name") === "" ? [required(`${path}.options[${index}]`, "must not be empty")] : [],
    ),
  );
  return errors;
}

const searchPattern = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";

/** Search domains may also have underscores, and end with a dot. */
function searchErrors(search: string, path: string): Errors {
  const labels = search.replace(/\.$/, "").split(".");
  if (search.length <= 253 && labels.every((label) => /^_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/.test(label))) return [];
  const detail = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${searchPattern}')`;
  return [invalid(path, search, detail)];
}

function gateErrors(spec: Draft, path: string): Errors {
  const seen = new Set<string>();
  return items(spec, "schedulingGates").flatMap((gate, index) => {
    const name = text(gate, "name");
    const errors: FieldError[] = [...checkQualifiedName(name, `${path}[${index}]`)];
    if (seen.has(name)) errors.push({ type: "Duplicate", field: `${path}[${index}]`, value: name, detail: "" });
    seen.add(name);
    return errors;
  });
}

function deadlineErrors(spec: Draft, path: string): Errors {
  const value = numeral(spec, "activeDeadlineSeconds");
  if (value === undefined || (value >= 1 && value <= maxInt32)) return [];
  return [invalid(path, value, `must be between 1 and ${maxInt32}, inclusive`)];
}

function hostAliasErrors(spec: Draft, path: string): Errors {
  return items(spec, "hostAliases").flatMap((alias, index) => [
    ...checkAddress(text(alias, "ip"), `${path}[${index}].ip`),
    ...strings(alias, "hostnames").flatMap((name, position) =>
      checkSubdomain(name, `${path}[${index}].hostnames[${position}]`),
    ),
  ]);
}

/** For pods themselves, not for templates. */
export function validateNewPod(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const errors: FieldError[] = [...validatePodSpec(spec, "spec")];
  for (const container of ["containers", "initContainers"]) {
    for (const [index, { image }] of items(spec, container).entries()) {
      if (typeof image === "string" && image !== image.trim()) {
        errors.push(
          invalid(`spec.${container}[${index}].image`, image, "must not have leading or trailing whitespace"),
        );
      }
    }
  }
  if (items(spec, "ephemeralContainers").length > 0) {
    errors.push(forbidden("spec.ephemeralContainers", "cannot be set on create"));
  }
  if (items(spec, "schedulingGates").length > 0 && text(spec, "nodeName") !== "") {
    errors.push(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  return errors;
}

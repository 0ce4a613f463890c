import { X509Certificate } from "node:crypto";
import { dns1123LabelErrors } from "../../kube/names.ts";
import { compareQuantities } from "../../kube/quantity.ts";
import { child, type Draft, entries, items, numeral, strings, text } from "./draft.ts";
import { read } from "./validation/quantities.ts";

/** What a writer should know about an object that is accepted all the same. */

type Warnings = readonly string[];

const nameOf = (object: Draft): string => text(child(object, "metadata"), "name");

/** A name with dots works, but not as the name of a host. */
function hostnameWarnings(object: Draft, use: string): Warnings {
  const wrong = dns1123LabelErrors(nameOf(object));
  if (wrong.length === 0) return [];
  const detail = `which can result in surprising behavior; a DNS label is recommended: [${wrong.join(" ")}]`;
  return [`metadata.name: this is used in ${use}, ${detail}`];
}

export const podWarnings = (pod: Draft): Warnings => [
  ...hostnameWarnings(pod, "the Pod's hostname"),
  ...templateWarnings(pod, "", "metadata.annotations"),
];

/** For kinds that make pods; the path leads to the template. */
export const workloadWarnings =
  (...path: readonly string[]) =>
  (object: Draft): Warnings => {
    const template = path.reduce<Draft | undefined>(child, object);
    const prefix = path.join(".");
    return [
      ...hostnameWarnings(object, "Pod names and hostnames"),
      ...templateWarnings(template, `${prefix}.`, `${prefix}.metadata.annotations`),
    ];
  };

export const statefulSetWarnings = (object: Draft): Warnings => [
  ...templateWarnings(child(child(object, "spec"), "template"), "spec.template.", "spec.template.metadata.annotations"),
  ...((numeral(child(object, "spec"), "revisionHistoryLimit") ?? 0) < 0
    ? ["spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"]
    : []),
];

const deprecatedLabels: ReadonlyMap<string, readonly [since: string, instead: string]> = new Map([
  ["beta.kubernetes.io/arch", ["v1.14", "kubernetes.io/arch"]],
  ["beta.kubernetes.io/os", ["v1.14", "kubernetes.io/os"]],
  ["failure-domain.beta.kubernetes.io/region", ["v1.17", "topology.kubernetes.io/region"]],
  ["failure-domain.beta.kubernetes.io/zone", ["v1.17", "topology.kubernetes.io/zone"]],
  ["beta.kubernetes.io/instance-type", ["v1.17", "node.kubernetes.io/instance-type"]],
]);

const labelWarning = (key: string, field: string): Warnings => {
  const known = deprecatedLabels.get(key);
  return known ? [`${field}: deprecated since ${known[0]}; use "${known[1]}" instead`] : [];
};

function templateWarnings(template: Draft | undefined, prefix: string, annotationsPath: string): Warnings {
  const spec = child(template, "spec");
  const at = `${prefix}spec`;
  const annotations = child(child(template, "metadata"), "annotations");
  const critical = "scheduler.alpha.kubernetes.io/critical-pod";
  return [
    ...entries(spec, "nodeSelector").flatMap(([key]) => labelWarning(key, `${at}.nodeSelector[${key}]`)),
    ...items(spec, "topologySpreadConstraints").flatMap((constraint, index) => {
      const field = `${at}.topologySpreadConstraints[${index}]`;
      const isNull = !child(constraint, "labelSelector");
      return [
        ...labelWarning(text(constraint, "topologyKey"), `${field}.topologyKey`),
        ...(isNull ? [`${field}.labelSelector: a null labelSelector results in matching no pod`] : []),
      ];
    }),
    ...(annotations?.[critical] === undefined
      ? []
      : [`${annotationsPath}[${critical}]: non-functional in v1.16+; use the "priorityClassName" field instead`]),
    ...items(spec, "volumes").flatMap((volume, index) => volumeWarnings(volume, `${at}.volumes[${index}]`)),
    ...items(spec, "imagePullSecrets").flatMap((secret, index) =>
      text(secret, "name") === "" ? [`${at}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
    ...["containers", "initContainers"].flatMap((list) =>
      items(spec, list).flatMap((container, index) => containerWarnings(container, `${at}.${list}[${index}]`)),
    ),
  ];
}

function volumeWarnings(volume: Draft, path: string): Warnings {
  const sources = items(child(volume, "projected"), "sources");
  const isEmpty = sources.some((source) => Object.keys(source).length === 0);
  return [
    ...(child(volume, "gitRepo") ? [`${path}.gitRepo: deprecated in v1.11, and disabled by default in v1.33+`] : []),
    ...(isEmpty ? [`volume ${JSON.stringify(text(volume, "name"))} (Projected) has no sources provided`] : []),
  ];
}

function containerWarnings(container: Draft, path: string): Warnings {
  const resources = child(container, "resources");
  return [
    ...repeatedVariables(items(container, "env"), `${path}.env`),
    ...["limits", "requests"].flatMap((field) =>
      ["memory", "ephemeral-storage"].flatMap((name) =>
        fractionWarning(child(resources, field)?.[name], `${path}.resources.${field}[${name}]`),
      ),
    ),
    ...repeatedPorts(items(container, "ports"), `${path}.ports`),
  ];
}

function fractionWarning(value: unknown, field: string): Warnings {
  if (value === undefined || read(value).nanos % 1_000_000_000n === 0n) return [];
  return [`${field}: fractional byte value ${JSON.stringify(value)} is invalid, must be an integer`];
}

function repeatedVariables(variables: readonly Draft[], path: string): Warnings {
  const values = new Map<string, string>();
  return variables.flatMap((variable, index) => {
    const name = text(variable, "name");
    const before = values.get(name);
    values.set(name, text(variable, "value"));
    // A value that builds on the one before is meant.
    if (before === undefined || text(variable, "value").includes(`$(${name})`)) return [];
    return [
      `${path}[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
    ];
  });
}

function repeatedPorts(ports: readonly Draft[], path: string): Warnings {
  const key = (port: Draft): string =>
    [port["containerPort"], port["protocol"], port["hostPort"], port["hostIP"]].join("/");
  return ports.flatMap((port, index) => {
    const first = ports.findIndex((other) => key(other) === key(port));
    return first < index ? [`${path}[${index}]: duplicate port definition with ${path}[${first}]`] : [];
  });
}

export function serviceWarnings(object: Draft): Warnings {
  const spec = child(object, "spec");
  const warnings: string[] = [];
  const isHeadless = text(spec, "clusterIP") === "None";
  if (isHeadless && text(spec, "loadBalancerIP") !== "")
    warnings.push("spec.loadBalancerIP is ignored for headless services");
  if (isHeadless && strings(spec, "externalIPs").length > 0)
    warnings.push("spec.externalIPs is ignored for headless services");
  if (isHeadless && text(spec, "sessionAffinity") !== "None")
    warnings.push("spec.SessionAffinity is ignored for headless services");
  if (text(spec, "type") !== "ExternalName" && text(spec, "externalName") !== "") {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (!isHeadless && strings(spec, "externalIPs").length > 0) {
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  return warnings;
}

export const endpointsDeprecation = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

export function claimWarnings(object: Draft): Warnings {
  const annotation = "volume.beta.kubernetes.io/storage-class";
  const isAnnotated = child(child(object, "metadata"), "annotations")?.[annotation] !== undefined;
  return [
    ...(isAnnotated
      ? [`metadata.annotations[${annotation}]: deprecated since v1.8; use "storageClassName" attribute instead`]
      : []),
    ...fractionWarning(
      child(child(child(object, "spec"), "resources"), "requests")?.["storage"],
      "spec.resources.requests[storage]",
    ),
  ];
}

export function serviceAccountWarnings(object: Draft): Warnings {
  const annotation = "kubernetes.io/enforce-mountable-secrets";
  if (child(child(object, "metadata"), "annotations")?.[annotation] === undefined) return [];
  return [
    `metadata.annotations[${annotation}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  ];
}

export const nodeWarnings = (object: Draft): Warnings =>
  text(child(object, "spec"), "externalID") === ""
    ? []
    : ["spec.externalID: this field is deprecated, and is unused by Kubernetes"];

export function ingressWarnings(object: Draft): Warnings {
  const annotation = "kubernetes.io/ingress.class";
  if (child(child(object, "metadata"), "annotations")?.[annotation] === undefined) return [];
  return [`annotation "${annotation}" is deprecated, please use 'spec.ingressClassName' instead`];
}

export const storageClassWarnings = (object: Draft): Warnings =>
  items(object, "allowedTopologies").flatMap((topology, index) =>
    items(topology, "matchLabelExpressions").flatMap((expression, at) =>
      labelWarning(text(expression, "key"), `allowedTopologies[${index}].matchLabelExpressions[${at}].key`),
    ),
  );

/** A quota of requests that is greater than that of limits can never be used up; said when it is made. */
export function quotaWarnings(object: Draft, old?: Draft): Warnings {
  const hard = child(child(object, "spec"), "hard");
  if (old || !hard) return [];
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((name) => {
    const bare = name === "cpu" || name === "memory" ? [name] : [];
    const request = [`requests.${name}`, ...bare].find((candidate) => hard[candidate] !== undefined);
    const limit = `limits.${name}`;
    if (request === undefined || hard[limit] === undefined) return [];
    if (compareQuantities(read(hard[request]), read(hard[limit])) <= 0) return [];
    return [
      `ResourceQuota ${request} (${String(hard[request])}) should be less than ${limit} (${String(hard[limit])})`,
    ];
  });
}

/** A key pair that cannot be read helps nobody who mounts it. */
export function secretWarnings(object: Draft): Warnings {
  if (text(object, "type") !== "kubernetes.io/tls") return [];
  const certificate = Buffer.from(text(child(object, "data"), "tls.crt"), "base64").toString("latin1");
  if (!certificate.includes("-----BEGIN")) return ["tls: failed to find any PEM data in certificate input"];
  try {
    new X509Certificate(certificate);
    return [];
  } catch {
    return ["tls: failed to parse certificate"];
  }
}

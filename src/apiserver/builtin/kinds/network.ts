import type { Behaviour } from "../behaviour.ts";
import { ageColumn, column, nameColumn, wide } from "../columns.ts";
import { isDefaultIngressClass } from "../default-classes.ts";
import { child, type Draft, descend, fill, fillEmpty, items, numeral, strings, text } from "../draft.ts";
import { labelName } from "../names.ts";
import { labelsOrNone, selectorOrNone } from "../selector-text.ts";
import { carryOverAllocations, fillPluralAddress } from "../service-update.ts";
import {
  validateEndpointSlice,
  validateEndpointSliceUpdate,
  validateEndpoints,
  validateIngress,
  validateIngressClass,
  validateIngressClassUpdate,
  validateNetworkPolicy,
} from "../validation/network.ts";
import { validateService, validateServiceUpdate } from "../validation/service.ts";
import { endpointsDeprecation, ingressWarnings, serviceWarnings } from "../warnings.ts";

/** Service, Endpoints, EndpointSlice, NetworkPolicy, Ingress and IngressClass. */

export const service: Behaviour = {
  name: labelName,
  validate: validateService,
  warnings: serviceWarnings,
  validateUpdate: validateServiceUpdate,
  prepareCreate(draft) {
    fillPluralAddress(child(draft, "spec") ?? {});
  },
  prepareUpdate: carryOverAllocations,
  allowCreateOnUpdate: true,
  selectableFields: ["spec.clusterIP", "spec.type"],
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    fillEmpty(spec, "sessionAffinity", "None");
    const affinity = text(spec, "sessionAffinity");
    if (affinity === "None") delete spec["sessionAffinityConfig"];
    if (
      affinity === "ClientIP" &&
      descend(spec, "sessionAffinityConfig", "clientIP")?.["timeoutSeconds"] === undefined
    ) {
      spec["sessionAffinityConfig"] = { clientIP: { timeoutSeconds: 10800 } };
    }
    fillEmpty(spec, "type", "ClusterIP");
    const type = text(spec, "type");
    if (isExternal(spec)) fillEmpty(spec, "externalTrafficPolicy", "Cluster");
    if (type !== "ExternalName") fill(spec, "internalTrafficPolicy", "Cluster");
    if (type !== "LoadBalancer") return;
    fill(spec, "allocateLoadBalancerNodePorts", true);
    for (const ingress of items(descend(draft, "status", "loadBalancer"), "ingress")) {
      if (text(ingress, "ip") !== "") fill(ingress, "ipMode", "VIP");
    }
  },
  columns: [
    nameColumn,
    column("Type", (object) => text(child(object, "spec"), "type")),
    column("Cluster-IP", (object) => strings(child(object, "spec"), "clusterIPs")[0] ?? "<none>"),
    column("External-IP", externalIp),
    column("Port(s)", (object) => items(child(object, "spec"), "ports").map(portText).join(",") || "<none>"),
    ageColumn,
    wide("Selector", (object) => labelsOrNone(child(object, "spec"), "selector")),
  ],
};

export const isExternal = (spec: Draft): boolean => {
  const type = text(spec, "type");
  return (
    type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && strings(spec, "externalIPs").length > 0)
  );
};

function externalIp(object: Draft): string {
  const spec = child(object, "spec");
  const own = strings(spec, "externalIPs");
  switch (text(spec, "type")) {
    case "ClusterIP":
    case "NodePort":
      return own.join(",") || "<none>";
    case "LoadBalancer":
      return [...loadBalancerAddresses(object), ...own].join(",") || "<pending>";
    case "ExternalName":
      return text(spec, "externalName");
    default:
      return "<unknown>";
  }
}

function loadBalancerAddresses(object: Draft): readonly string[] {
  const found = items(descend(object, "status", "loadBalancer"), "ingress").map(
    (ingress) => text(ingress, "ip") || text(ingress, "hostname"),
  );
  return [...new Set(found.filter((address) => address !== ""))].sort();
}

function portText(port: Draft): string {
  const nodePort = numeral(port, "nodePort") ?? 0;
  return `${numeral(port, "port") ?? 0}${nodePort > 0 ? `:${nodePort}` : ""}/${text(port, "protocol")}`;
}

const shownAddresses = 3;

const shorten = (list: readonly string[], whenEmpty: string): string => {
  const shown = list.slice(0, shownAddresses).join(",");
  if (list.length > shownAddresses) return `${shown} + ${list.length - shownAddresses} more...`;
  return shown || whenEmpty;
};

export const endpoints: Behaviour = {
  validate: validateEndpoints,
  deprecation: endpointsDeprecation,
  allowCreateOnUpdate: true,
  columns: [nameColumn, column("Endpoints", endpointsText), ageColumn],
};

function endpointsText(object: Draft): string {
  const subsets = items(object, "subsets");
  if (subsets.length === 0) return "<none>";
  const all = subsets.flatMap((subset) => {
    const addresses = items(subset, "addresses").map((address) => text(address, "ip"));
    const ports = items(subset, "ports");
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) =>
      addresses.map((ip) => `${ip.includes(":") ? `[${ip}]` : ip}:${numeral(port, "port") ?? 0}`),
    );
  });
  return shorten(all, "");
}

export const endpointSlice: Behaviour = {
  validate: validateEndpointSlice,
  validateUpdate: validateEndpointSliceUpdate,
  generationPaths: ["addressType", "endpoints", "ports", "metadata.labels"],
  columns: [
    nameColumn,
    column("AddressType", (object) => text(object, "addressType")),
    column("Ports", (object) =>
      shorten(
        items(object, "ports").map((port) =>
          String(numeral(port, "port") ?? (port["name"] !== undefined ? text(port, "name") : "*")),
        ),
        "<unset>",
      ),
    ),
    column("Endpoints", (object) =>
      shorten(
        items(object, "endpoints").flatMap((endpoint) => strings(endpoint, "addresses")),
        "<unset>",
      ),
    ),
    ageColumn,
  ],
};

export const networkPolicy: Behaviour = {
  validate: validateNetworkPolicy,
  generationPaths: ["spec"],
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    if (strings(spec, "policyTypes").length > 0) return;
    spec["policyTypes"] = items(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
  },
  columns: [
    nameColumn,
    column("Pod-Selector", (object) => selectorOrNone(descend(object, "spec", "podSelector"))),
    ageColumn,
  ],
};

export const ingress: Behaviour = {
  validate: validateIngress,
  warnings: ingressWarnings,
  generationPaths: ["spec"],
  columns: [
    nameColumn,
    column("Class", (object) => text(child(object, "spec"), "ingressClassName") || "<none>"),
    column("Hosts", hostsText),
    column("Address", (object) => loadBalancerAddresses(object).join(",")),
    column("Ports", (object) => (items(child(object, "spec"), "tls").length > 0 ? "80, 443" : "80")),
    ageColumn,
  ],
};

export const ingressClass: Behaviour = {
  validate: validateIngressClass,
  validateUpdate: validateIngressClassUpdate,
  generationPaths: ["spec"],
  fill(draft) {
    const parameters = descend(draft, "spec", "parameters");
    if (parameters) fill(parameters, "scope", "Cluster");
  },
  columns: [
    column(
      "Name",
      (object) => `${text(child(object, "metadata"), "name")}${isDefaultIngressClass(object) ? " (default)" : ""}`,
      { format: "name" },
    ),
    column("Controller", (object) => text(child(object, "spec"), "controller")),
    column("Parameters", parametersText),
    ageColumn,
  ],
};

function parametersText(object: Draft): string {
  const parameters = descend(object, "spec", "parameters");
  if (!parameters) return "<none>";
  const group = text(parameters, "apiGroup");
  return `${text(parameters, "kind")}${group === "" ? "" : `.${group}`}/${text(parameters, "name")}`;
}

function hostsText(object: Draft): string {
  const rules = items(child(object, "spec"), "rules");
  const hosts: string[] = [];
  let more = false;
  for (const rule of rules) {
    if (hosts.length === shownAddresses) more = true;
    else if (text(rule, "host") !== "") hosts.push(text(rule, "host"));
  }
  if (hosts.length === 0) return "*";
  return more ? `${hosts.join(",")} + ${rules.length - shownAddresses} more...` : hosts.join(",");
}

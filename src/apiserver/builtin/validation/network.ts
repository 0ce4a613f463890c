import { isIP } from "node:net";
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from "../../../kube/field-error.ts";
import { type LabelSelector, validateLabelSelector } from "../../../kube/label-selector.ts";
import { child, type Draft, items, numeral, strings, text } from "../draft.ts";
import { immutableMessage } from "../object-meta.ts";
import { checkAddress, checkNetwork, hasHostBits, isAddress, isStrictlyInside, parseNetwork } from "./addresses.ts";
import {
  checkLabel,
  checkOneOf,
  checkPort,
  checkPortNumber,
  checkRequiredOneOf,
  checkSubdomain,
  type Errors,
  portNameErrors,
  protocols,
} from "./rules.ts";

/** Endpoints, EndpointSlice, NetworkPolicy and Ingress. */

export function validateEndpoints(object: Draft): Errors {
  return items(object, "subsets").flatMap((subset, index) => {
    const path = `subsets[${index}]`;
    const addresses = items(subset, "addresses");
    const notReady = items(subset, "notReadyAddresses");
    const ports = items(subset, "ports");
    if (addresses.length + notReady.length === 0)
      return [required(path, "must specify `addresses` or `notReadyAddresses`")];
    return [
      ...addresses.flatMap((address, at) => endpointAddressErrors(address, `${path}.addresses[${at}]`)),
      ...notReady.flatMap((address, at) => endpointAddressErrors(address, `${path}.notReadyAddresses[${at}]`)),
      ...ports.flatMap((port, at) => endpointPortErrors(port, ports.length > 1, `${path}.ports[${at}]`)),
    ];
  });
}

function endpointAddressErrors(address: Draft, path: string): Errors {
  const ip = text(address, "ip");
  const errors: FieldError[] = [...checkAddress(ip, `${path}.ip`)];
  if (text(address, "hostname") !== "") errors.push(...checkLabel(text(address, "hostname"), `${path}.hostname`));
  return [...errors, ...specialAddressErrors(ip, `${path}.ip`)];
}

/** Addresses that only mean something on one machine. */
export function specialAddressErrors(ip: string, path: string): Errors {
  if (!isAddress(ip)) return [invalid(path, ip, "must be a valid IP address")];
  if (ip === "0.0.0.0" || ip === "::") return [invalid(path, ip, `may not be unspecified (${ip})`)];
  if (ip.startsWith("127.") || ip === "::1")
    return [invalid(path, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)")];
  if (ip.startsWith("169.254.") || /^fe[89ab]/i.test(ip)) {
    return [invalid(path, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")];
  }
  if (/^224\.0\.0\./.test(ip))
    return [invalid(path, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")];
  return [];
}

function endpointPortErrors(port: Draft, needsName: boolean, path: string): Errors {
  const name = text(port, "name");
  return [
    ...(name === "" ? (needsName ? [required(`${path}.name`)] : []) : checkLabel(name, `${path}.name`)),
    ...checkPortNumber(port["port"], `${path}.port`),
    ...checkRequiredOneOf(text(port, "protocol"), `${path}.protocol`, protocols),
  ];
}

const addressTypes = ["FQDN", "IPv4", "IPv6"];

export function validateEndpointSlice(object: Draft): Errors {
  const type = text(object, "addressType");
  return [
    ...checkRequiredOneOf(type, "addressType", addressTypes),
    ...items(object, "endpoints").flatMap((endpoint, index) =>
      sliceEndpointErrors(endpoint, type, `endpoints[${index}]`),
    ),
    ...slicePortErrors(items(object, "ports")),
  ];
}

function sliceEndpointErrors(endpoint: Draft, type: string, path: string): Errors {
  const addresses = strings(endpoint, "addresses");
  if (addresses.length === 0) return [required(`${path}.addresses`, "must contain at least 1 address")];
  if (addresses.length > 100) {
    return [
      { type: "TooMany", field: `${path}.addresses`, value: addresses.length, detail: "must have at most 100 items" },
    ];
  }
  return addresses.flatMap((address, index) => {
    const field = `${path}.addresses[${index}]`;
    if (type === "FQDN") return checkSubdomain(address, field);
    if (!addressTypes.includes(type)) return [];
    const wrong = checkAddress(address, field);
    if (wrong.length > 0) return wrong;
    const family = isIP(address) === 6 ? "IPv6" : "IPv4";
    if (family !== type) return [invalid(field, address, `must be an ${type} address`)];
    return specialAddressErrors(address, field);
  });
}

function slicePortErrors(ports: readonly Draft[]): Errors {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = `ports[${index}]`;
    const name = text(port, "name");
    const errors: FieldError[] = name === "" ? [] : [...checkLabel(name, `${path}.name`)];
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    errors.push(...checkRequiredOneOf(text(port, "protocol"), `${path}.protocol`, protocols));
    return port["port"] === undefined ? errors : [...errors, ...checkPortNumber(port["port"], `${path}.port`)];
  });
}

export const validateEndpointSliceUpdate = (object: Draft, old: Draft): Errors =>
  object["addressType"] === old["addressType"] ? [] : [invalid("addressType", object["addressType"], immutableMessage)];

export function validateNetworkPolicy(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const types = strings(spec, "policyTypes");
  return [
    ...validateLabelSelector(child(spec, "podSelector") as LabelSelector | undefined, "spec.podSelector"),
    ...ruleErrors(spec, "ingress", "from"),
    ...ruleErrors(spec, "egress", "to"),
    ...(types.length > 2
      ? [invalid("spec.policyTypes", types, "may not specify more than two policyTypes")]
      : typeErrors(types)),
  ];
}

const typeErrors = (types: readonly string[]): Errors =>
  types.flatMap((type, index) =>
    ["Ingress", "Egress"].includes(type)
      ? []
      : [notSupported(`spec.policyTypes[${index}]`, type, ["Ingress", "Egress"])],
  );

function ruleErrors(spec: Draft, direction: string, peers: string): Errors {
  return items(spec, direction).flatMap((rule, index) => {
    const path = `spec.${direction}[${index}]`;
    return [
      ...items(rule, "ports").flatMap((port, at) => policyPortErrors(port, `${path}.ports[${at}]`)),
      ...items(rule, peers).flatMap((peer, at) => peerErrors(peer, `${path}.${peers}[${at}]`)),
    ];
  });
}

function policyPortErrors(port: Draft, path: string): Errors {
  const protocol = text(port, "protocol");
  const supported = ["TCP", "UDP", "SCTP"];
  const errors: FieldError[] =
    protocol === "" || supported.includes(protocol) ? [] : [notSupported(`${path}.protocol`, protocol, supported)];
  if (port["port"] === undefined) {
    if (port["endPort"] !== undefined)
      errors.push(required(`${path}.port`, "must be specified when `endPort` is specified"));
    return errors;
  }
  errors.push(...checkPort(port["port"], `${path}.port`));
  const end = numeral(port, "endPort");
  if (end !== undefined && typeof port["port"] === "number" && end < port["port"]) {
    errors.push(invalid(`${path}.endPort`, port["port"], "must be greater than or equal to `port`"));
  }
  return errors;
}

function peerErrors(peer: Draft, path: string): Errors {
  const pods = child(peer, "podSelector");
  const namespaces = child(peer, "namespaceSelector");
  const block = child(peer, "ipBlock");
  const errors: FieldError[] = [
    ...validateLabelSelector(pods as LabelSelector | undefined, `${path}.podSelector`),
    ...validateLabelSelector(namespaces as LabelSelector | undefined, `${path}.namespaceSelector`),
    ...(block ? blockErrors(block, `${path}.ipBlock`) : []),
  ];
  if (!pods && !namespaces && !block) errors.push(required(path, "must specify a peer"));
  else if (block && (pods || namespaces)) errors.push(forbidden(path, "may not specify both ipBlock and another peer"));
  return errors;
}

function blockErrors(block: Draft, path: string): Errors {
  const cidr = text(block, "cidr");
  if (cidr === "") return [required(`${path}.cidr`)];
  const outer = parseNetwork(cidr);
  if (!outer) return checkNetwork(cidr, `${path}.cidr`);
  if (hasHostBits(outer)) return [invalid(`${path}.cidr`, cidr, "must not have bits set beyond the prefix length")];
  return strings(block, "except").flatMap((exception, index) => {
    const field = `${path}.except[${index}]`;
    const inner = parseNetwork(exception);
    if (!inner) return checkNetwork(exception, field);
    return isStrictlyInside(outer, inner) ? [] : [invalid(field, exception, "must be a strict subset of `cidr`")];
  });
}

export function validateIngress(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const backend = child(spec, "defaultBackend");
  const rules = items(spec, "rules");
  const errors: FieldError[] = [];
  if (rules.length === 0 && !backend) {
    errors.push(invalid("spec", null, "either `defaultBackend` or `rules` must be specified"));
  }
  if (backend) errors.push(...backendErrors(backend, "spec.defaultBackend"));
  errors.push(...rules.flatMap((rule, index) => ingressRuleErrors(rule, `spec.rules[${index}]`)));
  for (const [index, tls] of items(spec, "tls").entries()) {
    errors.push(...strings(tls, "hosts").flatMap((host, at) => hostErrors(host, `spec.tls[${index}].hosts[${at}]`)));
  }
  const ingressClass = text(spec, "ingressClassName");
  return ingressClass === "" ? errors : [...errors, ...checkSubdomain(ingressClass, "spec.ingressClassName")];
}

function hostErrors(host: string, path: string): Errors {
  if (!host.includes("*")) return checkSubdomain(host, path);
  if (/^\*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(host)) return [];
  const detail =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  return [invalid(path, host, detail)];
}

function ingressRuleErrors(rule: Draft, path: string): Errors {
  const host = text(rule, "host");
  const errors: FieldError[] = [];
  if (host !== "") {
    if (isIP(host) !== 0) errors.push(invalid(`${path}.host`, host, "must be a DNS name, not an IP address"));
    errors.push(...hostErrors(host, `${path}.host`));
  }
  const http = child(rule, "http");
  if (!http) return errors;
  const paths = items(http, "paths");
  if (paths.length === 0) return [...errors, required(`${path}.http.paths`)];
  return [...errors, ...paths.flatMap((entry, index) => ingressPathErrors(entry, `${path}.http.paths[${index}]`))];
}

const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];

function ingressPathErrors(entry: Draft, path: string): Errors {
  const type = text(entry, "pathType");
  const value = text(entry, "path");
  const backend = backendErrors(child(entry, "backend") ?? {}, `${path}.backend`);
  if (type === "") return [required(`${path}.pathType`, "pathType must be specified"), ...backend];
  if (!pathTypes.includes(type)) return [notSupported(`${path}.pathType`, type, pathTypes), ...backend];
  const mayBeEmpty = type === "ImplementationSpecific" && value === "";
  if (!value.startsWith("/") && !mayBeEmpty)
    return [invalid(`${path}.path`, value, "must be an absolute path"), ...backend];
  const wrong =
    type === "ImplementationSpecific"
      ? undefined
      : ["//", "/./", "/../", "%2f", "%2F"].find((part) => value.includes(part));
  if (wrong !== undefined) return [invalid(`${path}.path`, value, `must not contain '${wrong}'`), ...backend];
  return backend;
}

function backendErrors(backend: Draft, path: string): Errors {
  const service = child(backend, "service");
  const resource = child(backend, "resource");
  if (service && resource) return [invalid(path, "", "cannot set both resource and service backends")];
  if (resource) return [];
  if (!service) return [invalid(path, "", "resource or service backend is required")];
  const name = text(service, "name");
  const port = child(service, "port");
  const [portName, number] = [text(port, "name"), numeral(port, "number") ?? 0];
  const errors: FieldError[] =
    name === "" ? [required(`${path}.service.name`)] : [...checkLabel(name, `${path}.service.name`)];
  if (portName !== "" && number !== 0) errors.push(invalid(path, "", "cannot set both port name & port number"));
  else if (portName !== "") {
    errors.push(...portNameErrors(portName).map((error) => invalid(`${path}.service.port.name`, portName, error)));
  } else if (number !== 0) errors.push(...checkPortNumber(number, `${path}.service.port.number`));
  else errors.push(required(path, "port name or number is required"));
  return errors;
}

export function validateIngressClass(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const controller = text(spec, "controller");
  const errors: FieldError[] = [];
  if (controller === "") errors.push(required("spec.controller"));
  else if (!/^[^/]+\/.+$/.test(controller)) {
    errors.push(invalid("spec.controller", controller, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  }
  const parameters = child(spec, "parameters");
  return parameters ? [...errors, ...parameterErrors(parameters, "spec.parameters")] : errors;
}

function parameterErrors(parameters: Draft, path: string): Errors {
  const errors: FieldError[] = [];
  for (const field of ["kind", "name"]) if (text(parameters, field) === "") errors.push(required(`${path}.${field}`));
  const scope = text(parameters, "scope");
  const namespace = parameters["namespace"];
  errors.push(...checkOneOf(scope, `${path}.scope`, ["Cluster", "Namespace"]));
  const why = `\`parameters.scope\` is set to '${scope}'`;
  if (scope === "Namespace" && namespace === undefined) errors.push(required(`${path}.namespace`, why));
  if (scope === "Cluster" && namespace !== undefined) errors.push(forbidden(`${path}.namespace`, why));
  return errors;
}

export function validateIngressClassUpdate(object: Draft, old: Draft): Errors {
  const [now, before] = [object, old].map((each) => text(child(each, "spec"), "controller"));
  return now === before ? [] : [invalid("spec.controller", now ?? "", "field is immutable")];
}

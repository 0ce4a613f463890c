import { isIP } from "node:net";
import { duplicate, type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { child, type Draft, entries, items, numeral, strings, text } from "../draft.ts";
import { validateLabels } from "../object-meta.ts";
import { checkAddress, checkNetwork } from "./addresses.ts";
import {
  checkLabel,
  checkPort,
  checkPortNumber,
  checkQualifiedName,
  checkRequiredOneOf,
  checkSubdomain,
  type Errors,
  protocols,
} from "./rules.ts";

export function validateService(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const type = text(spec, "type");
  const ports = items(spec, "ports");
  const errors: FieldError[] = [];
  const isHeadless = strings(spec, "clusterIPs")[0] === "None";
  if (ports.length === 0 && !isHeadless && type !== "ExternalName") errors.push(required("spec.ports"));
  errors.push(...typeErrors(spec, type, isHeadless), ...portErrors(ports));
  if (entries(spec, "selector").length > 0) errors.push(...validateLabels(spec, "selector", "spec.selector"));
  errors.push(...checkRequiredOneOf(text(spec, "sessionAffinity"), "spec.sessionAffinity", ["ClientIP", "None"]));
  if (type !== "ExternalName") errors.push(...addressErrors(spec));
  errors.push(...strings(spec, "externalIPs").flatMap((ip, index) => checkAddress(ip, `spec.externalIPs[${index}]`)));
  errors.push(...checkRequiredOneOf(type, "spec.type", ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]));
  errors.push(
    ...nodePortErrors(ports, type),
    ...repeatedPorts(ports),
    ...balancerErrors(spec, type),
    ...trafficErrors(spec, type),
  );
  return errors;
}

function typeErrors(spec: Draft, type: string, isHeadless: boolean): Errors {
  if (isHeadless && (type === "LoadBalancer" || type === "NodePort")) {
    return [invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`)];
  }
  if (type !== "ExternalName") return [];
  const errors: FieldError[] = [];
  for (const field of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
    if (spec[field] !== undefined) errors.push(forbidden(`spec.${field}`, "may not be set for ExternalName services"));
  }
  const name = text(spec, "externalName").replace(/\.$/, "");
  return [...errors, ...(name === "" ? [required("spec.externalName")] : checkSubdomain(name, "spec.externalName"))];
}

function portErrors(ports: readonly Draft[]): Errors {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `spec.ports[${index}]`;
    const name = text(port, "name");
    const errors: FieldError[] = [];
    if (name === "" && ports.length > 1) errors.push(required(`${at}.name`));
    if (name !== "") {
      errors.push(...checkLabel(name, `${at}.name`));
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    errors.push(...checkPortNumber(port["port"], `${at}.port`));
    errors.push(...checkRequiredOneOf(text(port, "protocol"), `${at}.protocol`, protocols));
    errors.push(...checkPort(port["targetPort"], `${at}.targetPort`));
    const application = text(port, "appProtocol");
    return application === "" ? errors : [...errors, ...checkQualifiedName(application, `${at}.appProtocol`)];
  });
}

const families = ["IPv4", "IPv6"];

function addressErrors(spec: Draft): Errors {
  const address = text(spec, "clusterIP");
  const all = strings(spec, "clusterIPs");
  const errors: FieldError[] = [];
  if (address !== "") {
    if (all.length === 0) errors.push(required("spec.clusterIPs"));
    else if (all[0] !== address) errors.push(invalid("spec.clusterIPs", all, "first value must match `clusterIP`"));
  } else if (all.length > 0)
    errors.push(invalid("spec.clusterIPs", all, "must be empty when `clusterIP` is not specified"));
  for (const [index, family] of strings(spec, "ipFamilies").entries()) {
    errors.push(...checkRequiredOneOf(family, `spec.ipFamilies[${index}]`, families));
  }
  const policy = text(spec, "ipFamilyPolicy");
  if (policy !== "") {
    errors.push(
      ...checkRequiredOneOf(policy, "spec.ipFamilyPolicy", ["PreferDualStack", "RequireDualStack", "SingleStack"]),
    );
  }
  const isOpen = all[0] === "None" && entries(spec, "selector").length === 0;
  if (policy === "RequireDualStack" && all.length < 2 && !isOpen) {
    errors.push(invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services"));
  }
  for (const [index, ip] of all.entries()) {
    if (index === 0 && ip === "None") {
      if (all.length > 1) errors.push(invalid("spec.clusterIPs", all, "'None' must be the first and only value"));
    } else errors.push(...checkAddress(ip, `spec.clusterIPs[${index}]`), ...familyErrors(ip, index, spec));
  }
  return errors;
}

function familyErrors(ip: string, index: number, spec: Draft): Errors {
  const family = strings(spec, "ipFamilies")[index];
  if (family === undefined || isIP(ip) === 0 || isIP(ip) === (family === "IPv6" ? 6 : 4)) return [];
  const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
  return [invalid(`spec.clusterIPs[${index}]`, ip, detail)];
}

function nodePortErrors(ports: readonly Draft[], type: string): Errors {
  const taken = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, port] of ports.entries()) {
    const nodePort = numeral(port, "nodePort") ?? 0;
    if (nodePort === 0) continue;
    const field = `spec.ports[${index}].nodePort`;
    if (type === "ClusterIP") errors.push(forbidden(field, "may not be used when `type` is 'ClusterIP'"));
    const key = `${text(port, "protocol")}/${nodePort}`;
    if (taken.has(key)) errors.push(duplicate(field, nodePort));
    taken.add(key);
  }
  return errors;
}

function repeatedPorts(ports: readonly Draft[]): Errors {
  const taken = new Set<string>();
  return ports.flatMap((port, index) => {
    const key = `${text(port, "protocol")}/${port["port"]}`;
    const isRepeated = taken.has(key);
    taken.add(key);
    if (!isRepeated) return [];
    const protocol = JSON.stringify(text(port, "protocol"));
    const detail = `{"Name":"","Protocol":${protocol},"AppProtocol":null,"Port":${port["port"]},"TargetPort":0,"NodePort":0}`;
    return [{ type: "Duplicate", field: `spec.ports[${index}]`, detail }];
  });
}

function balancerErrors(spec: Draft, type: string): Errors {
  const errors: FieldError[] = [];
  const ranges = strings(spec, "loadBalancerSourceRanges");
  const only = "may only be used when `type` is 'LoadBalancer'";
  if (ranges.length > 0) {
    if (type !== "LoadBalancer") errors.push(forbidden("spec.LoadBalancerSourceRanges", only));
    errors.push(
      ...ranges.flatMap((range, index) => checkNetwork(range.trim(), `spec.LoadBalancerSourceRanges[${index}]`)),
    );
  }
  if (spec["allocateLoadBalancerNodePorts"] !== undefined && type !== "LoadBalancer") {
    errors.push(forbidden("spec.allocateLoadBalancerNodePorts", only));
  }
  const balancer = text(spec, "loadBalancerClass");
  if (balancer === "") return errors;
  if (type !== "LoadBalancer") return [...errors, forbidden("spec.loadBalancerClass", only)];
  return [...errors, ...checkQualifiedName(balancer, "spec.loadBalancerClass")];
}

const policies = ["Cluster", "Local"];

function trafficErrors(spec: Draft, type: string): Errors {
  const external = text(spec, "externalTrafficPolicy");
  const isExternal =
    type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && strings(spec, "externalIPs").length > 0);
  const errors: FieldError[] = [];
  if (isExternal) errors.push(...checkRequiredOneOf(external, "spec.externalTrafficPolicy", policies));
  else if (external !== "") {
    errors.push(invalid("spec.externalTrafficPolicy", external, "may only be set for externally-accessible services"));
  }
  const internal = text(spec, "internalTrafficPolicy");
  if (internal === "") {
    if (type === "NodePort" || type === "LoadBalancer" || type === "ClusterIP")
      errors.push(required("spec.internalTrafficPolicy"));
  } else errors.push(...checkRequiredOneOf(internal, "spec.internalTrafficPolicy", policies));
  return errors;
}

/** The address of a service is what its clients know: it stays, unless the service had none or gives it up. */
export function validateServiceUpdate(object: Draft, old: Draft): Errors {
  const [spec, before] = [child(object, "spec"), child(old, "spec")];
  if (text(spec, "type") === "ExternalName" || text(before, "type") === "ExternalName") return [];
  const [now, then] = [strings(spec, "clusterIPs"), strings(before, "clusterIPs")];
  if (then.length === 0 || now.length === 0 || now[0] === then[0]) return [];
  return [invalid("spec.clusterIPs[0]", now, "may not change once set")];
}

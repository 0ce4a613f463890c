import { isIP } from "node:net";
import { type FieldError, invalid } from "../../kube/field-error.ts";
import type { KubeObject } from "../../kube/object.ts";
import {
  child,
  type Draft,
  draftOf,
  ensure,
  entries,
  finished,
  items,
  numeral,
  partsOf,
  strings,
  text,
} from "./draft.ts";
import { carryOverAllocations, fillPluralAddress } from "./service-update.ts";

/** Who hands out addresses and ports. Each call answers one that nobody else has, or throws when none is left. */
export interface ServiceAllocator {
  clusterIp(): string;
  nodePort(): number;
}

/** Who knows which addresses and ports there are, and who has them. */
export interface ServiceClaims {
  /** Why a service cannot have the address or the port that it names itself; nothing when it can. */
  refuseAddress(address: string): string | undefined;
  refusePort(port: number): string | undefined;
}

/** What a service names itself must be in range and free, unless it has it already. */
export function claimErrors(
  service: KubeObject,
  old: KubeObject | undefined,
  claims: ServiceClaims,
): readonly FieldError[] {
  const spec = child(partsOf(service), "spec");
  const before = old && child(partsOf(old), "spec");
  if (text(spec, "type") === "ExternalName") return [];
  return [...addressErrors(spec, before, claims), ...portErrors(spec, before, claims)];
}

function addressErrors(
  spec: Draft | undefined,
  before: Draft | undefined,
  claims: ServiceClaims,
): readonly FieldError[] {
  const [first] = strings(spec, "clusterIPs");
  const address = first || text(spec, "clusterIP");
  // That an address may not change, and what is no address at all, is for those who judge the whole object.
  if (address === "" || address === "None" || isIP(address) === 0 || text(before, "clusterIP") !== "") return [];
  if (isIP(address) === 6) {
    return [invalid("spec.clusterIPs[0]", [address], "IPv6 is not configured on this cluster")];
  }
  const why = claims.refuseAddress(address);
  return why === undefined ? [] : [invalid("spec.clusterIPs", [address], `failed to allocate IP ${address}: ${why}`)];
}

function portErrors(spec: Draft | undefined, before: Draft | undefined, claims: ServiceClaims): readonly FieldError[] {
  const had = new Set(items(before, "ports").map((port) => numeral(port, "nodePort")));
  return items(spec, "ports").flatMap((port, index) => {
    const wanted = numeral(port, "nodePort") ?? 0;
    const why = wanted === 0 || had.has(wanted) ? undefined : claims.refusePort(wanted);
    return why === undefined ? [] : [invalid(`spec.ports[${index}].nodePort`, wanted, why)];
  });
}

/**
 * Gives a service the addresses and ports that it needs and does not have; those that it names itself stay. On an update,
 * what the old object had is kept where the new one says nothing.
 */
export function allocateService(
  service: KubeObject,
  old: KubeObject | undefined,
  allocator: ServiceAllocator,
): KubeObject {
  const draft = draftOf(service);
  const spec = ensure(draft, "spec");
  // Harmless where it has been done already: an admission step may come before or after the object is prepared.
  if (old) carryOverAllocations(draft, partsOf(old));
  else fillPluralAddress(spec);
  const before = old && child(partsOf(old), "spec");
  if (text(spec, "type") === "ExternalName") return finished(draft);
  allocateAddress(spec, before, allocator);
  if (needsNodePorts(spec)) allocateNodePorts(spec, before, allocator);
  if (text(spec, "type") === "LoadBalancer" && text(spec, "externalTrafficPolicy") === "Local") {
    spec["healthCheckNodePort"] ??= before?.["healthCheckNodePort"] ?? allocator.nodePort();
  }
  return finished(draft);
}

function allocateAddress(spec: Draft, before: Draft | undefined, allocator: ServiceAllocator): void {
  const keeps = before && text(before, "type") !== "ExternalName";
  const named = strings(spec, "clusterIPs")[0] || text(spec, "clusterIP");
  const address = named || (keeps ? text(before, "clusterIP") : "") || allocator.clusterIp();
  spec["clusterIP"] = address;
  if (strings(spec, "clusterIPs").length === 0) spec["clusterIPs"] = keeps && !named ? before["clusterIPs"] : [address];
  if (address === "None" && entries(spec, "selector").length === 0 && spec["ipFamilyPolicy"] === undefined) {
    // Whoever writes the endpoints of such a service decides which addresses it has.
    spec["ipFamilies"] ??= ["IPv4", "IPv6"];
    spec["ipFamilyPolicy"] = "RequireDualStack";
  }
  spec["ipFamilies"] ??= (keeps ? before["ipFamilies"] : undefined) ?? [familyOf(address)];
  spec["ipFamilyPolicy"] ??= (keeps ? before["ipFamilyPolicy"] : undefined) ?? "SingleStack";
}

const familyOf = (address: string): string => (address.includes(":") ? "IPv6" : "IPv4");

function needsNodePorts(spec: Draft): boolean {
  const type = text(spec, "type");
  return type === "NodePort" || (type === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false);
}

function allocateNodePorts(spec: Draft, before: Draft | undefined, allocator: ServiceAllocator): void {
  const known = items(before, "ports");
  for (const port of items(spec, "ports")) {
    if ((numeral(port, "nodePort") ?? 0) !== 0) continue;
    const same = known.find((other) => other["port"] === port["port"] && other["protocol"] === port["protocol"]);
    port["nodePort"] = (numeral(same, "nodePort") ?? 0) || allocator.nodePort();
  }
}

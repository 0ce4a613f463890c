import { deepEqual } from "../../kube/equality.ts";
import { child, type Draft, ensure, items, numeral, strings, text } from "./draft.ts";

/**
 * What a service had is kept where its writer says nothing, and given up where its new type has no use for it and the
 * writer did not touch it. What is missing after that, the allocator hands out.
 */
export function carryOverAllocations(draft: Draft, old: Draft): void {
  const spec = ensure(draft, "spec");
  const before = child(old, "spec") ?? {};
  keepAddresses(spec, before);
  keepNodePorts(spec, before);
  sameSingularAndPlural(spec, before);
  giveUpUnused(spec, before);
  if (text(spec, "type") !== "LoadBalancer") ensure(draft, "status")["loadBalancer"] = {};
}

/** A service with one address has it in both fields. */
export function fillPluralAddress(spec: Draft): void {
  if (text(spec, "clusterIP") !== "" && strings(spec, "clusterIPs").length === 0)
    spec["clusterIPs"] = [spec["clusterIP"]];
}

export const needsAddress = (spec: Draft): boolean => text(spec, "type") !== "ExternalName";
const mayHaveNodePorts = (spec: Draft): boolean => ["NodePort", "LoadBalancer"].includes(text(spec, "type"));

function keepAddresses(spec: Draft, before: Draft): void {
  if (!needsAddress(spec) || !needsAddress(before)) return;
  if (text(spec, "clusterIP") === "") spec["clusterIP"] = before["clusterIP"];
  if (strings(spec, "clusterIPs").length === 0) spec["clusterIPs"] = before["clusterIPs"];
  spec["ipFamilies"] ??= before["ipFamilies"];
  spec["ipFamilyPolicy"] ??= before["ipFamilyPolicy"];
}

function keepNodePorts(spec: Draft, before: Draft): void {
  if (!mayHaveNodePorts(spec) || !mayHaveNodePorts(before)) return;
  const given = new Set(nodePorts(spec));
  for (const port of items(spec, "ports")) {
    if ((numeral(port, "nodePort") ?? 0) !== 0) continue;
    const same = items(before, "ports").find((other) => text(other, "name") === text(port, "name"));
    const known = numeral(same, "nodePort") ?? 0;
    if (known !== 0 && !given.has(known)) port["nodePort"] = known;
  }
}

const nodePorts = (spec: Draft): readonly number[] =>
  items(spec, "ports").flatMap((port) => {
    const nodePort = numeral(port, "nodePort") ?? 0;
    return nodePort === 0 ? [] : [nodePort];
  });

/** A client that knows the old field only means both. */
function sameSingularAndPlural(spec: Draft, before: Draft): void {
  if (spec["clusterIP"] === before["clusterIP"]) return;
  if (deepEqual(spec["clusterIPs"], before["clusterIPs"]) && text(spec, "clusterIP") !== "")
    spec["clusterIPs"] = [spec["clusterIP"]];
}

function giveUpUnused(spec: Draft, before: Draft): void {
  const drop = (...fields: readonly string[]): void => {
    for (const field of fields) if (deepEqual(spec[field], before[field])) delete spec[field];
  };
  if (needsAddress(before) && !needsAddress(spec)) {
    drop("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy");
  }
  const known = new Set(nodePorts(before));
  if (mayHaveNodePorts(before) && !mayHaveNodePorts(spec) && nodePorts(spec).every((port) => known.has(port))) {
    for (const port of items(spec, "ports")) delete port["nodePort"];
  }
  if (text(before, "type") === "LoadBalancer" && text(spec, "type") !== "LoadBalancer") {
    drop("allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort");
  }
  if (isExternal(before) && !isExternal(spec)) drop("externalTrafficPolicy");
}

const isExternal = (spec: Draft): boolean =>
  mayHaveNodePorts(spec) || (text(spec, "type") === "ClusterIP" && strings(spec, "externalIPs").length > 0);

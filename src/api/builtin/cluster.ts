/** What a cluster is made of: its namespaces and nodes, and the quotas on them. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, boolean, dateTime, intOrString, map, oneOf, optional, string } from "../../kube/schema/build.ts";
import { looseConditions } from "./metadata.ts";
import { openObject } from "./open-object.ts";

export const Namespace = defineKind({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
  shortNames: ["ns"],
  description: "A room for objects.",
  fields: { spec: optional(openObject({ finalizers: optional(array(string())) })) },
  status: openObject({
    phase: optional(oneOf(["Active", "Terminating"])),
    conditions: optional(looseConditions),
  }),
});
export type Namespace = ResourceOf<typeof Namespace>;

const taint = openObject({
  key: string(),
  value: optional(string()),
  effect: oneOf(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
  timeAdded: optional(dateTime()),
});

export const Node = defineKind({
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  scope: "Cluster",
  shortNames: ["no"],
  description: "A machine that runs pods.",
  spec: openObject({
    unschedulable: optional(boolean()),
    taints: optional(array(taint)),
    providerID: optional(string()),
    podCIDR: optional(string()),
  }),
  status: openObject({
    capacity: optional(map(intOrString())),
    allocatable: optional(map(intOrString())),
    conditions: optional(looseConditions),
    addresses: optional(array(openObject({ type: string(), address: string() }))),
    nodeInfo: optional(openObject({ kubeletVersion: optional(string()), operatingSystem: optional(string()) })),
  }),
});
export type Node = ResourceOf<typeof Node>;

const scopeSelector = openObject({
  matchExpressions: optional(
    array(openObject({ scopeName: string(), operator: string(), values: optional(array(string())) })),
  ),
});

export const ResourceQuota = defineKind({
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  shortNames: ["quota"],
  description: "The most that a namespace may use.",
  spec: openObject({
    hard: optional(map(intOrString())),
    scopes: optional(array(string())),
    scopeSelector: optional(scopeSelector),
  }),
  status: openObject({ hard: optional(map(intOrString())), used: optional(map(intOrString())) }),
});
export type ResourceQuota = ResourceOf<typeof ResourceQuota>;

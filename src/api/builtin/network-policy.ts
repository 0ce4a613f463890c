/** Which pods may speak to which. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, integer, intOrString, oneOf, optional, string } from "../../kube/schema/build.ts";
import { labelSelector } from "../label-selector.ts";
import { openObject } from "./open-object.ts";

const peer = openObject({
  podSelector: optional(labelSelector("Pods.")),
  namespaceSelector: optional(labelSelector("Namespaces.")),
  ipBlock: optional(openObject({ cidr: string(), except: optional(array(string())) })),
});

const port = openObject({
  protocol: optional(oneOf(["TCP", "UDP", "SCTP"])),
  port: optional(intOrString()),
  endPort: optional(integer()),
});

export const NetworkPolicy = defineKind({
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  shortNames: ["netpol"],
  description: "Which pods may speak to which.",
  spec: openObject({
    podSelector: optional(labelSelector("The pods that it is about.")),
    policyTypes: optional(array(oneOf(["Ingress", "Egress"]))),
    ingress: optional(array(openObject({ from: optional(array(peer)), ports: optional(array(port)) }))),
    egress: optional(array(openObject({ to: optional(array(peer)), ports: optional(array(port)) }))),
  }),
});
export type NetworkPolicy = ResourceOf<typeof NetworkPolicy>;

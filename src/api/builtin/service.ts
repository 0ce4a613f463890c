/** Services and the endpoints behind them. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, boolean, integer, intOrString, map, oneOf, optional, string } from "../../kube/schema/build.ts";
import { standardConditions } from "./metadata.ts";
import { openObject } from "./open-object.ts";

const protocol = optional(oneOf(["TCP", "UDP", "SCTP"]));

export const Service = defineKind({
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  shortNames: ["svc"],
  description: "A stable address for a set of pods.",
  spec: openObject({
    type: optional(oneOf(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"])),
    selector: optional(map(string())),
    ports: optional(
      array(
        openObject({
          name: optional(string()),
          port: integer(),
          protocol,
          targetPort: optional(intOrString()),
          nodePort: optional(integer()),
          appProtocol: optional(string()),
        }),
        { keys: ["port", "protocol"] },
      ),
    ),
    clusterIP: optional(string()),
    clusterIPs: optional(array(string())),
    externalName: optional(string()),
    externalIPs: optional(array(string())),
    loadBalancerIP: optional(string()),
    loadBalancerClass: optional(string()),
    externalTrafficPolicy: optional(string()),
    publishNotReadyAddresses: optional(boolean()),
    sessionAffinity: optional(string()),
  }),
  status: openObject({
    loadBalancer: optional(
      openObject({
        ingress: optional(array(openObject({ ip: optional(string()), hostname: optional(string()) }))),
      }),
    ),
    conditions: optional(standardConditions),
  }),
});
export type Service = ResourceOf<typeof Service>;

export const EndpointSlice = defineKind({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  description: "Some of the endpoints behind a Service.",
  fields: {
    addressType: oneOf(["IPv4", "IPv6", "FQDN"]),
    endpoints: array(
      openObject({
        addresses: array(string()),
        conditions: optional(
          openObject({
            ready: optional(boolean()),
            serving: optional(boolean()),
            terminating: optional(boolean()),
          }),
        ),
        hostname: optional(string()),
        nodeName: optional(string()),
        zone: optional(string()),
        targetRef: optional(
          openObject({
            kind: optional(string()),
            namespace: optional(string()),
            name: optional(string()),
            uid: optional(string()),
          }),
        ),
      }),
    ),
    ports: optional(
      array(
        openObject({
          name: optional(string()),
          port: optional(integer()),
          protocol,
          appProtocol: optional(string()),
        }),
      ),
    ),
  },
});
export type EndpointSlice = ResourceOf<typeof EndpointSlice>;

/** The Gateway API's routes below HTTP, used only where they are served. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, integer, optional, string } from "../../kube/schema/build.ts";
import { standardConditions } from "./metadata.ts";
import { openObject } from "./open-object.ts";

const group = "gateway.networking.k8s.io";
const version = "v1alpha2";

const parentRef = openObject({
  group: optional(string()),
  kind: optional(string()),
  name: string(),
  namespace: optional(string()),
  sectionName: optional(string()),
  port: optional(integer()),
});

const spec = openObject({
  parentRefs: optional(array(parentRef)),
  rules: array(
    openObject({
      name: optional(string()),
      backendRefs: optional(
        array(
          openObject({
            group: optional(string()),
            kind: optional(string()),
            name: string(),
            namespace: optional(string()),
            port: optional(integer()),
            weight: optional(integer()),
          }),
        ),
      ),
    }),
  ),
});

const status = openObject({
  parents: optional(
    array(openObject({ parentRef, controllerName: string(), conditions: optional(standardConditions) })),
  ),
});

export const TCPRoute = defineKind({
  group,
  version,
  kind: "TCPRoute",
  plural: "tcproutes",
  description: "Leads TCP connections from a gateway to a Service.",
  spec,
  status,
});
export type TCPRoute = ResourceOf<typeof TCPRoute>;

export const UDPRoute = defineKind({
  group,
  version,
  kind: "UDPRoute",
  plural: "udproutes",
  description: "Leads UDP packets from a gateway to a Service.",
  spec,
  status,
});
export type UDPRoute = ResourceOf<typeof UDPRoute>;

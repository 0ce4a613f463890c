/** The Prometheus operator's kinds, used only where its API is served. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, intOrString, optional, string } from "../../kube/schema/build.ts";
import { labelSelector } from "../label-selector.ts";
import { openObject } from "./open-object.ts";

export const ServiceMonitor = defineKind({
  group: "monitoring.coreos.com",
  version: "v1",
  kind: "ServiceMonitor",
  plural: "servicemonitors",
  shortNames: ["smon"],
  description: "Services whose metrics Prometheus reads.",
  spec: openObject({
    selector: labelSelector("The Services."),
    endpoints: array(
      openObject({
        port: optional(string()),
        targetPort: optional(intOrString()),
        path: optional(string()),
        scheme: optional(string()),
        interval: optional(string()),
        scrapeTimeout: optional(string()),
      }),
    ),
    namespaceSelector: optional(openObject({ matchNames: optional(array(string())) })),
    jobLabel: optional(string()),
    targetLabels: optional(array(string())),
  }),
});
export type ServiceMonitor = ResourceOf<typeof ServiceMonitor>;

/** A registered service, mirrored from the registry into the Kubernetes API. Heartbeats never get here, only changes. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import { boolean, dateTime, integer, object, oneOf, optional, string } from "../kube/schema/build.ts";
import { age } from "./columns.ts";

export const serviceTypes = ["resource-provider", "tool-invoker", "multi-capability", "code-execution-engine"] as const;
export type ServiceType = (typeof serviceTypes)[number];

export const serviceHealths = ["PENDING", "HEALTHY", "UNHEALTHY", "DOWN"] as const;
export type ServiceHealth = (typeof serviceHealths)[number];

export const ServiceTarget = defineKind({
  group: "registry.capstan.dev",
  version: "v1alpha1",
  kind: "ServiceTarget",
  plural: "servicetargets",
  shortNames: ["st"],
  categories: ["capstan"],
  description: "A service that registered itself, as the registry knows it. Written by the registry only.",
  spec: object(
    {
      id: optional(string({ description: "The identifier that the registry gave it.", maxLength: 253 })),
      serviceName: string({ description: "The logical name of the service; several may share it.", minLength: 1 }),
      host: string({ description: "The host on which it listens.", minLength: 1 }),
      port: integer({ description: "The port on which it listens.", minimum: 0, maximum: 65535 }),
      serviceType: optional(
        string({
          description:
            "resource-provider, tool-invoker, multi-capability or code-execution-engine; others are kept as they are.",
        }),
      ),
      serviceSubType: optional(string({ description: "The kind of engine, such as jvm, interpreted or camel." })),
      languageName: optional(string({ description: "The language, such as java, python, yaml or xml." })),
      languageType: optional(string({ description: "compiled or interpreted." })),
      languageSubType: optional(string({ description: "The language's engine, such as jvm or cpython." })),
    },
    { description: "What the service said of itself." },
  ),
  status: object(
    {
      health: optional(
        oneOf(serviceHealths, { description: "HEALTHY, UNHEALTHY, DOWN, or PENDING while nothing is known yet." }),
      ),
      active: optional(boolean({ description: "Whether the registry hands it out." })),
      reason: optional(string({ description: "What the health comes from, such as missing in action." })),
      lastSeen: optional(dateTime({ description: "When it was last heard of, as of the last change of health." })),
      registeredAt: optional(dateTime({ description: "When it first registered." })),
      owner: optional(string({ description: "The identity that registered it." })),
    },
    { description: "Whether the service is alive." },
  ),
  columns: [
    { name: "Service", type: "string", jsonPath: ".spec.serviceName" },
    { name: "Type", type: "string", jsonPath: ".spec.serviceType" },
    { name: "Host", type: "string", jsonPath: ".spec.host" },
    { name: "Port", type: "integer", jsonPath: ".spec.port" },
    { name: "Health", type: "string", jsonPath: ".status.health" },
    age,
    { name: "Reason", type: "string", jsonPath: ".status.reason", priority: 1 },
    { name: "Last-Seen", type: "date", jsonPath: ".status.lastSeen", priority: 1 },
  ],
  selectableFields: [".spec.serviceName"],
});
export type ServiceTarget = ResourceOf<typeof ServiceTarget>;

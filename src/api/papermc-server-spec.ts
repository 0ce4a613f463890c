/** The parts of a server's spec: when it is updated, and how it is reached, saved and protected. */
import { array, boolean, defaulted, integer, map, object, oneOf, optional, string } from "../kube/schema/build.ts";
import { goDuration } from "./duration.ts";
import { labelSelector } from "./label-selector.ts";

/** Times in the spec are cron expressions; a bad one is accepted and reported as a condition, as it always was. */
const cron = (description: string) =>
  string({ description: `${description} A cron expression of five fields, or one such as @weekly.` });

export const updateSchedule = object(
  {
    checkCron: cron("When to look for new versions."),
    timeZone: defaulted(
      string({ description: "The time zone of all cron expressions, such as Europe/Berlin.", minLength: 1 }),
      "UTC",
    ),
    maintenanceWindow: object(
      {
        cron: cron("When the window opens."),
        enabled: boolean({ description: "false means that the server is never updated by itself." }),
        duration: defaulted(goDuration("How long the window stays open."), "1h"),
      },
      { description: "When the server may be restarted for an update." },
    ),
  },
  { description: "When to look for updates, and when to apply them." },
);

export const gracefulShutdown = object(
  { timeout: goDuration("How long players are warned and the server may take to stop.") },
  { description: "How the server is stopped." },
);

export const rcon = object(
  {
    enabled: boolean({ description: "Whether the server is spoken to through RCON before it is stopped or saved." }),
    passwordSecret: object(
      {
        name: string({ description: "The name of the Secret." }),
        key: string({ description: "The key in the Secret." }),
      },
      { description: "Where the RCON password is." },
    ),
    port: defaulted(integer({ description: "The port of RCON.", format: "int32" }), 25575),
  },
  {
    description: "The server's remote console.",
    rules: [
      {
        rule: "!self.enabled || (size(self.passwordSecret.name) > 0 && size(self.passwordSecret.key) > 0)",
        message: "name and key of the password's Secret are required when rcon is enabled",
        fieldPath: ".passwordSecret",
        reason: "FieldValueRequired",
      },
    ],
  },
);

export const service = object(
  {
    type: defaulted(
      oneOf(["LoadBalancer", "NodePort", "ClusterIP"], { description: "How the server is reached from outside." }),
      "LoadBalancer",
    ),
    annotations: optional(map(string(), { description: "Annotations of the Service." })),
    loadBalancerIP: optional(string({ description: "The address to ask the load balancer for." })),
  },
  { description: "The Service in front of the server." },
);

const routeSwitch = (protocol: string) =>
  object(
    { enabled: boolean({ description: `Whether a ${protocol} route is made.` }) },
    { description: `The ${protocol} route.` },
  );

export const gateway = object(
  {
    enabled: boolean({ description: "Whether routes are made. It needs the Gateway API in the cluster." }),
    parentRefs: optional(
      array(
        object({
          name: string({ description: "The name of the Gateway." }),
          namespace: optional(string({ description: "The namespace of the Gateway." })),
          sectionName: optional(string({ description: "The listener of the Gateway." })),
        }),
        { description: "The Gateways to attach to." },
      ),
    ),
    tcpRoute: optional(routeSwitch("TCP")),
    udpRoute: optional(routeSwitch("UDP")),
  },
  {
    description: "Routes from a Gateway to the server.",
    rules: [
      {
        rule: "!self.enabled || (has(self.parentRefs) && size(self.parentRefs) > 0)",
        message: "at least one parentRef is required when gateway is enabled",
        fieldPath: ".parentRefs",
        reason: "FieldValueRequired",
      },
    ],
  },
);

export const backup = object(
  {
    enabled: boolean({ description: "Whether volume snapshots are made. It needs the snapshot API in the cluster." }),
    schedule: optional(cron("When to make a snapshot.")),
    beforeUpdate: defaulted(boolean({ description: "Whether an update begins with a snapshot." }), true),
    volumeSnapshotClassName: optional(string({ description: "The snapshot class; the cluster's default otherwise." })),
    retention: optional(
      object(
        {
          maxCount: defaulted(
            integer({ description: "How many snapshots are kept.", minimum: 1, format: "int32" }),
            10,
          ),
        },
        { description: "Which snapshots are kept." },
      ),
    ),
  },
  { description: "Snapshots of the world." },
);

const cidr = optional(
  string({
    description: "A range of IPv4 addresses, such as 10.0.0.0/8.",
    pattern: "^([0-9]{1,3}\\.){3}[0-9]{1,3}/[0-9]{1,2}$",
  }),
);

export const network = object(
  {
    networkPolicy: optional(
      object(
        {
          enabled: boolean({ description: "Whether a NetworkPolicy is made." }),
          allowFrom: optional(
            array(
              object({
                cidr,
                podSelector: optional(labelSelector("Pods; not together with cidr.")),
                namespaceSelector: optional(labelSelector("Namespaces; not together with cidr.")),
              }),
              { description: "Who may connect, besides this namespace." },
            ),
          ),
          restrictEgress: defaulted(
            boolean({ description: "Whether the server may only reach DNS, HTTPS and what is allowed below." }),
            true,
          ),
          allowEgressTo: optional(
            array(
              object({
                cidr,
                port: optional(integer({ description: "The port.", minimum: 1, maximum: 65535, format: "int32" })),
                protocol: optional(oneOf(["TCP", "UDP"], { description: "The protocol." })),
              }),
              { description: "What the server may reach besides." },
            ),
          ),
        },
        { description: "Who may speak to the server, and to whom it may speak." },
      ),
    ),
  },
  { description: "How the network is restricted." },
);

export const storage = object(
  {
    size: defaulted(
      string({
        description: "The size of the world's volume, such as 20Gi. It can grow where the storage class allows it.",
        pattern: "^[0-9]+(\\.[0-9]+)?([eE][0-9]+|[KMGTPE]i?|[mk])?$",
        maxLength: 32,
      }),
      "10Gi",
    ),
    storageClassName: optional(string({ description: "The storage class; the cluster's default otherwise." })),
  },
  { description: "The volume that the world lives on." },
);

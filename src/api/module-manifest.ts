/** A module of a game: what it offers to other modules and what it needs from them. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import { anyObject, array, integer, map, object, oneOf, optional, string } from "../kube/schema/build.ts";
import { age } from "./columns.ts";
import { conditions, observedGeneration, type ReasonOf } from "./condition.ts";
import {
  capabilityId,
  constraintModes,
  dependencyModes,
  determinisms,
  gameGroup,
  gameVersion,
  latency,
  multiplicity,
  scope,
  semver,
  tickRateHz,
} from "./game-vocabulary.ts";

export const modulePhases = ["Pending", "Resolved", "Error"] as const;
export type ModulePhase = (typeof modulePhases)[number];

export const moduleConditions = {
  Resolved: ["AllResolved", "NotUsed", "DuplicateRequirement", "InvalidSemverConstraint", "UnresolvedRequired"],
} as const;
export type ModuleReason = ReasonOf<typeof moduleConditions>;

const module = object(
  {
    id: string({ description: "The module's own identifier, independent of this object's name.", minLength: 1 }),
    version: semver("The version of the module."),
    description: optional(string({ description: "What the module does, for people." })),
    owners: optional(array(string(), { description: "Who looks after the module." })),
    repo: optional(string({ description: "Where its source is." })),
    license: optional(string({ description: "The licence that it comes under." })),
  },
  { description: "What the module is." },
);

const grpcInterface = object({
  package: string({ description: "The protobuf package." }),
  service: string({ description: "The gRPC service." }),
  protoRef: string({ description: "Where the .proto file is." }),
  methods: optional(
    array(
      object({
        name: optional(string({ description: "The name of the method." })),
        request: optional(string({ description: "The message that it takes." })),
        response: optional(string({ description: "The message that it answers with." })),
      }),
      { description: "The methods of the service that belong to the capability." },
    ),
  ),
});

const eventInterface = object({
  name: string({ description: "The name of the event." }),
  direction: oneOf(["publish", "subscribe", "both"], {
    description: "Whether the module sends it, receives it, or both.",
  }),
  schema: object(
    {
      id: string({ description: "The identifier of the event's schema." }),
      version: semver("The version of the event's schema."),
      format: oneOf(["protobuf", "json", "avro"], { description: "How the event is written on the wire." }),
      schemaRef: string({ description: "Where the schema is." }),
    },
    { description: "The schema of the event." },
  ),
  orderingKey: optional(string({ description: "Events with the same value of this field keep their order." })),
});

const provided = object({
  capabilityId: capabilityId("The capability that is offered."),
  version: semver("The version of the capability that is offered."),
  scope: scope("How far one instance of the capability reaches. Only requirements of the same scope are bound to it."),
  multiplicity: multiplicity('How many consumers it serves: "1", or many for a pool.'),
  features: optional(
    object(
      { supported: optional(array(string(), { description: "The optional features that this provider has." })) },
      { description: "Optional features of the capability." },
    ),
  ),
  nfr: optional(
    object(
      {
        latency: optional(latency("The latency that the provider promises.")),
        tickRateHz: optional(tickRateHz("The tick rate that the provider promises.")),
        determinism: optional(
          object(
            {
              value: optional(oneOf(determinisms, { description: "Whether the same inputs give the same results." })),
              constraint: optional(oneOf(constraintModes, { description: "How strictly the promise is meant." })),
            },
            { description: "The determinism that the provider promises." },
          ),
        ),
      },
      { description: "What the provider promises besides its function." },
    ),
  ),
  interfaces: optional(
    object(
      {
        grpc: optional(array(grpcInterface, { description: "gRPC services that make up the capability." })),
        events: optional(array(eventInterface, { description: "Events that make up the capability." })),
      },
      { description: "How the capability is spoken to." },
    ),
  ),
});

const required = object({
  capabilityId: capabilityId("The capability that is needed."),
  versionConstraint: string({
    description: "The versions that will do, such as ^1.2.0, >=1.0 <3 or 1.x || 2.x.",
    minLength: 1,
  }),
  scope: scope("The scope in which it is needed. Only providers of the same scope are considered."),
  multiplicity: multiplicity('"1" binds one provider; many binds every compatible provider that serves many.'),
  dependencyMode: oneOf(dependencyModes, {
    description: "required keeps the world from running until it is bound; optional only leaves a note.",
  }),
  features: optional(
    object(
      {
        required: optional(array(string(), { description: "Features that a provider must support." })),
        preferred: optional(
          array(string(), { description: "Features that are welcome; they never change the choice." }),
        ),
      },
      { description: "Optional features of the capability that matter to this module." },
    ),
  ),
  nfr: optional(
    object(
      {
        latency: optional(latency("The latency that the module needs.")),
        tickRateHz: optional(tickRateHz("The tick rate that the module needs.")),
      },
      { description: "What the module needs besides the function." },
    ),
  ),
});

const scaling = object(
  {
    defaultScope: scope("The scope that one instance of the module serves."),
    statefulness: oneOf(["stateless", "stateful"], { description: "Whether instances keep state." }),
    sharding: optional(
      object(
        {
          strategy: optional(
            oneOf(["none", "world", "world-shard", "session", "custom"], { description: "What one shard stands for." }),
          ),
          key: optional(string({ description: "The key that decides the shard, for a custom strategy." })),
        },
        { description: "How the module is divided." },
      ),
    ),
    autoscaling: optional(
      object(
        {
          minReplicas: optional(integer({ description: "Never fewer instances than this.", minimum: 0 })),
          maxReplicas: optional(integer({ description: "Never more instances than this.", minimum: 0 })),
          metricHints: optional(
            array(
              object({
                type: optional(
                  oneOf(["cpu", "memory", "rps", "tick-lag", "custom"], { description: "What to measure." }),
                ),
                target: optional(string({ description: "The value to hold." })),
              }),
              { description: "What the author would scale on." },
            ),
          ),
        },
        { description: "The bounds within which the number of instances may move." },
      ),
    ),
  },
  { description: "How instances of the module are counted and divided." },
);

const runtime = object(
  {
    image: optional(string({ description: "The container image." })),
    port: optional(integer({ description: "The port on which the module listens.", minimum: 1, maximum: 65535 })),
    command: optional(array(string(), { description: "The command, instead of the image's own." })),
    args: optional(array(string(), { description: "The arguments of the command." })),
    env: optional(map(string(), { description: "Environment variables." })),
    terminationGracePeriodSeconds: optional(
      integer({ description: "How long the module may take to stop.", minimum: 0, format: "int64" }),
    ),
    preStopCommand: optional(string({ description: "Run in the container before it is stopped." })),
  },
  { description: "How the module is run." },
);

export const ModuleManifest = defineKind({
  group: gameGroup,
  version: gameVersion,
  kind: "ModuleManifest",
  plural: "modulemanifests",
  shortNames: ["mm"],
  categories: ["capstan"],
  description: "A module of a game: the capabilities that it provides to other modules and those that it requires.",
  spec: object(
    {
      module,
      provides: array(provided, { description: "The capabilities that the module offers." }),
      requires: array(required, { description: "The capabilities that the module needs." }),
      scaling,
      scheduling: optional(
        anyObject({
          description:
            "Where instances may run: affinity, tolerations, nodeSelector and priorityClassName, as in a Pod.",
        }),
      ),
      runtime: optional(runtime),
    },
    { description: "What the module offers and needs." },
  ),
  status: object(
    {
      observedGeneration,
      phase: optional(
        oneOf(modulePhases, {
          description:
            "Resolved when every world that uses the module has its requirements bound, Error when one has not, Pending while no world uses it.",
        }),
      ),
      message: optional(string({ description: "The state in one sentence." })),
      unresolvedRequires: optional(
        array(
          object({
            capabilityId: string({ description: "The capability that could not be bound." }),
            reason: optional(string({ description: "Why not." })),
            scope: optional(scope("The scope in which it is required.")),
            worlds: optional(array(string(), { description: "The worlds in which it is missing." })),
          }),
          { description: "The requirements that some world could not bind." },
        ),
      ),
      conditions: optional(conditions()),
    },
    { description: "How the module fares in the worlds that use it." },
  ),
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Module", type: "string", jsonPath: ".spec.module.id" },
    { name: "Version", type: "string", jsonPath: ".spec.module.version" },
    age,
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
  ],
  conditions: moduleConditions,
});
export type ModuleManifest = ResourceOf<typeof ModuleManifest>;

export type Provided = ModuleManifest["spec"]["provides"][number];
export type Requirement = ModuleManifest["spec"]["requires"][number];

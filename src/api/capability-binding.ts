/** The decision that one consumer in one world uses one provider, and where that provider is. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import { array, dateTime, integer, object, oneOf, optional, string } from "../kube/schema/build.ts";
import { age } from "./columns.ts";
import { conditions, observedGeneration, type ReasonOf } from "./condition.ts";
import {
  capabilityId,
  dependencyModes,
  gameGroup,
  gameVersion,
  multiplicity,
  scope,
  semver,
} from "./game-vocabulary.ts";
import { nameReference } from "./reference.ts";

export const bindingPhases = ["Pending", "Bound", "Error"] as const;
export type BindingPhase = (typeof bindingPhases)[number];

export const bindingConditions = {
  Bound: [
    "EndpointDeclared",
    "ServiceTargetHealthy",
    "ServiceFound",
    "EndpointUnknown",
    "ServiceTargetsUnhealthy",
    "EndpointInvalid",
    "ProviderNotFound",
  ],
} as const;
export type BindingReason = ReasonOf<typeof bindingConditions>;

const endpoint = object(
  {
    type: optional(
      oneOf(["kubernetesService", "url"], { description: "Whether the value names a Service or is a URL." }),
    ),
    value: optional(string({ description: "The name of the Service (name or name.namespace), or the URL." })),
    port: optional(integer({ description: "The port, when the value does not say it.", minimum: 1, maximum: 65535 })),
  },
  { description: "Where the provider can be reached." },
);

export const CapabilityBinding = defineKind({
  group: gameGroup,
  version: gameVersion,
  kind: "CapabilityBinding",
  plural: "capabilitybindings",
  shortNames: ["capbind"],
  categories: ["capstan"],
  description: "Binds one requirement of a module, in one world, to the module that provides it.",
  spec: object(
    {
      capabilityId: capabilityId("The capability that is bound."),
      scope: scope("The scope that requirement and provider share."),
      multiplicity: multiplicity("The multiplicity that the requirement asked for."),
      worldRef: optional(nameReference("The world for which the binding holds.")),
      consumer: object(
        {
          moduleManifestName: string({ description: "The ModuleManifest that has the requirement.", minLength: 1 }),
          requirement: optional(
            object(
              {
                versionConstraint: optional(string({ description: "The versions that the consumer accepts." })),
                dependencyMode: optional(
                  oneOf(dependencyModes, { description: "Whether the consumer can do without it." }),
                ),
                requiredFeatures: optional(
                  array(string(), { description: "Features that the provider had to support." }),
                ),
                preferredFeatures: optional(array(string(), { description: "Features that would have been welcome." })),
              },
              { description: "The requirement as it stood when the binding was made." },
            ),
          ),
        },
        { description: "Who uses the capability." },
      ),
      provider: object(
        {
          moduleManifestName: string({ description: "The ModuleManifest that provides the capability.", minLength: 1 }),
          capabilityVersion: optional(semver("The version of the capability that was chosen.")),
          endpoint: optional(endpoint),
        },
        { description: "Who provides the capability." },
      ),
    },
    { description: "Who uses what from whom." },
  ),
  status: object(
    {
      observedGeneration,
      phase: optional(
        oneOf(bindingPhases, { description: "Pending until the provider's endpoint is known, then Bound." }),
      ),
      message: optional(string({ description: "Where the endpoint comes from, or what it waits for." })),
      provider: optional(
        object({ endpoint: optional(endpoint) }, { description: "What is known of the provider beyond the spec." }),
      ),
      resolvedEndpoint: optional(string({ description: "Where the consumer reaches the provider, as host:port." })),
      lastResolvedTime: optional(dateTime({ description: "When the endpoint last changed." })),
      conditions: optional(conditions()),
    },
    { description: "Where the provider is right now." },
  ),
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Capability", type: "string", jsonPath: ".spec.capabilityId" },
    { name: "Scope", type: "string", jsonPath: ".spec.scope" },
    { name: "Provider", type: "string", jsonPath: ".spec.provider.moduleManifestName" },
    { name: "Consumer", type: "string", jsonPath: ".spec.consumer.moduleManifestName" },
    { name: "World", type: "string", jsonPath: ".spec.worldRef.name" },
    age,
    { name: "Endpoint", type: "string", jsonPath: ".status.resolvedEndpoint", priority: 1 },
  ],
  conditions: bindingConditions,
});
export type CapabilityBinding = ResourceOf<typeof CapabilityBinding>;

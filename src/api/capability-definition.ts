/** The public description of a capability, shared by all namespaces. No controller decides from it. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import { array, number, object, oneOf, optional, string } from "../kube/schema/build.ts";
import { age } from "./columns.ts";
import { conditions, observedGeneration } from "./condition.ts";
import { capabilityId, determinisms, gameGroup, gameVersion, multiplicity, scope, semver } from "./game-vocabulary.ts";

export const capabilityPhases = ["Active", "Deprecated", "Retired"] as const;
export type CapabilityPhase = (typeof capabilityPhases)[number];

export const CapabilityDefinition = defineKind({
  group: gameGroup,
  version: gameVersion,
  kind: "CapabilityDefinition",
  plural: "capabilitydefinitions",
  scope: "Cluster",
  shortNames: ["capdef"],
  categories: ["capstan"],
  description: "The public description of a capability: its versions, scopes, features and contract.",
  spec: object(
    {
      capabilityId: capabilityId("The capability that is described."),
      latestVersion: semver("The newest version of the capability."),
      versions: optional(array(string(), { description: "All versions that are known." })),
      scopes: array(scope("A scope."), {
        description: "The scopes in which the capability can be offered.",
        minItems: 1,
      }),
      multiplicity: multiplicity("How many consumers one provider usually serves."),
      features: optional(
        object(
          {
            defined: optional(
              array(
                object({
                  name: string({ description: "The name of the feature." }),
                  stability: oneOf(["experimental", "stable", "deprecated"], { description: "How settled it is." }),
                  description: optional(string({ description: "What the feature does." })),
                }),
                { description: "Every feature that a provider may support." },
              ),
            ),
          },
          { description: "Optional features of the capability." },
        ),
      ),
      contractRef: optional(
        object(
          {
            kind: optional(oneOf(["CapabilityContract"], { description: "The kind of the contract." })),
            name: optional(string({ description: "The name of the contract." })),
          },
          { description: "The contract that providers and consumers keep." },
        ),
      ),
      nfrDefaults: optional(
        object(
          {
            tickRateHz: optional(number({ description: "Ticks per second.", minimum: 0 })),
            latencyP95Ms: optional(
              number({ description: "The latency in milliseconds that 95 of 100 calls stay under.", minimum: 0 }),
            ),
            determinism: optional(
              oneOf(determinisms, { description: "Whether the same inputs give the same results." }),
            ),
          },
          { description: "What one may expect of a provider that says nothing else." },
        ),
      ),
    },
    { description: "What the capability is." },
  ),
  status: object(
    {
      observedGeneration,
      phase: optional(oneOf(capabilityPhases, { description: "Whether the capability should still be used." })),
      message: optional(string({ description: "The state in one sentence." })),
      conditions: optional(conditions()),
    },
    { description: "The standing of the capability." },
  ),
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Capability", type: "string", jsonPath: ".spec.capabilityId" },
    { name: "Latest", type: "string", jsonPath: ".spec.latestVersion" },
    { name: "Multiplicity", type: "string", jsonPath: ".spec.multiplicity" },
    age,
  ],
});
export type CapabilityDefinition = ResourceOf<typeof CapabilityDefinition>;

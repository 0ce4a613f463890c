/** A world: one running instance of a game, for which bindings are computed. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import { array, defaulted, integer, map, object, oneOf, optional, string } from "../kube/schema/build.ts";
import { age, conditionColumn } from "./columns.ts";
import { type ConditionTypeOf, conditions, observedGeneration, type ReasonOf } from "./condition.ts";
import { gameGroup, gameVersion } from "./game-vocabulary.ts";
import { nameReference } from "./reference.ts";

export const worldPhases = ["Pending", "Provisioning", "Running", "Stopped", "Error"] as const;
export type WorldPhase = (typeof worldPhases)[number];

export const desiredStates = ["Running", "Stopped"] as const;
export type DesiredState = (typeof desiredStates)[number];

export const worldConditions = {
  ModulesResolved: ["ModulesLoaded", "GameDefinitionNotFound", "ModuleManifestNotFound"],
  BindingsResolved: [
    "AllResolved",
    "GameDefinitionNotFound",
    "ModuleManifestNotFound",
    "DuplicateRequirement",
    "InvalidSemverConstraint",
    "UnresolvedRequired",
    "BindingsRefused",
  ],
  BindingsFrozen: ["UpToDate", "NewerProviderAvailable"],
} as const;
export type WorldConditionType = ConditionTypeOf<typeof worldConditions>;
export type WorldReason<T extends WorldConditionType = WorldConditionType> = ReasonOf<typeof worldConditions, T>;

/** The reasons of the events that a world gets. */
export const worldEvents = [
  "BindingsResolved",
  "BindingsApplied",
  "UnresolvedBindings",
  "InvalidSemverConstraint",
  "DuplicateRequirement",
  "GameDefinitionNotFound",
  "ModuleManifestNotFound",
  "NewerProviderAvailable",
] as const;
export type WorldEvent = (typeof worldEvents)[number];

export const WorldInstance = defineKind({
  group: gameGroup,
  version: gameVersion,
  kind: "WorldInstance",
  plural: "worldinstances",
  shortNames: ["world"],
  categories: ["capstan"],
  description: "A world of a game. Every requirement of the game's modules is bound to a provider for each world.",
  spec: object(
    {
      gameRef: nameReference("The GameDefinition that this is a world of."),
      worldId: string({ description: "The world's own identifier, independent of this object's name.", minLength: 1 }),
      region: string({ description: "The region in which the world lives.", minLength: 1 }),
      shardCount: integer({ description: "The number of shards that the world is divided into.", minimum: 1 }),
      desiredState: defaulted(
        oneOf(desiredStates, { description: "Stopped keeps the bindings as they are and computes no new ones." }),
        "Running",
      ),
      parameters: optional(map(string(), { description: "Settings of this world." })),
      realmRef: optional(nameReference("The realm that the world belongs to.")),
    },
    { description: "Which game the world is of, and where it lives." },
  ),
  status: object(
    {
      observedGeneration,
      phase: optional(oneOf(worldPhases, { description: "Running only when every required requirement is bound." })),
      message: optional(string({ description: "The state in one sentence: what is missing, and for whom." })),
      shardStatuses: optional(
        array(
          object({
            shardId: optional(integer({ description: "The number of the shard." })),
            phase: optional(oneOf(["Pending", "Running", "Error"], { description: "The state of the shard." })),
            endpoints: optional(array(string(), { description: "Where the shard can be reached." })),
          }),
          { description: "The state of each shard." },
        ),
      ),
      conditions: optional(conditions()),
    },
    { description: "Whether the world has all that its modules need." },
  ),
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Game", type: "string", jsonPath: ".spec.gameRef.name" },
    { name: "Region", type: "string", jsonPath: ".spec.region" },
    { name: "Shards", type: "integer", jsonPath: ".spec.shardCount" },
    conditionColumn("Resolved", "BindingsResolved"),
    age,
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
  ],
  selectableFields: [".spec.gameRef.name"],
  conditions: worldConditions,
});
export type WorldInstance = ResourceOf<typeof WorldInstance>;

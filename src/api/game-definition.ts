/** A game: the modules that take part in every world of it. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import {
  array,
  boolean,
  defaulted,
  integer,
  map,
  number,
  object,
  oneOf,
  optional,
  string,
} from "../kube/schema/build.ts";
import { age } from "./columns.ts";
import { conditions, observedGeneration, type ReasonOf } from "./condition.ts";
import { gameGroup, gameVersion, scope, semver } from "./game-vocabulary.ts";

export const gamePhases = ["Pending", "Valid", "Error"] as const;
export type GamePhase = (typeof gamePhases)[number];

export const moduleStates = ["Found", "Missing", "Invalid"] as const;
export type ModuleState = (typeof moduleStates)[number];

export const gameConditions = {
  ModulesResolved: ["ModulesLoaded", "ModuleManifestNotFound", "ModuleManifestInvalid"],
} as const;
export type GameReason = ReasonOf<typeof gameConditions>;

export const GameDefinition = defineKind({
  group: gameGroup,
  version: gameVersion,
  kind: "GameDefinition",
  plural: "gamedefinitions",
  shortNames: ["game"],
  categories: ["capstan"],
  description: "A game: which modules take part in every world that is created of it.",
  spec: object(
    {
      gameId: string({ description: "The game's own identifier, independent of this object's name.", minLength: 1 }),
      version: semver("The version of the game."),
      description: optional(string({ description: "What the game is, for people." })),
      modules: array(
        object({
          name: string({ description: "The name of a ModuleManifest in this namespace.", minLength: 1 }),
          required: defaulted(
            boolean({
              description: "Whether a world fails when the module's manifest is missing; otherwise it does without.",
            }),
            true,
          ),
          desiredScope: optional(scope("The scope in which the game wants the module to run.")),
          parameters: optional(map(string(), { description: "Settings that the game passes to the module." })),
        }),
        { description: "The modules of the game.", minItems: 1 },
      ),
      colocation: optional(
        array(
          object({
            name: string({ description: "The name of the group." }),
            modules: array(string(), { description: "The modules that belong together." }),
            strategy: oneOf(["Node", "Pod"], { description: "Whether they share a node or a pod." }),
          }),
          { description: "Modules that should run close to each other." },
        ),
      ),
      defaults: optional(
        object(
          {
            region: optional(string({ description: "The region of a world that names none." })),
            shardCount: optional(integer({ description: "The number of shards of a world.", minimum: 1 })),
            tickRateHz: optional(number({ description: "Ticks per second.", minimum: 0 })),
          },
          { description: "What worlds of this game start from." },
        ),
      ),
    },
    { description: "The modules of the game and how they belong together." },
  ),
  status: object(
    {
      observedGeneration,
      phase: optional(
        oneOf(gamePhases, { description: "Valid when every required module is there, Error when one is missing." }),
      ),
      message: optional(string({ description: "The state in one sentence." })),
      resolvedModules: optional(
        array(
          object({
            name: string({ description: "The name of the ModuleManifest." }),
            status: oneOf(moduleStates, { description: "Whether it was found and can be used." }),
            reason: optional(string({ description: "Why it cannot be used." })),
          }),
          { description: "What became of each module." },
        ),
      ),
      conditions: optional(conditions()),
    },
    { description: "Whether the game's modules are there." },
  ),
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Game", type: "string", jsonPath: ".spec.gameId" },
    { name: "Version", type: "string", jsonPath: ".spec.version" },
    age,
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
  ],
  conditions: gameConditions,
});
export type GameDefinition = ResourceOf<typeof GameDefinition>;

export type GameModule = GameDefinition["spec"]["modules"][number];

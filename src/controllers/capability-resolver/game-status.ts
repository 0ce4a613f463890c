import { GameDefinition, type GamePhase, type GameReason, type ModuleState } from "../../api/game-definition.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { setCondition } from "../../kube/condition.ts";
import { type Controller, defineController, index, watch } from "../../runtime/controller.ts";
import { generationChanged } from "../../runtime/predicates.ts";
import { gamesOfModule, keyOf } from "./observe.ts";
import { requirementKey } from "./resolution.ts";
import { readConstraint } from "./rules.ts";

/** Tells on each GameDefinition which of its modules are there and can be used. */
export const gameStatus: Controller = defineController({
  name: "game-status",
  reconciles: GameDefinition,
  predicates: [generationChanged],
  watches: [
    watch(ModuleManifest, {
      map: (module, read) => gamesOfModule(module, read).map(keyOf),
      predicates: [generationChanged],
    }),
  ],
  indexes: [
    index(GameDefinition, "module", ({ metadata, spec }) =>
      spec.modules.map(({ name }) => `${metadata.namespace}/${name}`),
    ),
  ],
  observe: (game, { read }) => ({
    game,
    manifests: game.spec.modules.map(({ name }) =>
      read.get(ModuleManifest, { namespace: game.metadata.namespace ?? "", name }),
    ),
  }),
  evaluate: judgeGame,
  reduce: ({ object, decision, now }) => {
    const { phase, message, reason, modules } = decision;
    const status = phase === "Valid" ? "True" : "False";
    const generation = object.metadata.generation;
    const observed = generation === undefined ? {} : { observedGeneration: generation };
    const conditions = setCondition(
      object.status?.conditions,
      { type: "ModulesResolved", status, reason, message, ...observed },
      now,
    );
    return { status: { ...object.status, ...observed, phase, message, resolvedModules: modules, conditions } };
  },
});

export interface GameVerdict {
  readonly phase: GamePhase;
  readonly message: string;
  readonly reason: GameReason;
  readonly modules: readonly { readonly name: string; readonly status: ModuleState; readonly reason?: string }[];
}

export function judgeGame({
  game,
  manifests,
}: {
  readonly game: GameDefinition;
  readonly manifests: readonly (ModuleManifest | undefined)[];
}): GameVerdict {
  const modules = game.spec.modules.map(({ name }, position) => judgeModule(name, manifests[position]));
  const isRequired = (position: number): boolean => game.spec.modules[position]?.required !== false;
  const named = (status: ModuleState): string[] =>
    modules
      .filter((module, position) => module.status === status && isRequired(position))
      .map(({ name }) => name)
      .sort();
  const missing = named("Missing");
  if (missing.length > 0) {
    return {
      phase: "Error",
      reason: "ModuleManifestNotFound",
      message: `ModuleManifestNotFound: ${missing.join(", ")}`,
      modules,
    };
  }
  const invalid = named("Invalid");
  if (invalid.length > 0) {
    return {
      phase: "Error",
      reason: "ModuleManifestInvalid",
      message: `ModuleManifestInvalid: ${invalid.join(", ")}`,
      modules,
    };
  }
  return { phase: "Valid", reason: "ModulesLoaded", message: "Every required module of the game was found", modules };
}

function judgeModule(name: string, manifest: ModuleManifest | undefined): GameVerdict["modules"][number] {
  if (!manifest) return { name, status: "Missing", reason: `there is no ModuleManifest ${name}` };
  const seen = new Map<string, number>();
  for (const [position, requirement] of manifest.spec.requires.entries()) {
    const constraint = readConstraint(requirement.versionConstraint);
    if (!constraint.ok) {
      return {
        name,
        status: "Invalid",
        reason: `spec.requires[${position}].versionConstraint, column ${constraint.column}: ${constraint.message}`,
      };
    }
    const key = requirementKey(requirement);
    const first = seen.get(key);
    if (first !== undefined) {
      return {
        name,
        status: "Invalid",
        reason: `spec.requires[${first}] and spec.requires[${position}] are the same requirement`,
      };
    }
    seen.set(key, position);
  }
  return { name, status: "Found" };
}

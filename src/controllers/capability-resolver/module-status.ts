import { GameDefinition } from "../../api/game-definition.ts";
import { ModuleManifest, type ModulePhase, type ModuleReason } from "../../api/module-manifest.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { setCondition } from "../../kube/condition.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { type Controller, defineController, watch } from "../../runtime/controller.ts";
import { generationChanged } from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";
import { gamesOfModule, indexes, keyOf } from "./observe.ts";
import type { Resolution, ResolvedRequirement } from "./resolution.ts";
import { createResolutionMemo } from "./resolution-memo.ts";
import { unresolvedReason } from "./verdict.ts";

/** Tells on each ModuleManifest how its requirements fare in all worlds that use it. */
export function moduleStatus(): Controller {
  const resolve = createResolutionMemo();
  return defineController({
    name: "module-status",
    reconciles: ModuleManifest,
    predicates: [generationChanged],
    watches: [
      watch(WorldInstance, { map: modulesOfWorld, predicates: [generationChanged] }),
      watch(GameDefinition, { map: modulesOfGame, predicates: [generationChanged] }),
      watch(ModuleManifest, {
        map: (module, read) => gamesOfModule(module, read).flatMap(modulesOfGame),
        predicates: [generationChanged],
      }),
    ],
    indexes,
    observe: (module, { read }) => ({
      module,
      uses: gamesOfModule(module, read).map((game) => ({
        resolution: resolve(game, (name) =>
          read.get(ModuleManifest, { namespace: game.metadata.namespace ?? "", name }),
        ),
        worlds: read
          .byIndex(WorldInstance, "game", `${game.metadata.namespace}/${game.metadata.name}`)
          .map(({ metadata }) => metadata.name),
      })),
    }),
    evaluate: judgeModule,
    reduce: ({ object, decision, now }) => {
      const { phase, message, reason, unresolved } = decision;
      const generation = object.metadata.generation;
      const observed = generation === undefined ? {} : { observedGeneration: generation };
      const status = phase === "Resolved" ? "True" : phase === "Pending" ? "Unknown" : "False";
      const conditions = setCondition(
        object.status?.conditions,
        { type: "Resolved", status, reason, message, ...observed },
        now,
      );
      return { status: { ...object.status, ...observed, phase, message, unresolvedRequires: unresolved, conditions } };
    },
  });
}

export interface ModuleUse {
  readonly resolution: Resolution;
  readonly worlds: readonly string[];
}

export interface ModuleVerdict {
  readonly phase: ModulePhase;
  readonly reason: ModuleReason;
  readonly message: string;
  readonly unresolved: NonNullable<NonNullable<ModuleManifest["status"]>["unresolvedRequires"]>;
}

export function judgeModule({
  module,
  uses,
}: {
  readonly module: ModuleManifest;
  readonly uses: readonly ModuleUse[];
}): ModuleVerdict {
  const worlds = new Set(uses.flatMap((use) => use.worlds));
  if (worlds.size === 0)
    return { phase: "Pending", reason: "NotUsed", message: "No world uses this module yet", unresolved: [] };
  const troubles = module.spec.requires.flatMap((requirement, position) => {
    const affected = uses
      .filter((use) => use.worlds.length > 0)
      .flatMap((use) => troubleOf(use, module.metadata.name, position));
    if (affected.length === 0) return [];
    const names = [...new Set(affected.flatMap((trouble) => trouble.worlds))].sort();
    return [
      {
        requirement,
        reason: affected[0]?.reason ?? "",
        code: affected[0]?.code ?? "UnresolvedRequired",
        worlds: names,
      },
    ];
  });
  const unresolved = troubles.map(({ requirement, reason, worlds: names }) => ({
    capabilityId: requirement.capabilityId,
    scope: requirement.scope,
    reason,
    worlds: names,
  }));
  const blocking = troubles.filter(
    ({ requirement, code }) => code !== "UnresolvedRequired" || requirement.dependencyMode === "required",
  );
  const first = precedence.find((code) => blocking.some((trouble) => trouble.code === code));
  const used = `${worlds.size} ${worlds.size === 1 ? "world uses" : "worlds use"} this module`;
  if (!first)
    return {
      phase: "Resolved",
      reason: "AllResolved",
      message: `${used}; every required requirement is bound`,
      unresolved,
    };
  const sentences = blocking.map(({ requirement, reason }) => `${requirement.capabilityId} (${reason})`).join("; ");
  return { phase: "Error", reason: first, message: `${used}; not bound: ${sentences}`, unresolved };
}

const precedence = ["InvalidSemverConstraint", "DuplicateRequirement", "UnresolvedRequired"] as const;

interface Trouble {
  readonly code: (typeof precedence)[number];
  readonly reason: string;
  readonly worlds: readonly string[];
}

function troubleOf({ resolution, worlds }: ModuleUse, consumer: string, position: number): Trouble[] {
  const resolved = resolution.requirements.find((entry) => entry.consumer === consumer && entry.index === position);
  const trouble = resolved && describe(resolved);
  return trouble ? [{ ...trouble, worlds }] : [];
}

function describe(resolved: ResolvedRequirement): Omit<Trouble, "worlds"> | undefined {
  const { outcome } = resolved;
  switch (outcome.kind) {
    case "Bound":
      return undefined;
    case "Unresolved":
      return { code: "UnresolvedRequired", reason: unresolvedReason(resolved) };
    case "InvalidConstraint":
      return {
        code: "InvalidSemverConstraint",
        reason: `versionConstraint, column ${outcome.column}: ${outcome.message}`,
      };
    case "Duplicate":
      return {
        code: "DuplicateRequirement",
        reason: `stands at spec.requires[${outcome.firstIndex}] and spec.requires[${resolved.index}]`,
      };
  }
}

const modulesOfGame = ({ metadata, spec }: GameDefinition): readonly ObjectKey[] =>
  spec.modules.map(({ name }) => ({ namespace: metadata.namespace ?? "", name }));

function modulesOfWorld(world: WorldInstance, read: Read): readonly ObjectKey[] {
  const game = read.get(GameDefinition, { ...keyOf(world), name: world.spec.gameRef.name });
  return game ? modulesOfGame(game) : [];
}

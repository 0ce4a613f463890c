import { CapabilityBinding } from "../../api/capability-binding.ts";
import { GameDefinition } from "../../api/game-definition.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { type IndexDeclaration, index } from "../../runtime/controller.ts";
import type { Read } from "../../runtime/read.ts";
import type { Observation } from "./evaluate.ts";
import { createResolutionMemo } from "./resolution-memo.ts";

/** Indexes that make a change reach only the worlds that it concerns. */
export const indexes: readonly IndexDeclaration[] = [
  index(WorldInstance, "game", ({ metadata, spec }) => [`${metadata.namespace}/${spec.gameRef.name}`]),
  index(GameDefinition, "module", ({ metadata, spec }) =>
    spec.modules.map(({ name }) => `${metadata.namespace}/${name}`),
  ),
  index(CapabilityBinding, "world", ({ metadata, spec }) =>
    spec.worldRef ? [`${metadata.namespace}/${spec.worldRef.name}`] : [],
  ),
];

export function createObserve(): (world: WorldInstance, read: Read) => Observation {
  const resolve = createResolutionMemo();
  return (world, read) => {
    const { namespace = "", name } = world.metadata;
    const bindings = read.byIndex(CapabilityBinding, "world", `${namespace}/${name}`);
    const definition = read.get(GameDefinition, { namespace, name: world.spec.gameRef.name });
    if (!definition) return { world, bindings };
    const isHeldElsewhere = (binding: string): boolean => {
      const holder = read.get(CapabilityBinding, { namespace, name: binding });
      return holder !== undefined && holder.spec.worldRef?.name !== name;
    };
    const resolution = resolve(definition, (module) => read.get(ModuleManifest, { namespace, name: module }));
    return { world, bindings, isHeldElsewhere, game: { definition, resolution } };
  };
}

export function worldsOfGame(game: GameDefinition, read: Read): readonly ObjectKey[] {
  return read.byIndex(WorldInstance, "game", `${game.metadata.namespace}/${game.metadata.name}`).map(keyOf);
}

export function worldsOfModule(module: ModuleManifest, read: Read): readonly ObjectKey[] {
  return gamesOfModule(module, read).flatMap((game) => worldsOfGame(game, read));
}

export const gamesOfModule = ({ metadata }: ModuleManifest, read: Read): readonly GameDefinition[] =>
  read.byIndex(GameDefinition, "module", `${metadata.namespace}/${metadata.name}`);

export const worldOfBinding = ({ metadata, spec }: CapabilityBinding): readonly ObjectKey[] =>
  spec.worldRef ? [{ namespace: metadata.namespace ?? "", name: spec.worldRef.name }] : [];

export const keyOf = ({
  metadata,
}: {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}): ObjectKey => ({
  namespace: metadata.namespace ?? "",
  name: metadata.name,
});

import type { GameDefinition } from "../../api/game-definition.ts";
import type { ModuleManifest } from "../../api/module-manifest.ts";
import { type Resolution, resolveGame } from "./resolution.ts";

/**
 * Resolves each game once for all of its worlds. Cached objects are frozen and replaced when they change, so the same
 * game and the very same manifests give the same resolution.
 */
export function createResolutionMemo(): (
  game: GameDefinition,
  manifest: (name: string) => ModuleManifest | undefined,
) => Resolution {
  const known = new WeakMap<
    GameDefinition,
    { readonly manifests: readonly (ModuleManifest | undefined)[]; readonly resolution: Resolution }
  >();
  return (game, manifest) => {
    const manifests = game.spec.modules.map(({ name }) => manifest(name));
    const found = known.get(game);
    if (found?.manifests.every((module, index) => module === manifests[index])) return found.resolution;
    const byName = new Map(game.spec.modules.map(({ name }, index) => [name, manifests[index]]));
    const resolution = resolveGame(game, (name) => byName.get(name));
    known.set(game, { manifests, resolution });
    return resolution;
  };
}

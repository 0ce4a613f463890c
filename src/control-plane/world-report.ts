import { GameDefinition } from "../api/game-definition.ts";
import { ModuleManifest } from "../api/module-manifest.ts";
import { WorldInstance } from "../api/world-instance.ts";
import { reportWorld, type WorldReport } from "../controllers/capability-resolver/report.ts";
import type { Manager } from "../runtime/manager.ts";

/** The resolver's own words about a world, from the caches that it works with. */
export function worldReport(manager: Manager, namespace: string, name: string): WorldReport | undefined {
  const world = manager.informer(WorldInstance).cache.get({ namespace, name });
  if (!world) return undefined;
  const catalogue = {
    game: (_: string, game: string) => manager.informer(GameDefinition).cache.get({ namespace, name: game }),
    manifest: (_: string, module: string) => manager.informer(ModuleManifest).cache.get({ namespace, name: module }),
  };
  return reportWorld(world, catalogue).report;
}

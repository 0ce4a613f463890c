import type { Plugin } from "../../api/plugin.ts";
import { coversMinecraftVersion, type MinecraftVersion } from "../../versions/minecraft.ts";

/** What a repository said of one version of a plugin. */
export type AvailableVersion = NonNullable<NonNullable<Plugin["status"]>["availableVersions"]>[number];

/** Whether a version of a plugin runs on a Minecraft version, and on whose word. */
export type Fit = "Listed" | "Assumed" | "Overridden" | "Unsupported" | "Undecided";

export const fits = (fit: Fit): boolean => fit !== "Unsupported";

/** The rule `serverVersion ∈ minecraftVersions`; the same lists are asked for again and again, so answers are kept. */
export interface Compatibility {
  fitOf(plugin: Plugin, available: Pick<AvailableVersion, "minecraftVersions">, server: MinecraftVersion): Fit;
}

export function createCompatibility(): Compatibility {
  const known = new Map<string, boolean>();
  const covers = (entry: string, version: MinecraftVersion): boolean => {
    const key = `${entry}\n${version.text}`;
    const answer = known.get(key) ?? coversMinecraftVersion(entry, version);
    known.set(key, answer);
    return answer;
  };
  return {
    fitOf({ spec: { compatibilityOverride: override } }, { minecraftVersions }, server) {
      if (override?.enabled) {
        const list = override.minecraftVersions ?? [];
        return list.length === 0 || list.some((entry) => covers(entry, server)) ? "Overridden" : "Unsupported";
      }
      if (minecraftVersions.length === 0) return "Assumed";
      return minecraftVersions.some((entry) => covers(entry, server)) ? "Listed" : "Unsupported";
    },
  };
}

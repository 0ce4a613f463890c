import type { Env } from "../../env/env.ts";
import { isRelease, parseMinecraftVersion } from "../../versions/minecraft.ts";
import type { BaseUrls } from "./base-urls.ts";
import { imageTags } from "./docker-hub.ts";
import type { Outside } from "./outside.ts";
import { type PaperBuild, paperBuilds, paperVersions } from "./paper.ts";
import type { PaperCatalogue } from "./paper-facts.ts";

/** Servers ask for the same things at the same time, so one answer is shared for a short while. */
export interface Catalogue {
  /** The newest versions, and those that are asked for by name. */
  look(wanted: readonly string[], signal: AbortSignal): Promise<PaperCatalogue>;
}

const newestVersions = 24;
const sharedForMs = 60_000;

export function createCatalogue(env: Env, outside: Outside, { paper, dockerHub }: BaseUrls): Catalogue {
  const shared = new Map<string, { readonly value: Promise<unknown>; readonly untilMs: number }>();
  const share = <T>(key: string, make: () => Promise<T>): Promise<T> => {
    const known = shared.get(key);
    if (known && known.untilMs > env.monotonicMs()) return known.value as Promise<T>;
    const value = make();
    shared.set(key, { value, untilMs: env.monotonicMs() + sharedForMs });
    value.catch(() => shared.delete(key));
    return value;
  };
  return {
    async look(wanted, signal) {
      // A shared answer must not end with the first who asked for it, so it has its own time limits only.
      const [all, tags] = await Promise.all([
        share("versions", () => paperVersions(paper, outside)),
        share("tags", () => imageTags(dockerHub, outside)),
      ]);
      signal.throwIfAborted();
      const releases = all.filter((version) => isRelease(parseMinecraftVersion(version))).slice(0, newestVersions);
      const asked = all.filter((version) => releases.includes(version) || wanted.includes(version));
      const versions = await Promise.all(
        asked.map(
          async (version): Promise<{ version: string; builds: readonly PaperBuild[] }> => ({
            version,
            builds: await share(`builds ${version}`, () => paperBuilds(version, paper, outside)),
          }),
        ),
      );
      signal.throwIfAborted();
      return { versions, tags };
    },
  };
}

import { compareMinecraftVersions, parseMinecraftVersion } from "../../versions/minecraft.ts";
import { asCount, asList, asObject, asText, asTexts, asTime, mustBeList, mustBeObject } from "./json-reading.ts";
import { type Outside, OutsideError } from "./outside.ts";

/** One build of Paper, as PaperMC's downloads service has it. */
export interface PaperBuild {
  readonly build: number;
  readonly channel: string;
  readonly releasedAt?: string;
}

/** All versions, newest first. */
export async function paperVersions(
  baseUrl: string,
  outside: Outside,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const answer = mustBeObject(await outside.json(`${baseUrl}/v3/projects/paper`, signal ? { signal } : {}), "PaperMC");
  const groups = mustBeObject(answer["versions"], "PaperMC");
  const versions = [...new Set(Object.values(groups).flatMap(asTexts))];
  // Without a single one it is no answer, and what was known before is better.
  if (versions.length === 0) throw new OutsideError("Malformed", "PaperMC names no version of Paper");
  return versions.sort((a, b) => compareMinecraftVersions(parseMinecraftVersion(b), parseMinecraftVersion(a)));
}

/** The builds of a version, newest first by time; the service's own order means nothing here. */
export async function paperBuilds(
  version: string,
  baseUrl: string,
  outside: Outside,
  signal?: AbortSignal,
): Promise<readonly PaperBuild[]> {
  const url = `${baseUrl}/v3/projects/paper/versions/${encodeURIComponent(version)}/builds`;
  const entries = mustBeList(await outside.json(url, signal ? { signal } : {}), "PaperMC");
  const builds = asList(entries).flatMap((value): readonly PaperBuild[] => {
    const entry = asObject(value);
    const build = asCount(entry?.["id"]);
    if (!entry || build === undefined) return [];
    const releasedAt = asTime(entry["time"]);
    return [{ build, channel: asText(entry["channel"]) ?? "", ...(releasedAt !== undefined && { releasedAt }) }];
  });
  return builds.sort((a, b) => compareTimes(b.releasedAt, a.releasedAt) || b.build - a.build);
}

const compareTimes = (a: string | undefined, b: string | undefined): number => {
  if (a === undefined || b === undefined || a === b) return 0;
  return a < b ? -1 : 1;
};

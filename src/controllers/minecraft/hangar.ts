import {
  asCount,
  asList,
  asObject,
  asText,
  asTexts,
  asTime,
  type JsonObject,
  mustBeList,
  mustBeObject,
} from "./json-reading.ts";
import type { Outside } from "./outside.ts";
import { maxReleases, type PluginRelease } from "./plugin-release.ts";

/** Hangar, PaperMC's own repository. A project is its slug, or `owner/slug`. */
export async function hangarReleases(
  project: string,
  baseUrl: string,
  outside: Outside,
  signal?: AbortSignal,
): Promise<readonly PluginRelease[]> {
  const options = signal ? { signal } : {};
  const path = await projectPath(project, baseUrl, outside, options);
  const releases: PluginRelease[] = [];
  for (let offset = 0; offset < maxReleases; ) {
    const url = `${baseUrl}/projects/${path}/versions?limit=${pageSize}&offset=${offset}`;
    const page = mustBeObject(await outside.json(url, options), "Hangar");
    const results = mustBeList(page["result"], "Hangar");
    releases.push(...results.flatMap((entry) => releaseOf(asObject(entry), `${baseUrl}/projects/${path}`) ?? []));
    offset += results.length;
    const count = asCount(asObject(page["pagination"])?.["count"]) ?? 0;
    if (results.length === 0 || offset >= count) break;
  }
  return releases;
}

/** More than this is not answered. */
const pageSize = 25;

async function projectPath(
  project: string,
  baseUrl: string,
  outside: Outside,
  options: { signal?: AbortSignal },
): Promise<string> {
  const [owner, slug] = project.split("/", 2);
  if (slug !== undefined) return `${encodeURIComponent(owner ?? "")}/${encodeURIComponent(slug)}`;
  const found = mustBeObject(
    await outside.json(`${baseUrl}/projects/${encodeURIComponent(project)}`, options),
    "Hangar",
  );
  const namespace = mustBeObject(found["namespace"], "Hangar");
  return `${encodeURIComponent(asText(namespace["owner"]) ?? "")}/${encodeURIComponent(asText(namespace["slug"]) ?? project)}`;
}

function releaseOf(entry: JsonObject | undefined, projectUrl: string): PluginRelease | undefined {
  const version = asText(entry?.["name"]);
  if (!entry || version === undefined || version === "") return undefined;
  const visibility = asText(entry["visibility"]);
  if (visibility !== undefined && visibility !== "public") return undefined;
  const download = asObject(asObject(entry["downloads"])?.["PAPER"]);
  const platform = asTexts(asObject(entry["platformDependencies"])?.["PAPER"]);
  const isForPaper = download !== undefined || platform.length > 0 || entry["downloads"] === undefined;
  if (!isForPaper) return undefined;
  const games = asTexts(entry["gameVersions"]);
  const releasedAt = asTime(entry["createdAt"]);
  const channel = channelOf(asObject(entry["channel"]));
  const dependencies = asList(asObject(entry["pluginDependencies"])?.["PAPER"]).flatMap((value) => {
    const dependency = asObject(value);
    const project = asText(dependency?.["name"]);
    return project === undefined ? [] : [{ project, required: dependency?.["required"] === true }];
  });
  return {
    version,
    minecraftVersions: platform.length > 0 ? platform : games,
    downloadURL: downloadOf(download) ?? `${projectUrl}/versions/${encodeURIComponent(version)}/PAPER/download`,
    hash: asText(asObject(download?.["fileInfo"])?.["sha256Hash"]) ?? "",
    ...(releasedAt !== undefined && { releasedAt }),
    ...(channel !== undefined && { channel }),
    ...(dependencies.length > 0 && { dependencies }),
  };
}

/** An address on somebody else's site counts only when it leads to a file and not to a page about it. */
function downloadOf(download: JsonObject | undefined): string | undefined {
  const own = asText(download?.["downloadUrl"]);
  if (own !== undefined) return own;
  const external = asText(download?.["externalUrl"]);
  return external !== undefined && /\.(jar|zip|tar\.gz|tgz)$|\/download$/.test(external) ? external : undefined;
}

/** Projects name their channels as they like; a flag says which of them are not for everybody. */
function channelOf(channel: JsonObject | undefined): string | undefined {
  const name = asText(channel?.["name"]);
  if (name === undefined) return undefined;
  return asTexts(channel?.["flags"]).includes("UNSTABLE") && !/snapshot|alpha|beta|pre/i.test(name)
    ? `${name} (pre-release)`
    : name;
}

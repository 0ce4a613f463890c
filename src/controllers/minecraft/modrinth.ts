import { asList, asObject, asText, asTexts, asTime, type JsonObject, mustBeList } from "./json-reading.ts";
import type { Outside } from "./outside.ts";
import { maxReleases, type PluginRelease } from "./plugin-release.ts";

/** Modrinth. It names dependencies by id, which are turned into slugs and version numbers. */
export async function modrinthReleases(
  project: string,
  baseUrl: string,
  outside: Outside,
  signal?: AbortSignal,
): Promise<readonly PluginRelease[]> {
  const options = signal ? { signal } : {};
  const loaders = encodeURIComponent(JSON.stringify(paperLoaders));
  const url = `${baseUrl}/project/${encodeURIComponent(project)}/version?loaders=${loaders}`;
  const entries = mustBeList(await outside.json(url, options), "Modrinth")
    .slice(0, maxReleases)
    .flatMap(objectIn);
  const needed = entries.flatMap((entry) => dependenciesOf(entry));
  const slugs = await namesOf(
    "projects",
    needed.flatMap(({ projectId }) => projectId ?? []),
    "slug",
  );
  const numbers = await namesOf(
    "versions",
    needed.flatMap(({ versionId }) => versionId ?? []),
    "version_number",
  );
  return entries.flatMap((entry) => releaseOf(entry, slugs, numbers) ?? []);

  async function namesOf(kind: string, ids: readonly string[], field: string): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>();
    const distinct = [...new Set(ids)].sort();
    for (let start = 0; start < distinct.length; start += idsPerRequest) {
      const some = encodeURIComponent(JSON.stringify(distinct.slice(start, start + idsPerRequest)));
      for (const value of mustBeList(await outside.json(`${baseUrl}/${kind}?ids=${some}`, options), "Modrinth")) {
        const found = asObject(value);
        const [id, name] = [asText(found?.["id"]), asText(found?.[field])];
        if (id !== undefined && name !== undefined) names.set(id, name);
      }
    }
    return names;
  }
}

const objectIn = (value: unknown): readonly JsonObject[] => {
  const object = asObject(value);
  return object ? [object] : [];
};

const paperLoaders = ["paper", "spigot", "bukkit", "purpur", "folia"];
const idsPerRequest = 100;

interface Dependency {
  readonly projectId: string | undefined;
  readonly versionId: string | undefined;
  readonly required: boolean;
}

function dependenciesOf(entry: JsonObject): readonly Dependency[] {
  return asList(entry["dependencies"]).flatMap((value) => {
    const dependency = asObject(value);
    const type = asText(dependency?.["dependency_type"]);
    if (type !== "required" && type !== "optional") return [];
    return [
      {
        projectId: asText(dependency?.["project_id"]),
        versionId: asText(dependency?.["version_id"]),
        required: type === "required",
      },
    ];
  });
}

function releaseOf(
  entry: JsonObject,
  slugs: ReadonlyMap<string, string>,
  numbers: ReadonlyMap<string, string>,
): PluginRelease | undefined {
  const version = asText(entry["version_number"]);
  const status = asText(entry["status"]);
  if (version === undefined || (status !== undefined && status !== "listed" && status !== "archived")) return undefined;
  const files = asList(entry["files"]).flatMap(objectIn);
  const file = files.find((one) => one["primary"] === true) ?? files[0];
  const downloadURL = asText(file?.["url"]);
  if (downloadURL === undefined) return undefined;
  const sha512 = asText(asObject(file?.["hashes"])?.["sha512"]);
  const releasedAt = asTime(entry["date_published"]);
  const channel = asText(entry["version_type"]);
  const dependencies = dependenciesOf(entry).flatMap(({ projectId, versionId, required }) => {
    if (projectId === undefined) return [];
    const number = versionId === undefined ? undefined : numbers.get(versionId);
    return [{ project: slugs.get(projectId) ?? projectId, required, ...(number !== undefined && { version: number }) }];
  });
  return {
    version,
    minecraftVersions: asTexts(entry["game_versions"]),
    downloadURL,
    hash: sha512 === undefined ? "" : `sha512:${sha512}`,
    ...(releasedAt !== undefined && { releasedAt }),
    ...(channel !== undefined && { channel }),
    ...(dependencies.length > 0 && { dependencies }),
  };
}

import { asObject, asText, mustBeList, mustBeObject } from "./json-reading.ts";
import { type Outside, OutsideError } from "./outside.ts";

export const imageRepository = "lexfrei/papermc";

/** The tags of the image. Docker Hub says where the next page is; only its question is used, never its host. */
export async function imageTags(baseUrl: string, outside: Outside, signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const tags = new Set<string>();
  const path = `${baseUrl}/repositories/${imageRepository}/tags`;
  let query: string | undefined = "?page_size=100";
  for (let page = 0; query !== undefined && page < maxPages; page++) {
    const answer = mustBeObject(await outside.json(`${path}${query}`, signal ? { signal } : {}), "Docker Hub");
    for (const entry of mustBeList(answer["results"], "Docker Hub")) {
      const name = asText(asObject(entry)?.["name"]);
      if (name !== undefined) tags.add(name);
    }
    const next = asText(answer["next"]);
    query = next === undefined || !URL.canParse(next) ? undefined : new URL(next).search;
  }
  if (tags.size === 0) throw new OutsideError("Malformed", `Docker Hub names no tag of ${imageRepository}`);
  return tags;
}

const maxPages = 200;

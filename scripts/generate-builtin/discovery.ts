// What the real server's discovery says of each served kind: names, verbs, categories and sub-resources.
import type { RealServer } from "../cluster/api-server.ts";

interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export async function discoveryOf(server: RealServer, kinds: readonly string[]): Promise<readonly unknown[]> {
  const result: unknown[] = [];
  for (const name of kinds) {
    const [group = "", version = "", kind = ""] = name.split("/");
    const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const { resources } = (await server.call("GET", path)).json() as { resources: readonly ApiResource[] };
    const resource = resources.find((candidate) => candidate.kind === kind && !candidate.name.includes("/"));
    // Scale, Eviction and their like travel only through sub-resources.
    if (!resource) continue;
    result.push({
      group,
      version,
      kind,
      plural: resource.name,
      singular: resource.singularName,
      namespaced: resource.namespaced,
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      verbs: resource.verbs,
      subresources: resources
        .filter((candidate) => candidate.name.startsWith(`${resource.name}/`))
        .map((candidate) => ({
          name: candidate.name.slice(resource.name.length + 1),
          kind: candidate.kind,
          group: candidate.group ?? group,
          version: candidate.version ?? version,
          verbs: candidate.verbs,
        })),
    });
  }
  return result;
}

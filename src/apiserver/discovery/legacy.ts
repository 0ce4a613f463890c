import type { Endpoint } from "../endpoint.ts";
import type { DiscoveredGroup, DiscoveredVersion } from "./groups.ts";

/** Discovery as it always was: one document for the groups, one for the resources of each group and version. */
export function apiVersions(serverAddress: string): object {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

export function apiGroupList(groups: readonly DiscoveredGroup[]): object {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.filter(({ name }) => name !== "").map(groupBody) };
}

export const apiGroup = (group: DiscoveredGroup): object => ({
  kind: "APIGroup",
  apiVersion: "v1",
  ...groupBody(group),
});

function groupBody({ name, versions }: DiscoveredGroup): object {
  const all = versions.map(({ groupVersion, version }) => ({ groupVersion, version }));
  return { name, versions: all, preferredVersion: all[0] };
}

export function apiResourceList({ groupVersion, endpoints }: DiscoveredVersion): object {
  return {
    kind: "APIResourceList",
    ...(groupVersion !== "v1" && { apiVersion: "v1" }),
    groupVersion,
    resources: endpoints.flatMap(resourceEntries),
  };
}

function resourceEntries({ resource }: Endpoint): readonly object[] {
  const main = {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
    ...(resource.categories.length > 0 && { categories: resource.categories }),
  };
  const subresources = resource.subresources.map((subresource) => ({
    name: `${resource.plural}/${subresource.name}`,
    singularName: "",
    namespaced: resource.namespaced,
    ...((subresource.group !== resource.group || subresource.version !== resource.version) && {
      group: subresource.group,
      version: subresource.version,
    }),
    kind: subresource.kind,
    verbs: subresource.verbs,
  }));
  return [main, ...subresources];
}

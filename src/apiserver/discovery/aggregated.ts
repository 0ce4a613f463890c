import type { Endpoint } from "../endpoint.ts";
import type { DiscoveredGroup } from "./groups.ts";

/** Discovery in one answer. The real server leaves group and version of a built-in kind empty here; so do we. */
export function groupDiscoveryList(version: "v2" | "v2beta1", groups: readonly DiscoveredGroup[]): object {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? { creationTimestamp: null } : { name, creationTimestamp: null },
      versions: versions.map((served) => ({
        version: served.version,
        resources: served.endpoints.map(resourceDiscovery),
        freshness: "Current",
      })),
    })),
  };
}

function resourceDiscovery({ resource, isCustom }: Endpoint): object {
  const responseKind = (kind: string, group: string, version: string): object =>
    isCustom ? { group, version, kind } : { group: "", version: "", kind };
  return {
    resource: resource.plural,
    responseKind: responseKind(resource.kind, resource.group, resource.version),
    scope: resource.namespaced ? "Namespaced" : "Cluster",
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
    ...(resource.categories.length > 0 && { categories: resource.categories }),
    ...(resource.subresources.length > 0 && {
      subresources: resource.subresources.map(({ name, kind, group, version, verbs }) => ({
        subresource: name,
        // Unless it is of another group: kubectl must know that a Deployment's scale is a Scale of autoscaling/v1.
        responseKind:
          group === resource.group && version === resource.version
            ? responseKind(kind, group, version)
            : { group, version, kind },
        verbs,
      })),
    }),
  };
}

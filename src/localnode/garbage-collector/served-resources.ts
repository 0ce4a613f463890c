import type { Client } from "../../client/client.ts";
import type { KindRef } from "../../kube/kind.ts";

/** A collection that the API serves, in the version that it prefers. */
export interface ServedResource extends KindRef {
  readonly verbs: readonly string[];
}

/** Everything that the API serves now, each collection once. */
export async function servedResources(client: Client, signal?: AbortSignal): Promise<readonly ServedResource[]> {
  const roots = await Promise.all(
    ["/api", "/apis"].map((target) =>
      client.raw({ method: "GET", target, headers: { accept: aggregated }, ...(signal && { signal }) }),
    ),
  );
  const found = new Map<string, ServedResource>();
  for (const resource of roots.flatMap(resourcesOf)) {
    const id = resourceId(resource);
    if (!found.has(id)) found.set(id, resource);
  }
  return [...found.values()];
}

export const resourceId = ({ group, plural }: Pick<KindRef, "group" | "plural">): string => `${plural}.${group}`;

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

interface Document {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope?: string;
        readonly verbs?: readonly string[];
      }[];
    }[];
  }[];
}

function resourcesOf(document: unknown): readonly ServedResource[] {
  return ((document as Document).items ?? []).flatMap(({ metadata, versions = [] }) =>
    versions.flatMap(({ version, resources = [] }) =>
      resources.map(({ resource, responseKind, scope, verbs = [] }) => ({
        group: metadata?.name ?? "",
        version,
        kind: responseKind?.kind ?? "",
        plural: resource,
        namespaced: scope === "Namespaced",
        verbs,
      })),
    ),
  );
}

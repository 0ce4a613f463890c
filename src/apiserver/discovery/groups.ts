import { apiVersionOf } from "../../kube/kind.ts";
import type { Endpoint } from "../endpoint.ts";

/** The resources by group and version, in the order in which discovery shows them. */
export interface DiscoveredGroup {
  /** Empty for the core group. */
  readonly name: string;
  /** Preferred first. */
  readonly versions: readonly DiscoveredVersion[];
}

export interface DiscoveredVersion {
  readonly version: string;
  readonly groupVersion: string;
  readonly endpoints: readonly Endpoint[];
}

export function groupEndpoints(endpoints: readonly Endpoint[]): readonly DiscoveredGroup[] {
  const byGroup = Map.groupBy(endpoints, ({ resource }) => resource.group);
  return [...byGroup].map(([name, members]) => ({ name, versions: versionsOf(members) }));
}

function versionsOf(endpoints: readonly Endpoint[]): readonly DiscoveredVersion[] {
  const byVersion = Map.groupBy(endpoints, ({ resource }) => resource.version);
  return [...byVersion]
    .map(([version, members]) => ({
      version,
      groupVersion: apiVersionOf({ group: members[0]?.resource.group ?? "", version }),
      endpoints: members.toSorted((a, b) => (a.resource.plural < b.resource.plural ? -1 : 1)),
    }))
    .sort((a, b) => compareVersions(a.version, b.version));
}

/** Newest stable first: v2, v1, v2beta1, v1beta2, v1alpha1, then anything else by name. */
export function compareVersions(left: string, right: string): number {
  const a = parseVersion(left);
  const b = parseVersion(right);
  if (!a || !b) return a ? -1 : b ? 1 : left < right ? -1 : left > right ? 1 : 0;
  return b.stability - a.stability || b.major - a.major || b.minor - a.minor;
}

function parseVersion(version: string): { stability: number; major: number; minor: number } | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  if (!match) return undefined;
  const stability = match[2] === "alpha" ? 0 : match[2] === "beta" ? 1 : 2;
  return { stability, major: Number(match[1]), minor: Number(match[3] ?? 0) };
}

import type { KubeObject } from "../object.ts";
import { claimMeasure } from "./claim-measure.ts";
import { podMeasure } from "./pod-measure.ts";
import type { ResourceList } from "./resource-list.ts";
import type { ScopeSelector } from "./scopes.ts";
import { serviceMeasure } from "./service-measure.ts";

/** How the objects of one resource count against quotas. */
export interface Measure {
  /** Those of a quota's names that it measures. */
  matching(names: Iterable<string>): readonly string[];
  /** What one object uses now. */
  usage(object: KubeObject, now: Date): ResourceList;
  /** Whether a write can change what is used. */
  isConcerned(write: MeasuredWrite): boolean;
  matchesScope(selector: ScopeSelector, object: KubeObject): boolean;
  /** What an object has to say of itself under a quota with these names, and does not. */
  missing?(names: readonly string[], object: KubeObject): string | undefined;
}

export interface MeasuredWrite {
  readonly operation: "CREATE" | "UPDATE";
  readonly subresource: string;
  readonly object: KubeObject;
  /** Absent for a create. */
  readonly old?: KubeObject;
}

/** Undefined for what no quota counts: events, and reviews, which are never stored. */
export function measureOf(group: string, plural: string): Measure | undefined {
  if (group === "authentication.k8s.io" || group === "authorization.k8s.io") return undefined;
  if (group !== "") return plural === "events" && group === "events.k8s.io" ? undefined : countOf(plural, group);
  switch (plural) {
    case "pods":
      return podMeasure;
    case "services":
      return serviceMeasure;
    case "persistentvolumeclaims":
      return claimMeasure;
    case "events":
    case "bindings":
      return undefined;
    default:
      return countOf(plural, group);
  }
}

/** `count/deployments.apps` */
export const countName = (plural: string, group: string): string =>
  group === "" ? `count/${plural}` : `count/${plural}.${group}`;

/** Kinds that quotas could count by their bare names before they could count everything. */
const oldNames: ReadonlySet<string> = new Set(["configmaps", "resourcequotas", "replicationcontrollers", "secrets"]);

function countOf(plural: string, group: string): Measure {
  const own = [countName(plural, group), ...(group === "" && oldNames.has(plural) ? [plural] : [])];
  const one: ResourceList = new Map(own.map((name) => [name, { nanos: 1_000_000_000n, format: "DecimalSI" }]));
  return {
    matching: (names) => [...names].filter((name) => own.includes(name)),
    usage: () => one,
    isConcerned: ({ operation, subresource }) => operation === "CREATE" && subresource === "",
    matchesScope: () => false,
  };
}

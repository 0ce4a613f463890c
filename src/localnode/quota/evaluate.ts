import type { ResourceQuota } from "../../api/builtin/cluster.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Measure } from "../../kube/quota/measure.ts";
import {
  addResources,
  keepResources,
  type ResourceList,
  readResources,
  sameResources,
  writeResources,
} from "../../kube/quota/resource-list.ts";
import { totalUsage } from "../../kube/quota/total.ts";

/** All objects of a resource in the quota's namespace, and how they count. */
export interface Counted {
  readonly measure: Measure;
  readonly objects: readonly KubeObject[];
}

type QuotaStatus = NonNullable<ResourceQuota["status"]>;

/**
 * What the status of a quota should say; undefined when it says so already. A name that nothing measures (its kind is
 * not there yet) keeps the use that was last seen.
 */
export function evaluate(quota: ResourceQuota, counted: readonly Counted[], now: Date): QuotaStatus | undefined {
  const hard = readResources(quota.spec.hard);
  const before = { hard: readResources(quota.status?.hard), used: readResources(quota.status?.used) };
  const fresh = counted
    .map(({ measure, objects }) => totalUsage(quota.spec, hard.keys(), measure, objects, now))
    .reduce<ResourceList>(addResources, new Map());
  const used = keepResources(new Map([...before.used, ...fresh]), (name) => hard.has(name));
  if (sameResources(hard, before.hard) && sameResources(used, before.used)) return undefined;
  return { hard: writeResources(hard), used: writeResources(used) };
}

import { ResourceQuota } from "../../api/builtin/cluster.ts";
import type { KindRef } from "../../kube/kind.ts";
import { compareQuantities } from "../../kube/quantity.ts";
import { type ResourceList, readResources } from "../../kube/quota/resource-list.ts";
import type { Change } from "../../runtime/change.ts";
import { type Watch, watch } from "../../runtime/controller.ts";

/** Whoever could not make pods waits longer and longer; room in a quota is a reason to try again at once. */
export const roomInQuotas = (kind: KindRef): Watch =>
  watch(ResourceQuota, {
    predicates: [givesRoom],
    map: ({ metadata: { namespace = "" } }, read) =>
      read.list(kind, { namespace }).map(({ metadata: { name } }) => ({ namespace, name })),
  });

/** A quota that is gone, that allows more, or of which less is used. */
export function givesRoom(change: Change<ResourceQuota>): boolean {
  if (change.kind !== "Updated") return change.kind === "Deleted";
  const [before, now] = [change.old.status, change.object.status];
  const wasLimited = readResources(before?.hard);
  const isLimited = readResources(now?.hard);
  return (
    [...wasLimited.keys()].some((name) => !isLimited.has(name)) ||
    isMore(isLimited, wasLimited) ||
    isMore(readResources(before?.used), readResources(now?.used))
  );
}

const isMore = (left: ResourceList, right: ResourceList): boolean =>
  [...left].some(([name, amount]) => {
    const other = right.get(name);
    return other !== undefined && compareQuantities(amount, other) > 0;
  });

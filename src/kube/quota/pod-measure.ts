import type { KubeObject } from "../object.ts";
import type { Quantity } from "../quantity.ts";
import type { Measure } from "./measure.ts";
import { hasPodLevelResources, podResources, type Requirements, type ResourceSpec } from "./pod-resources.ts";
import { type ResourceList, readResources } from "./resource-list.ts";
import { isShortLived, podMatchesScope } from "./scopes.ts";

type Pod = KubeObject & { readonly spec?: ResourceSpec; readonly status?: { readonly phase?: string } };

/** Pods: what they ask for and may use, and how many there are. */
export const podMeasure: Measure = {
  matching: (names) => [...names].filter((name) => ownNames.has(name) || isHugePage(name) || isExtended(name)),
  usage(object, now) {
    const pod = object as Pod;
    const usage = new Map<string, Quantity>([["count/pods", one]]);
    if (!isCharged(pod, now)) return usage;
    for (const [name, amount] of computeUsage(podResources(pod.spec, "requests"), podResources(pod.spec, "limits"))) {
      usage.set(name, amount);
    }
    return usage;
  },
  isConcerned({ operation, subresource, object, old }) {
    if (subresource === "resize") return operation === "UPDATE";
    if (subresource !== "") return false;
    return operation === "CREATE" || (old !== undefined && isShortLived(object) !== isShortLived(old));
  },
  matchesScope: podMatchesScope,
  missing(names, object) {
    const { spec } = object as Pod;
    if (hasPodLevelResources(spec)) return undefined;
    const missing = names
      .filter((name) => mandatoryNames.has(name))
      .toSorted()
      .flatMap((name) => {
        const without = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].filter(
          ({ resources }) => !containerUsage(resources).has(name),
        );
        const containers = [...new Set(without.map((container) => container.name ?? ""))].toSorted();
        return containers.length > 0 ? [`${name} for: ${containers.join(",")}`] : [];
      });
    return missing.length > 0 ? `must specify ${missing.join("; ")}` : undefined;
  },
};

const one: Quantity = { nanos: 1_000_000_000n, format: "DecimalSI" };

/** Under a quota of these, each container has to say what it needs. */
const mandatoryNames: ReadonlySet<string> = new Set([
  ...["cpu", "memory"],
  ...["requests.cpu", "requests.memory"],
  ...["limits.cpu", "limits.memory"],
]);

const ownNames: ReadonlySet<string> = new Set([
  ...mandatoryNames,
  ...["ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"],
  ...["pods", "count/pods"],
]);

const isHugePage = (name: string): boolean => name.startsWith("hugepages-") || name.startsWith("requests.hugepages-");

/** A vendor's resource: quotas speak of what is requested of it. */
const isExtended = (name: string): boolean =>
  name.startsWith("requests.") &&
  name.includes("/") &&
  (!name.includes("kubernetes.io/") || name.startsWith("requests.deviceclass.resource.kubernetes.io/"));

/** A pod that has ended, or should have been gone for a while, uses nothing any more. */
function isCharged({ metadata, status }: Pod, now: Date): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true;
  return now.getTime() <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

const containerUsage = (resources: Requirements | undefined): ResourceList =>
  computeUsage(readResources(resources?.requests), readResources(resources?.limits));

const computeNames = ["cpu", "memory", "ephemeral-storage"];

/** The same amounts under each of the names that quotas have for them. */
function computeUsage(requests: ResourceList, limits: ResourceList): ResourceList {
  const usage = new Map<string, Quantity>([["pods", one]]);
  const set = (name: string, amount: Quantity | undefined): void => {
    if (amount) usage.set(name, amount);
  };
  for (const name of computeNames) {
    set(name, requests.get(name));
    set(`requests.${name}`, requests.get(name));
    set(`limits.${name}`, limits.get(name));
  }
  for (const [name, amount] of requests) {
    if (name.startsWith("hugepages-")) set(name, amount);
    if (name.startsWith("hugepages-") || name.includes("/")) set(`requests.${name}`, amount);
  }
  return usage;
}

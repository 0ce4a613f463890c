import {
  addResources,
  greaterResources,
  type ResourceList,
  readResources,
  type WrittenResources,
} from "./resource-list.ts";

/** What of a pod's spec says how much it needs. */
export interface ResourceSpec {
  readonly containers?: readonly ResourceHolder[];
  readonly initContainers?: readonly ResourceHolder[];
  /** For all containers together. */
  readonly resources?: Requirements;
}

export interface ResourceHolder {
  readonly name?: string;
  readonly restartPolicy?: string;
  readonly resources?: Requirements;
}

export interface Requirements {
  readonly requests?: WrittenResources;
  readonly limits?: WrittenResources;
}

/**
 * What a whole pod asks for or may use: its containers and sidecars together, or the init container that takes most with
 * the sidecars that were started before it, whichever is more. What the pod says for itself counts before that.
 */
export function podResources(spec: ResourceSpec | undefined, which: "requests" | "limits"): ResourceList {
  const ownOf = ({ resources }: ResourceHolder): ResourceList => readResources(resources?.[which]);
  let together: ResourceList = (spec?.containers ?? []).map(ownOf).reduce(addResources, nothing);
  let sidecars = nothing;
  let initial = nothing;
  for (const container of spec?.initContainers ?? []) {
    const own = ownOf(container);
    if (container.restartPolicy === "Always") {
      together = addResources(together, own);
      sidecars = addResources(sidecars, own);
      initial = greaterResources(initial, sidecars);
    } else {
      initial = greaterResources(initial, addResources(own, sidecars));
    }
  }
  const needed = new Map(greaterResources(together, initial));
  for (const [name, amount] of readResources(spec?.resources?.[which])) {
    if (isPodLevel(name)) needed.set(name, amount);
  }
  return needed;
}

/** Whether the pod says for itself what its containers may use together. */
export const hasPodLevelResources = (spec: ResourceSpec | undefined): boolean =>
  [spec?.resources?.requests, spec?.resources?.limits].some((written) => Object.keys(written ?? {}).some(isPodLevel));

const isPodLevel = (name: string): boolean => name === "cpu" || name === "memory" || name.startsWith("hugepages-");

const nothing: ResourceList = new Map();

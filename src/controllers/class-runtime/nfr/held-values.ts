import type { KnativeService } from "../../../api/builtin/knative.ts";
import type { HorizontalPodAutoscaler } from "../../../api/builtin/scaling.ts";
import type { Deployment } from "../../../api/builtin/workloads.ts";
import type { KubeObject } from "../../../kube/object.ts";
import { parseQuantity, quantityNumber } from "../../../kube/quantity.ts";
import { type ChildKind, childId, type ObservedChild } from "../child-kinds.ts";
import { minScaleAnnotation } from "../templates/knative.ts";
import type { WantedChild } from "../templates/template.ts";

/** What a function's objects say now about what may be enforced. */
export interface HeldValues {
  readonly replicas?: number;
  readonly cpuMillis?: number;
  readonly memoryBytes?: number;
  readonly memoryLimitBytes?: number;
}

/** The object that decides about a function's replicas: its autoscaler, its Knative Service, or its Deployment. */
export interface ReplicaHolder {
  readonly kind: ChildKind;
  readonly object: KubeObject;
  readonly workload: WantedChild;
}

export function replicaHolders(
  wanted: readonly WantedChild[],
  observed: ReadonlyMap<string, ObservedChild>,
): readonly ReplicaHolder[] {
  return wanted.flatMap((workload): readonly ReplicaHolder[] => {
    if (workload.functionKey === undefined) return [];
    if (workload.kind !== "Deployment" && workload.kind !== "KnativeService") return [];
    const kinds: readonly ChildKind[] =
      workload.kind === "Deployment" ? ["HorizontalPodAutoscaler", "Deployment"] : ["KnativeService"];
    for (const kind of kinds) {
      const found = observed.get(childId(kind, workload.name));
      if (found) return [{ kind, object: found.object, workload }];
    }
    return [];
  });
}

/** What the object says now about the values that are named. */
export function heldOf(kind: ChildKind, object: KubeObject, named: readonly (keyof HeldValues)[]): HeldValues {
  const replicas = heldReplicas({ kind, object });
  const all: HeldValues = {
    ...(replicas !== undefined && { replicas }),
    ...(kind === "HorizontalPodAutoscaler" ? {} : heldResources(object)),
  };
  return Object.fromEntries(Object.entries(all).filter(([name]) => named.some((wanted) => wanted === name)));
}

export function heldReplicas({ kind, object }: Pick<ReplicaHolder, "kind" | "object">): number | undefined {
  if (kind === "HorizontalPodAutoscaler") return (object as HorizontalPodAutoscaler).spec.minReplicas ?? 1;
  if (kind === "Deployment") return (object as Deployment).spec.replicas ?? 1;
  const text = (object as KnativeService).spec.template.metadata?.annotations?.[minScaleAnnotation];
  return text === undefined ? undefined : Number(text);
}

export function heldResources(object: KubeObject): HeldValues {
  const { template } = (object as Deployment | KnativeService).spec;
  return resourceValues(template.spec.containers.find(({ name }) => name === "function")?.resources);
}

type Resources = Deployment["spec"]["template"]["spec"]["containers"][number]["resources"];

export function resourceValues(resources: Resources): HeldValues {
  const cpu = amount(resources?.requests?.["cpu"]);
  const memory = amount(resources?.requests?.["memory"]);
  const limit = amount(resources?.limits?.["memory"]);
  return {
    ...(cpu !== undefined && { cpuMillis: Math.round(cpu * 1000) }),
    ...(memory !== undefined && { memoryBytes: memory }),
    ...(limit !== undefined && { memoryLimitBytes: limit }),
  };
}

function amount(text: string | number | undefined): number | undefined {
  if (text === undefined) return undefined;
  const quantity = parseQuantity(String(text));
  return quantity.ok ? quantityNumber(quantity.value) : undefined;
}

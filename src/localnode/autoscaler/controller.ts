import { HorizontalPodAutoscaler } from "../../api/builtin/scaling.ts";
import { Deployment, ReplicaSet, StatefulSet } from "../../api/builtin/workloads.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { KindRef } from "../../kube/kind.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import { type Controller, defineReconciler, type ReconcileContext, watch } from "../../runtime/controller.ts";
import type { Permission } from "../../runtime/permission.ts";
import type { Read } from "../../runtime/read.ts";
import { done, requeue } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { boundedReplicas, scalerConditions } from "./evaluate.ts";

/** HorizontalPodAutoscalers: nobody measures load here, but a workload never leaves the bounds that it was given. */
export const autoscalerController: Controller = defineReconciler({
  name: "horizontal-pod-autoscaler-controller",
  reconciles: HorizontalPodAutoscaler,
  watches: [Deployment, StatefulSet, ReplicaSet].map((kind) =>
    watch<KubeObject>(kind as KindRef<KubeObject>, { map: scalersOf }),
  ),
  fieldManager: controllerManager,
  permissions: [scalePermission("deployments"), scalePermission("statefulsets"), scalePermission("replicasets")],
  async reconcile(key, context) {
    const scaler = context.read.get(HorizontalPodAutoscaler, key);
    if (scaler === undefined || scaler.metadata.deletionTimestamp !== undefined) return done;
    const target = await findTarget(scaler, context);
    const bounded = target && boundedReplicas(target.replicas, scaler.spec.minReplicas ?? 1, scaler.spec.maxReplicas);
    let rescaled = false;
    if (target !== undefined && bounded !== undefined && bounded.replicas !== target.replicas) {
      const scaled = await context.write.setScale(target.kind, target.key, bounded.replicas);
      if (!scaled.ok) return requeue;
      rescaled = true;
      const message = `New size: ${bounded.replicas}; reason: ${bounded.why}`;
      context.events.record(scaler, { type: "Normal", reason: "SuccessfulRescale", message });
    }
    const { lastScaleTime } = scaler.status ?? {};
    const status = {
      observedGeneration: scaler.metadata.generation ?? 0,
      currentReplicas: target?.replicas ?? 0,
      desiredReplicas: bounded?.replicas ?? 0,
      ...(rescaled ? { lastScaleTime: formatTime(context.now) } : lastScaleTime && { lastScaleTime }),
      conditions: scalerConditions(scaler.status?.conditions, target !== undefined, bounded, context.now),
    };
    const written = await writeStatus(HorizontalPodAutoscaler, scaler, status, context);
    return written === "Outdated" ? requeue : done;
  },
});

function scalePermission(plural: string): Permission {
  return { group: "apps", resource: `${plural}/scale`, verbs: ["get", "patch"] };
}

function scalersOf(workload: KubeObject, read: Read): readonly ObjectKey[] {
  const { namespace, name } = workload.metadata;
  if (namespace === undefined) return [];
  return read
    .list(HorizontalPodAutoscaler, { namespace })
    .filter(({ spec }) => spec.scaleTargetRef.kind === workload.kind && spec.scaleTargetRef.name === name)
    .map(({ metadata }) => ({ namespace, name: metadata.name }));
}

async function findTarget(scaler: HorizontalPodAutoscaler, { live, signal }: ReconcileContext) {
  const { kind: kindName, name, apiVersion = "" } = scaler.spec.scaleTargetRef;
  const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
  const kind = await live.discover(group, kindName, { signal });
  if (kind === undefined) return undefined;
  const { namespace = "" } = scaler.metadata;
  const key = { namespace, name };
  try {
    const { spec } = await live.getScale(kind, key, { signal });
    return { kind, key, replicas: spec.replicas ?? 0 };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

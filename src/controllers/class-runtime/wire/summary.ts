import type { ClassRuntime, ClassRuntimePhase } from "../../../api/class-runtime.ts";
import { classKeyOf, targetEnv, unitId } from "./deployment-unit.ts";
import { deploymentCondition, deploymentPhase } from "./messages.ts";
import type { Value } from "./protobuf.ts";

/** The short view of a class runtime in lists. */
export function summaryOf(classRuntime: ClassRuntime, environment: string): Value {
  const { metadata, spec, status } = classRuntime;
  const { packageName, classKey } = classKeyOf(classRuntime);
  const phase = status?.phase ?? "pending";
  return {
    id: metadata.name,
    deployment_unit_id: unitId(classRuntime),
    package_name: packageName,
    class_key: classKey,
    target_environment: targetEnv(classRuntime) || environment,
    cluster_name: environment,
    status: {
      condition: conditionOf[phase],
      phase: phaseOf[phase],
      ...(status?.message && { message: status.message }),
      last_updated: status?.last_updated ?? "",
      functions: (status?.functions ?? []).map(({ lastTransitionTime: time, ...report }) => ({
        ...report,
        ...(time !== undefined && { last_transition_time: time }),
      })),
    },
    resource_refs: references(classRuntime),
    created_at: metadata.creationTimestamp ?? "",
    updated_at: status?.last_updated ?? metadata.creationTimestamp ?? "",
    ...(spec.odgm_config && { partition_count: spec.odgm_config.partition_count }),
  };
}

export const references = ({ metadata, status }: ClassRuntime): readonly Value[] =>
  (status?.resource_refs ?? []).map(({ kind, name }) => ({ kind, name, namespace: metadata.namespace }));

const conditionOf: Readonly<Record<ClassRuntimePhase, number>> = {
  pending: deploymentCondition.pending,
  applying: deploymentCondition.deploying,
  progressing: deploymentCondition.deploying,
  available: deploymentCondition.running,
  degraded: deploymentCondition.down,
  deleting: deploymentCondition.deleted,
};

const phaseOf: Readonly<Record<ClassRuntimePhase, number>> = {
  pending: deploymentPhase.unknown,
  applying: deploymentPhase.resourceProvisioning,
  progressing: deploymentPhase.resourceProvisioning,
  available: deploymentPhase.running,
  degraded: deploymentPhase.failed,
  deleting: deploymentPhase.unknown,
};

/** Every filter that is set must agree. */
export function matches(classRuntime: ClassRuntime, filter: Value): boolean {
  const { packageName, classKey } = classKeyOf(classRuntime);
  const agrees = (wanted: unknown, found: string): boolean => !wanted || wanted === found;
  return (
    agrees(filter["package_name"], packageName) &&
    agrees(filter["class_key"], classKey) &&
    agrees(filter["target_env"], targetEnv(classRuntime)) &&
    agrees(
      typeof filter["status"] === "string" ? filter["status"].toLowerCase() : "",
      classRuntime.status?.phase ?? "pending",
    )
  );
}

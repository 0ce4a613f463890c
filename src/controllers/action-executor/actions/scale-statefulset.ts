import { StatefulSet } from "../../../api/builtin/workloads.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { replicasOf, rollbackTimes, scalePlan } from "./scale.ts";

export const scaleStatefulSet = defineAction({
  action: "scale_statefulset",
  permissions: [allow(StatefulSet, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "30s",
  seenBy: "Read",
  target: ({ statefulset, namespace }) => ({ kind: StatefulSet, namespace, name: statefulset }),
  plan: ({ object }, { replicas }) => scalePlan(object, replicas),
  rollback({ object }, { statefulset, namespace }) {
    if (object === undefined) return cannotBeUndone("The number of pods before is not known.");
    return {
      available: true,
      rollbackAction: "scale_statefulset",
      rollbackParameters: { statefulset, namespace, replicas: replicasOf(object) },
      ...rollbackTimes("30s"),
    };
  },
});

import { Deployment } from "../../../api/builtin/workloads.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { replicasOf, rollbackTimes, scalePlan } from "./scale.ts";

export const scaleDeployment = defineAction({
  action: "scale_deployment",
  permissions: [allow(Deployment, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "10s",
  seenBy: "Read",
  target: ({ deployment, namespace }) => ({ kind: Deployment, namespace, name: deployment }),
  plan: ({ object }, { replicas }) => scalePlan(object, replicas),
  rollback({ object }, { deployment, namespace }) {
    if (object === undefined) return cannotBeUndone("The number of pods before is not known.");
    const replicas = replicasOf(object);
    return {
      available: true,
      rollbackAction: "scale_deployment",
      rollbackParameters: {
        scaleToPrevious: { deployment, namespace, previousReplicas: replicas },
        deployment,
        namespace,
        replicas,
      },
      ...rollbackTimes("10s"),
    };
  },
});

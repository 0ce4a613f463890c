import { HorizontalPodAutoscaler } from "../../../api/builtin/scaling.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { rollbackTimes } from "./scale.ts";

export const updateHpa = defineAction({
  action: "update_hpa",
  permissions: [allow(HorizontalPodAutoscaler, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "5s",
  seenBy: "Read",
  target: ({ hpa, namespace }) => ({ kind: HorizontalPodAutoscaler, namespace, name: hpa }),
  objection({ object }, { minReplicas, maxReplicas }) {
    if (object === undefined) return undefined;
    const least = minReplicas ?? leastOf(object);
    const most = maxReplicas ?? object.spec.maxReplicas;
    return least > most ? `minReplicas ${least} would be above maxReplicas ${most}` : undefined;
  },
  plan: ({ object }, { minReplicas, maxReplicas }) => ({
    effects: [
      {
        kind: "Patch",
        patch: {
          type: "merge",
          value: {
            spec: {
              ...(minReplicas !== undefined && { minReplicas }),
              ...(maxReplicas !== undefined && { maxReplicas }),
            },
          },
        },
      },
    ],
    verb: "updated",
    ...(object && { before: `replicas: ${leastOf(object)} to ${object.spec.maxReplicas}` }),
    ...(object && {
      after: `replicas: ${minReplicas ?? leastOf(object)} to ${maxReplicas ?? object.spec.maxReplicas}`,
    }),
  }),
  rollback({ object }, { hpa, namespace }) {
    if (object === undefined) return cannotBeUndone("The limits before are not known.");
    const { maxReplicas } = object.spec;
    return {
      available: true,
      rollbackAction: "update_hpa",
      rollbackParameters: { hpa, namespace, minReplicas: leastOf(object), maxReplicas },
      ...rollbackTimes("5s"),
    };
  },
});

const leastOf = ({ spec }: HorizontalPodAutoscaler): number => spec.minReplicas ?? 1;

import type { OrderFacts, Plan } from "./definition.ts";

/** kubectl's own annotation: the pods are replaced because their template differs. The time is the order's, so a second start changes nothing. */
export const restartPlan = ({ startedAt }: OrderFacts): Plan => ({
  effects: [
    {
      kind: "Patch",
      patch: {
        type: "merge",
        value: {
          spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": startedAt } } } },
        },
      },
    },
  ],
  verb: "restarted",
  after: `restartedAt: ${startedAt}`,
});

import { Deployment } from "../../../api/builtin/workloads.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { restartPlan } from "./restart.ts";

export const rolloutRestart = defineAction({
  action: "rollout_restart",
  permissions: [allow(Deployment, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "1m",
  seenBy: "Read",
  target: ({ deployment, namespace }) => ({ kind: Deployment, namespace, name: deployment }),
  objection: ({ object }) => (object?.spec.paused ? "it is paused, so a restart would not take place" : undefined),
  plan: (_state, _parameters, order) => restartPlan(order),
  rollback: () => cannotBeUndone("Restarted pods cannot be brought back; the template itself did not change."),
});

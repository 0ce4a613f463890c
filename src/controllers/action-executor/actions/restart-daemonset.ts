import { DaemonSet } from "../../../api/builtin/workloads.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { restartPlan } from "./restart.ts";

export const restartDaemonSet = defineAction({
  action: "restart_daemonset",
  permissions: [allow(DaemonSet, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "2m",
  seenBy: "Read",
  target: ({ daemonset, namespace }) => ({ kind: DaemonSet, namespace, name: daemonset }),
  plan: (_state, _parameters, order) => restartPlan(order),
  rollback: () => cannotBeUndone("Restarted pods cannot be brought back; the template itself did not change."),
});

import { Pod } from "../../../api/builtin/pod.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";

export const deletePod = defineAction({
  action: "delete_pod",
  permissions: [allow(Pod, ["get", "delete"])],
  // Deleting by uid is harmless the second time, but a Job's retry could not tell success from a namesake.
  idempotent: false,
  estimatedDuration: "30s",
  seenBy: "Read",
  target: ({ pod, namespace }) => ({ kind: Pod, namespace, name: pod }),
  plan: ({ object }, { gracePeriodSeconds }) => ({
    effects: [{ kind: "Delete", ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) }],
    verb: "deleted",
    ...(object?.status?.phase && { before: `phase: ${object.status.phase}` }),
    after: "deleted",
  }),
  rollback: () => cannotBeUndone("A deleted pod does not come back; its controller starts another one."),
});

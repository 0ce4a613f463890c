import { Pod } from "../../../api/builtin/pod.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";

/** A pod is started afresh by deleting it, which is only a restart if somebody owns it. */
export const restartPod = defineAction({
  action: "restart_pod",
  permissions: [allow(Pod, ["get", "delete"])],
  idempotent: false,
  estimatedDuration: "15s",
  seenBy: "Read",
  target: ({ pod, namespace }) => ({ kind: Pod, namespace, name: pod }),
  objection: ({ object }) =>
    object?.metadata.ownerReferences?.some(({ controller }) => controller)
      ? undefined
      : "no controller owns it, so nothing would start it again",
  plan: ({ object }) => ({
    effects: [{ kind: "Delete" }],
    verb: "restarted",
    ...(object?.status?.phase && { before: `phase: ${object.status.phase}` }),
    after: "deleted, to be started again by its controller",
  }),
  rollback: () => cannotBeUndone("A restarted pod does not come back as it was."),
});

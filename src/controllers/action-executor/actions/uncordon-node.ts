import { Node } from "../../../api/builtin/cluster.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { rollbackTimes } from "./scale.ts";

export const uncordonNode = defineAction({
  action: "uncordon_node",
  permissions: [allow(Node, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "2s",
  seenBy: "Read",
  target: ({ node }) => ({ kind: Node, name: node }),
  plan: ({ object }) => ({
    effects: [{ kind: "Patch", patch: { type: "merge", value: { spec: { unschedulable: null } } } }],
    verb: "uncordoned",
    before: `unschedulable: ${object?.spec.unschedulable ?? false}`,
    after: "unschedulable: false",
  }),
  rollback({ object }, { node }) {
    if (!object?.spec.unschedulable) return cannotBeUndone("The node was not cordoned before.");
    return {
      available: true,
      rollbackAction: "cordon_node",
      rollbackParameters: { node },
      ...rollbackTimes("2s"),
    };
  },
});

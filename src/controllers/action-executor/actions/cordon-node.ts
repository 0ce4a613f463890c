import { Node } from "../../../api/builtin/cluster.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction, type Rollback } from "./definition.ts";
import { rollbackTimes } from "./scale.ts";

export const cordonNode = defineAction({
  action: "cordon_node",
  permissions: [allow(Node, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "2s",
  seenBy: "Read",
  target: ({ node }) => ({ kind: Node, name: node }),
  plan: ({ object }) => ({
    effects: [{ kind: "Patch", patch: { type: "merge", value: { spec: { unschedulable: true } } } }],
    verb: "cordoned",
    before: `unschedulable: ${object?.spec.unschedulable ?? false}`,
    after: "unschedulable: true",
  }),
  rollback: ({ object }, { node }) => uncordon(object, node),
});

export function uncordon(object: Node | undefined, node: string): Rollback {
  if (object === undefined) return cannotBeUndone("The state of the node before is not known.");
  if (object.spec.unschedulable) return cannotBeUndone("The node was cordoned already, and stays so.");
  return {
    available: true,
    rollbackAction: "uncordon_node",
    rollbackParameters: { uncordonNode: { node }, node },
    ...rollbackTimes("2s"),
  };
}

import { Node } from "../../../api/builtin/cluster.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { rollbackTimes } from "./scale.ts";
import { taintsPatch, taintText } from "./taints.ts";

export const untaintNode = defineAction({
  action: "untaint_node",
  permissions: [allow(Node, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "2s",
  seenBy: "Read",
  target: ({ node }) => ({ kind: Node, name: node }),
  objection: ({ object }, { key, effect }) =>
    object?.spec.taints?.some((taint) => taint.key === key && (effect === undefined || taint.effect === effect))
      ? undefined
      : `it has no taint ${key}${effect ? `:${effect}` : ""}`,
  plan({ object }, { key, effect }) {
    const before = object?.spec.taints ?? [];
    const left = before.filter((taint) => taint.key !== key || (effect !== undefined && taint.effect !== effect));
    return { effects: [taintsPatch(left)], verb: "untainted", before: taintText(before), after: taintText(left) };
  },
  rollback({ object }, { node, key, effect }) {
    const gone = (object?.spec.taints ?? []).filter(
      (taint) => taint.key === key && (effect === undefined || taint.effect === effect),
    );
    const [taint, ...more] = gone;
    if (taint === undefined || more.length > 0)
      return cannotBeUndone("Several taints went at once; put them back one by one.");
    return {
      available: true,
      rollbackAction: "taint_node",
      rollbackParameters: {
        node,
        key,
        effect: taint.effect,
        ...(taint.value !== undefined && { value: taint.value }),
      },
      ...rollbackTimes("2s"),
    };
  },
});

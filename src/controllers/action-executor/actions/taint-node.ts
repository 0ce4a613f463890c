import { Node } from "../../../api/builtin/cluster.ts";
import { Pod } from "../../../api/builtin/pod.ts";
import { labelKeyErrors, labelValueErrors } from "../../../kube/names.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { rollbackTimes } from "./scale.ts";
import { isDrivenOutBy, taintsPatch, taintText } from "./taints.ts";

export const taintNode = defineAction({
  action: "taint_node",
  permissions: [allow(Node, ["get", "patch"]), allow(Pod, ["list"])],
  idempotent: true,
  estimatedDuration: "2s",
  seenBy: "Read",
  problems: ({ key, value = "" }) => [
    ...labelKeyErrors(key).map((message) => `key: ${message}`),
    ...labelValueErrors(value).map((message) => `value: ${message}`),
  ],
  target: ({ node }) => ({ kind: Node, name: node }),
  related: ({ node, effect }) =>
    effect === "NoExecute" ? { kind: Pod, fieldSelector: `spec.nodeName=${node}` } : undefined,
  objection: ({ object }, { key, effect }) =>
    object?.spec.taints?.some((taint) => taint.key === key && taint.effect === effect)
      ? `it already has the taint ${key}:${effect}`
      : undefined,
  plan({ object, related }, { key, value, effect }) {
    const before = object?.spec.taints ?? [];
    const taint = { key, effect, ...(value !== undefined && { value }) };
    // A second start finds the taint and leaves it as it is.
    const others = before.filter((known) => known.key !== key || known.effect !== effect);
    return {
      effects: [taintsPatch([...others, taint])],
      verb: "tainted",
      before: taintText(before),
      after: taintText([...others, taint]),
      also: (related as readonly Pod[])
        .filter((pod) => isDrivenOutBy(taint, pod))
        .map(({ metadata: { namespace = "", name } }) => ({ kind: "Pod", namespace, name, action: "driven out" })),
    };
  },
  rollback({ object }, { node, key, effect }) {
    if (object === undefined) return cannotBeUndone("The taints before are not known.");
    return {
      available: true,
      rollbackAction: "untaint_node",
      rollbackParameters: { node, key, effect },
      ...rollbackTimes("2s"),
    };
  },
});

import { ConfigMap } from "../../../api/builtin/configuration.ts";
import { allow } from "../../../runtime/permission.ts";
import { keyProblems, keysText } from "./data-keys.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { rollbackTimes } from "./scale.ts";

export const updateConfigMap = defineAction({
  action: "update_configmap",
  permissions: [allow(ConfigMap, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "5s",
  seenBy: "Read",
  problems: ({ data }) => keyProblems(data),
  target: ({ configMap, namespace }) => ({ kind: ConfigMap, namespace, name: configMap }),
  objection: ({ object }) => (object?.immutable ? "it is immutable" : undefined),
  plan: (_state, { data }) => ({
    effects: [{ kind: "Patch", patch: { type: "merge", value: { data } } }],
    verb: "updated",
    after: keysText(data),
  }),
  rollback({ object }, { configMap, namespace, data }) {
    if (object === undefined) return cannotBeUndone("The content before is not known.");
    const added = Object.keys(data).filter((key) => object.data?.[key] === undefined);
    if (added.length > 0)
      return cannotBeUndone(`Keys that were not there before would stay: ${added.sort().join(", ")}`);
    const previous = Object.fromEntries(Object.keys(data).map((key) => [key, object.data?.[key] ?? ""]));
    return {
      available: true,
      rollbackAction: "update_configmap",
      rollbackParameters: {
        restorePreviousConfig: { resourceKind: "ConfigMap", name: configMap, namespace, previousSpec: previous },
        configMap,
        namespace,
        data: previous,
      },
      ...rollbackTimes("5s"),
    };
  },
});

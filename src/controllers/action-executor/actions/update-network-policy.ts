import { NetworkPolicy } from "../../../api/builtin/network-policy.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";

const parts = ["ingress", "egress", "policyTypes", "podSelector"];

export const updateNetworkPolicy = defineAction({
  action: "update_network_policy",
  permissions: [allow(NetworkPolicy, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "5s",
  seenBy: "Read",
  problems({ rules }) {
    const keys = Object.keys(rules);
    if (keys.length === 0) return ["rules: at least one part of the spec is required"];
    return keys
      .filter((key) => !parts.includes(key))
      .map((key) => `rules.${key}: not a part of a NetworkPolicy's spec; the parts are ${parts.join(", ")}`);
  },
  target: ({ networkpolicy, namespace }) => ({ kind: NetworkPolicy, namespace, name: networkpolicy }),
  plan: (_state, { rules }) => ({
    effects: [{ kind: "Patch", patch: { type: "merge", value: { spec: rules } } }],
    verb: "updated",
    after: `set: ${Object.keys(rules).sort().join(", ")}`,
  }),
  rollback({ object }, { networkpolicy, namespace, rules }) {
    const spec = (object?.spec ?? {}) as Readonly<Record<string, unknown>>;
    const added = Object.keys(rules).filter((key) => spec[key] === undefined);
    if (object === undefined || added.length > 0)
      return cannotBeUndone(`Parts that were not there before would stay: ${added.sort().join(", ")}`);
    const previous = Object.fromEntries(Object.keys(rules).map((key) => [key, spec[key]]));
    return {
      available: true,
      rollbackAction: "update_network_policy",
      rollbackParameters: {
        restorePreviousConfig: {
          resourceKind: "NetworkPolicy",
          name: networkpolicy,
          namespace,
          previousSpec: spec,
        },
        networkpolicy,
        namespace,
        rules: previous,
      },
      estimatedDuration: "5s",
      estimatedRollbackDuration: "5s",
    };
  },
});

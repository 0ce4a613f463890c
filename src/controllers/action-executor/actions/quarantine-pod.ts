import { NetworkPolicy } from "../../../api/builtin/network-policy.ts";
import { Pod } from "../../../api/builtin/pod.ts";
import { apiVersionOf } from "../../../kube/kind.ts";
import { safeName } from "../../../kube/names.ts";
import type { KubeObject } from "../../../kube/object.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";

/** Cuts a pod off: no traffic reaches or leaves it, no Service finds it, and its controller starts another in its place. */
export const quarantinePod = defineAction({
  action: "quarantine_pod",
  permissions: [allow(Pod, ["get", "patch"]), allow(NetworkPolicy, ["create"])],
  idempotent: true,
  estimatedDuration: "20s",
  seenBy: "Read",
  target: ({ pod, namespace }) => ({ kind: Pod, namespace, name: pod }),
  plan({ object }, { pod, namespace }) {
    const policy = isolation(pod, namespace, object?.metadata.uid ?? "");
    const removed = Object.fromEntries(Object.keys(object?.metadata.labels ?? {}).map((key) => [key, null]));
    return {
      // The wall comes first: between the two the pod would still be in its Service, but already cut off.
      effects: [
        { kind: "Create", of: NetworkPolicy, object: policy },
        {
          kind: "Patch",
          patch: {
            type: "merge",
            value: { metadata: { labels: { ...removed, [quarantineLabel]: pod.slice(0, 63) } } },
          },
        },
      ],
      verb: "quarantined",
      before: `labels: ${
        Object.keys(object?.metadata.labels ?? {})
          .sort()
          .join(", ") || "none"
      }`,
      after: `labels: ${quarantineLabel}`,
      also: [{ kind: "NetworkPolicy", namespace, name: policy.metadata.name, action: "created" }],
    };
  },
  objection: ({ object }) =>
    object?.metadata.labels?.[quarantineLabel] === undefined ? undefined : "it is in quarantine already",
  rollback: () => cannotBeUndone("Its controller has started another pod; a quarantined one is not given back."),
});

const quarantineLabel = "kubernaut.io/quarantine";

const isolation = (pod: string, namespace: string, uid: string): KubeObject =>
  ({
    apiVersion: apiVersionOf(NetworkPolicy),
    kind: NetworkPolicy.kind,
    metadata: {
      name: safeName(`quarantine-${pod}-${uid.slice(0, 8)}`),
      namespace,
      labels: { [quarantineLabel]: pod.slice(0, 63) },
    },
    spec: { podSelector: { matchLabels: { [quarantineLabel]: pod.slice(0, 63) } }, policyTypes: ["Ingress", "Egress"] },
  }) as KubeObject;

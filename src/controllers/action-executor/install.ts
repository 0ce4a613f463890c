import { Namespace } from "../../api/builtin/cluster.ts";
import { ConfigMap } from "../../api/builtin/configuration.ts";
import type { KubeObject } from "../../kube/object.ts";
import { actionRbacObjects, object } from "./install-rbac.ts";
import { jobNamespace, policyConfigMap, switchConfigMap, systemNamespace } from "./names.ts";
import { defaultPolicies } from "./policy/default-policies.ts";

/** Where the executor's settings and policies live, and where its Jobs run under the strictest pod security. */
export const actionNamespaces = (): readonly KubeObject[] => [
  object(Namespace, { name: systemNamespace }, {}),
  object(
    Namespace,
    {
      name: jobNamespace,
      labels: {
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/audit": "restricted",
        "pod-security.kubernetes.io/warn": "restricted",
      },
    },
    {},
  ),
];

/** The policies that a new installation begins with; afterwards they are the user's. */
export const policyObject = (): KubeObject =>
  object(ConfigMap, { name: policyConfigMap, namespace: systemNamespace }, { data: defaultPolicies });

/** The switch that stops everything, there to be found; afterwards it is the user's. */
export const switchObject = (): KubeObject =>
  object(ConfigMap, { name: switchConfigMap, namespace: systemNamespace }, { data: { frozen: "false" } });

/** Everything that actions need in a cluster, in the order in which it can be applied. */
export const actionObjects = (): readonly KubeObject[] => [
  ...actionNamespaces(),
  policyObject(),
  switchObject(),
  ...actionRbacObjects(),
];

/** Who may do what. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, optional, string, type TypeOf } from "../../kube/schema/build.ts";
import { labelSelector } from "../label-selector.ts";
import { openObject } from "./open-object.ts";

const group = "rbac.authorization.k8s.io";
const version = "v1";

const policyRule = openObject({
  verbs: array(string()),
  apiGroups: optional(array(string())),
  resources: optional(array(string())),
  resourceNames: optional(array(string())),
  nonResourceURLs: optional(array(string())),
});
export type PolicyRule = TypeOf<typeof policyRule>;

const subject = openObject({
  kind: string(),
  name: string(),
  apiGroup: optional(string()),
  namespace: optional(string()),
});
export type Subject = TypeOf<typeof subject>;

const roleRef = openObject({ apiGroup: string(), kind: string(), name: string() });

export const Role = defineKind({
  group,
  version,
  kind: "Role",
  plural: "roles",
  description: "What may be done in one namespace.",
  fields: { rules: optional(array(policyRule)) },
});
export type Role = ResourceOf<typeof Role>;

export const ClusterRole = defineKind({
  group,
  version,
  kind: "ClusterRole",
  plural: "clusterroles",
  scope: "Cluster",
  description: "What may be done, in one namespace or in all.",
  fields: {
    rules: optional(array(policyRule)),
    aggregationRule: optional(
      openObject({ clusterRoleSelectors: optional(array(labelSelector("Roles whose rules are added."))) }),
    ),
  },
});
export type ClusterRole = ResourceOf<typeof ClusterRole>;

export const RoleBinding = defineKind({
  group,
  version,
  kind: "RoleBinding",
  plural: "rolebindings",
  description: "Who has a role in one namespace.",
  fields: { subjects: optional(array(subject)), roleRef },
});
export type RoleBinding = ResourceOf<typeof RoleBinding>;

export const ClusterRoleBinding = defineKind({
  group,
  version,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  scope: "Cluster",
  description: "Who has a role everywhere.",
  fields: { subjects: optional(array(subject)), roleRef },
});
export type ClusterRoleBinding = ResourceOf<typeof ClusterRoleBinding>;

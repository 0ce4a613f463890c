import type { KubeObject } from "../../kube/object.ts";

/** Roles and bindings, as far as authorization needs them. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly object[] };
}

export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

export interface Binding extends KubeObject {
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}

const group = "rbac.authorization.k8s.io";
export const clusterRoles = `clusterroles.${group}`;
export const clusterRoleBindings = `clusterrolebindings.${group}`;
export const roles = `roles.${group}`;
export const roleBindings = `rolebindings.${group}`;

import { Lease } from "../../api/builtin/lease.ts";
import type { KubeObject } from "../../kube/object.ts";
import { objectOf } from "./labelled.ts";
import type { Group, InstallOptions } from "./options.ts";
import { permissionsOf } from "./permissions.ts";

/** A group's ServiceAccount and exactly what its code uses. */
export function accessObjects(group: Group, options: InstallOptions): readonly KubeObject[] {
  const { namespace } = options;
  const rules = permissionsOf(group, options).map(({ group: apiGroup, resource, verbs }) => ({
    apiGroups: [apiGroup],
    resources: [resource],
    verbs,
  }));
  return [
    objectOf(group, ["v1", "ServiceAccount"], { namespace }),
    objectOf(group, [rbac, "ClusterRole"], {}, { rules }),
    objectOf(group, [rbac, "ClusterRoleBinding"], {}, binding(group, namespace, "ClusterRole")),
    objectOf(group, [rbac, "Role"], { namespace }, { rules: leaseRules(group) }),
    objectOf(group, [rbac, "RoleBinding"], { namespace }, binding(group, namespace, "Role")),
  ];
}

const rbac = "rbac.authorization.k8s.io/v1";

const binding = ({ name }: Group, namespace: string, kind: "Role" | "ClusterRole"): object => ({
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
  subjects: [{ kind: "ServiceAccount", name, namespace }],
});

/** Only the own lease; creating cannot be restricted by name. */
const leaseRules = ({ name }: Group): readonly object[] => [
  { apiGroups: [Lease.group], resources: [Lease.plural], verbs: ["create"] },
  { apiGroups: [Lease.group], resources: [Lease.plural], resourceNames: [name], verbs: ["get", "update"] },
];

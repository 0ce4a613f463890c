import { Lease } from "../../api/builtin/lease.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Permission } from "../../runtime/permission.ts";
import { objectOf } from "./labelled.ts";
import type { Group, InstallOptions } from "./options.ts";
import { type Granted, grantedTo } from "./permissions.ts";

/** A group's ServiceAccount and exactly what its code uses: cluster-wide only what is used in every namespace. */
export function accessObjects(group: Group, options: InstallOptions): readonly KubeObject[] {
  const { namespace } = options;
  return [
    objectOf(group, ["v1", "ServiceAccount"], { namespace }),
    ...grantedTo(group, options).flatMap((granted) => roleAndBinding(group, granted, namespace)),
    ...roleAndBinding(group, { kind: "Lease", namespace, rules: leaseRules(group) }, namespace),
  ];
}

interface LeaseGrant {
  readonly kind: "Lease";
  readonly namespace: string;
  readonly rules: readonly object[];
}

function roleAndBinding(group: Group, granted: Granted | LeaseGrant, ownNamespace: string): readonly KubeObject[] {
  const isCluster = granted.kind === "Cluster";
  const name = granted.kind === "Lease" ? `${group.name}-leader` : group.name;
  const metadata = { name, ...(!isCluster && { namespace: granted.namespace }) };
  const rules = granted.kind === "Lease" ? granted.rules : granted.permissions.map(ruleOf);
  const kind = isCluster ? "ClusterRole" : "Role";
  return [
    objectOf(group, [rbac, kind], metadata, { rules }),
    objectOf(group, [rbac, `${kind}Binding`], metadata, {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
      subjects: [{ kind: "ServiceAccount", name: group.name, namespace: ownNamespace }],
    }),
  ];
}

const rbac = "rbac.authorization.k8s.io/v1";

const ruleOf = ({ group, resource, verbs }: Permission): object => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

/** Only the own lease; creating cannot be restricted by name. */
const leaseRules = ({ name }: Group): readonly object[] => [
  { apiGroups: [Lease.group], resources: [Lease.plural], verbs: ["create"] },
  { apiGroups: [Lease.group], resources: [Lease.plural], resourceNames: [name], verbs: ["get", "update"] },
];

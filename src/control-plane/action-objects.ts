import { MutatingWebhookConfiguration } from "../api/builtin/admission.ts";
import { ConfigMap, Secret, ServiceAccount } from "../api/builtin/configuration.ts";
import { Job } from "../api/builtin/job.ts";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "../api/builtin/rbac.ts";
import { Service } from "../api/builtin/service.ts";
import { guardObjects } from "../controllers/action-executor/approval/admission-policies.ts";
import { webhookConfiguration, webhookObject } from "../controllers/action-executor/approval/webhook.ts";
import { actionObjects } from "../controllers/action-executor/install.ts";
import { object } from "../controllers/action-executor/install-rbac.ts";
import { jobNamespace, systemNamespace } from "../controllers/action-executor/names.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Permission } from "../runtime/permission.ts";

/** Everything that actions need in a cluster besides the process that runs them, in the order in which it can be applied. */
export interface ActionInstallOptions {
  /** Where the process runs. */
  readonly namespace: string;
  /** As whom it runs, in that namespace. */
  readonly serviceAccount: string;
  /** Our own image: nothing else runs where Jobs run. */
  readonly image: string;
  /** Of the process's pods: where the API server finds the webhook. */
  readonly podLabels: Readonly<Record<string, string>>;
}

export function actionInstallObjects(options: ActionInstallOptions): readonly KubeObject[] {
  const { namespace, serviceAccount, image, podLabels } = options;
  const controllerUsers = [userOf(options)];
  return [
    ...actionObjects(),
    ...controllerRoles({ namespace, name: serviceAccount }),
    ...webhookRole({ namespace, name: serviceAccount }),
    ...guardObjects({ controllerUsers, podUsers: jobControllerUsers, image }),
    object(
      Service,
      { name: webhookService, namespace },
      {
        spec: { selector: podLabels, ports: [{ name: "webhook", port: 443, targetPort: "webhook", protocol: "TCP" }] },
      },
    ),
    webhookObject({ service: { namespace, name: webhookService, port: 443 } }),
  ];
}

export const userOf = ({
  namespace,
  serviceAccount,
}: Pick<ActionInstallOptions, "namespace" | "serviceAccount">): string =>
  `system:serviceaccount:${namespace}:${serviceAccount}`;

/** As whom kube-controller-manager makes the pods of Jobs: with an account for each controller, or with one for all. */
const jobControllerUsers = ["system:serviceaccount:kube-system:job-controller", "system:kube-controller-manager"];

export const webhookService = "capstan-actions-webhook";
/** The webhook's certificate and the key that signs the audit trail. */
export const ownSecret = "capstan-actions";

/** A ServiceAccount. */
interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** What the controllers may do in single namespaces only: Jobs and orders where Jobs run, settings where they are kept. */
export function controllerRoles(account: Account): readonly KubeObject[] {
  const rule = (kind: KindRef, verbs: readonly string[], names?: readonly string[]) => ({
    apiGroups: [kind.group],
    resources: [kind.plural],
    verbs,
    ...(names && { resourceNames: names }),
  });
  return [
    ...granted(jobNamespace, account, [
      rule(Job, ["get", "list", "watch", "create", "patch", "delete"]),
      rule(Secret, ["create", "delete"]),
      rule(ServiceAccount, ["get"]),
    ]),
    ...granted(systemNamespace, account, [rule(ConfigMap, ["list", "watch"])]),
    ...granted(account.namespace, account, [rule(Secret, ["get", "update"], [ownSecret]), rule(Secret, ["create"])]),
  ];
}

function granted(namespace: string, account: Account, rules: readonly object[]): readonly KubeObject[] {
  const name = "capstan-actions-own";
  return [
    object(Role, { name, namespace }, { rules }),
    object(
      RoleBinding,
      { name, namespace },
      {
        roleRef: { apiGroup: Role.group, kind: Role.kind, name },
        subjects: [{ kind: ServiceAccount.kind, ...account }],
      },
    ),
  ];
}

/** What is left for everywhere once `controllerRoles` has given the rest. */
export const clusterWide = (permissions: readonly Permission[]): readonly Permission[] =>
  permissions.flatMap((permission) => {
    const verbs = permission.verbs.filter((verb) => !isInOneNamespace(permission, verb));
    return verbs.length > 0 ? [{ ...permission, verbs }] : [];
  });

const isInOneNamespace = ({ group, resource }: Permission, verb: string): boolean =>
  (group === Job.group && resource === Job.plural) ||
  (group === "" && (resource === Secret.plural || resource === ServiceAccount.plural)) ||
  (group === "" && resource === ConfigMap.plural && (verb === "list" || verb === "watch"));

/** Lets the process tell the API server by which authority it knows the webhook, and nothing else about webhooks. */
function webhookRole(account: Account): readonly KubeObject[] {
  const name = "capstan-actions-webhook";
  const { group, plural } = MutatingWebhookConfiguration;
  return [
    object(
      ClusterRole,
      { name },
      {
        rules: [
          { apiGroups: [group], resources: [plural], resourceNames: [webhookConfiguration], verbs: ["get", "patch"] },
        ],
      },
    ),
    object(
      ClusterRoleBinding,
      { name },
      {
        roleRef: { apiGroup: ClusterRole.group, kind: ClusterRole.kind, name },
        subjects: [{ kind: ServiceAccount.kind, ...account }],
      },
    ),
  ];
}

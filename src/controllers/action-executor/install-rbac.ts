import { actions } from "../../api/action.ts";
import { ServiceAccount } from "../../api/builtin/configuration.ts";
import { ClusterRole, ClusterRoleBinding } from "../../api/builtin/rbac.ts";
import { labels } from "../../api/well-known.ts";
import { apiVersionOf, type KindRef } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { mergePermissions } from "../../runtime/permission.ts";
import { actionDefinition } from "./actions/catalogue.ts";
import { controllerName, jobNamespace, serviceAccountOf } from "./names.ts";

/** One ServiceAccount per action with exactly the permissions that its file declares. */
export function actionRbacObjects(): readonly KubeObject[] {
  return actions.flatMap((action) => {
    const name = serviceAccountOf(action);
    const rules = mergePermissions(actionDefinition(action).permissions).map(({ group, resource, verbs }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs,
    }));
    return [
      object(ServiceAccount, { name, namespace: jobNamespace }, { automountServiceAccountToken: false }),
      object(ClusterRole, { name }, { rules }),
      object(
        ClusterRoleBinding,
        { name },
        {
          subjects: [{ kind: "ServiceAccount", name, namespace: jobNamespace }],
          roleRef: { apiGroup: ClusterRole.group, kind: ClusterRole.kind, name },
        },
      ),
    ];
  });
}

export const object = (
  kind: KindRef,
  metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> },
  body: object,
): KubeObject => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: {
    ...metadata,
    labels: { ...metadata.labels, [labels.managedBy]: "capstan", [labels.controller]: controllerName },
  },
  ...body,
});

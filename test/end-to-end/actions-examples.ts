import type { KubeObject } from "../../src/kube/object.ts";

/** What the tests of actions act on. */
export const shop = "shop";

export const namespace = (name: string, environment?: string): KubeObject =>
  thing("v1", "Namespace", { name, ...(environment && { labels: { environment } }) }, {});

export function deployment(name: string, replicas: number, inNamespace = shop): KubeObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  return thing("apps/v1", "Deployment", { name, namespace: inNamespace }, { spec });
}

export function scale(name: string, replicas: number, more: object = {}, annotations = {}): KubeObject {
  const parameters = { scaleDeployment: { deployment: "web", namespace: shop, replicas } };
  return execution(name, { action: "scale_deployment", parameters, ...more }, annotations);
}

export const execution = (name: string, spec: object, annotations = {}): KubeObject =>
  thing(
    "kubernetesexecution.kubernaut.io/v1alpha1",
    "KubernetesExecution",
    { name, namespace: shop, annotations },
    { spec },
  );

export const thing = (
  apiVersion: string,
  kind: string,
  metadata: Partial<KubeObject["metadata"]>,
  body: object,
): KubeObject => ({ apiVersion, kind, metadata, ...body }) as KubeObject;

/** What admission would have stamped, where it does not run: the administrator asked. */
export const asAdmin = { "capstan.dev/requested-by": "admin", "capstan.dev/requested-by-groups": "system:masters" };

/** A ClusterRole and who has it. */
export const grant = (
  name: string,
  rules: readonly object[],
  users: readonly string[],
): readonly [KubeObject, KubeObject] => {
  const apiGroup = "rbac.authorization.k8s.io";
  const subjects = users.map((user) => ({ kind: "User", name: user, apiGroup }));
  const roleRef = { apiGroup, kind: "ClusterRole", name };
  return [
    { apiVersion: `${apiGroup}/v1`, kind: "ClusterRole", metadata: { name }, rules } as KubeObject,
    { apiVersion: `${apiGroup}/v1`, kind: "ClusterRoleBinding", metadata: { name }, subjects, roleRef } as KubeObject,
  ];
};

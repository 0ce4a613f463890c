import { Namespace } from "../../api/builtin/cluster.ts";
import { ConfigMap, ServiceAccount } from "../../api/builtin/configuration.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { type Controller, defineReconciler, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done } from "../../runtime/result.ts";
import { controllerManager } from "../identity.ts";

/** Pods that name no ServiceAccount use this one, so every namespace has it, and gets it back when it goes. */
export const serviceAccountController: Controller = defineReconciler({
  name: "serviceaccount-controller",
  reconciles: Namespace,
  watches: [
    watch(ServiceAccount, {
      predicates: [({ kind, object }) => kind === "Deleted" && isDefault(object)],
      map: ofNamespace,
    }),
  ],
  fieldManager: controllerManager,
  permissions: [allow(ServiceAccount, ["create"])],
  async reconcile({ name }, { read, write }) {
    if (!isActive(read.get(Namespace, { name }))) return done;
    const key = { namespace: name, name: "default" };
    if (read.get(ServiceAccount, key) !== undefined) return done;
    const made = await write.create(ServiceAccount, { metadata: key });
    if (made.ok || made.reason === "AlreadyExists" || made.reason === "Forbidden" || made.reason === "NotFound")
      return done;
    throw new Error(`cannot create ServiceAccount ${name}/default: ${made.reason}: ${made.message}`);
  },
});

/** The certificate by which pods know the API server, in every namespace; put right when somebody changes it. */
export const rootCaController = (certificate: string): Controller =>
  defineReconciler({
    name: "root-ca-certificate-publisher-controller",
    reconciles: Namespace,
    watches: [
      watch(ConfigMap, { predicates: [({ object }) => object.metadata.name === configMapName], map: ofNamespace }),
    ],
    fieldManager: controllerManager,
    permissions: [allow(ConfigMap, ["create", "patch"])],
    async reconcile({ name }, { read, write }) {
      if (!isActive(read.get(Namespace, { name }))) return done;
      const key = { namespace: name, name: configMapName };
      const found = read.get(ConfigMap, key);
      if (found?.data?.["ca.crt"] === certificate) return done;
      const data = { "ca.crt": certificate };
      const written =
        found === undefined
          ? await write.create(ConfigMap, {
              metadata: { ...key, annotations: { "kubernetes.io/description": purpose } },
              data,
            })
          : await write.patch(ConfigMap, key, { type: "merge", value: { data } });
      if (written.ok || ["AlreadyExists", "Forbidden", "NotFound"].includes(written.reason)) return done;
      throw new Error(`cannot write ConfigMap ${name}/${configMapName}: ${written.reason}: ${written.message}`);
    },
  });

const configMapName = "kube-root-ca.crt";
const purpose = "Holds the certificate of the CA by which clients inside the cluster can check the API server.";

const isDefault = ({ metadata }: KubeObject): boolean => metadata.name === "default";

const isActive = (namespace: Namespace | undefined): boolean =>
  namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;

function ofNamespace({ metadata }: KubeObject): readonly ObjectKey[] {
  return metadata.namespace === undefined ? [] : [{ name: metadata.namespace }];
}

import type { KubeObject } from "../../kube/object.ts";
import { forbidden, notFound, StatusError } from "../protocol/status-error.ts";
import type { Store } from "../storage/store.ts";
import type { Admission } from "./admission.ts";

const immortal: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);
/** A namespace that goes may still be asked who may do what in it. */
const allowedWhileTerminating: ReadonlySet<string> = new Set(["localsubjectaccessreviews"]);

/** Objects are born only into namespaces that are there to stay. */
export function namespaceLifecycle(store: Store): Admission {
  return {
    mutate(question) {
      const { endpoint, operation, namespace, name, subresource } = question;
      if (operation === "DELETE" && endpoint.collection === "namespaces" && immortal.has(name)) {
        throw forbidden(endpoint.resourceName, name, "this namespace may not be deleted");
      }
      if (operation !== "CREATE" || namespace === "" || endpoint.collection === "namespaces") return undefined;
      const found = store.latest("namespaces", namespace)?.object;
      if (!found) throw notFound({ group: "", name: "namespaces" }, namespace);
      const isTerminating = found.metadata.deletionTimestamp !== undefined || phaseOf(found) === "Terminating";
      if (isTerminating && subresource === "" && !allowedWhileTerminating.has(endpoint.resource.plural)) {
        throw terminating(endpoint.resourceName, name, namespace);
      }
      return undefined;
    },
    validate: () => {},
  };
}

const phaseOf = (namespace: KubeObject): string | undefined =>
  (namespace as KubeObject & { status?: { phase?: string } }).status?.phase;

function terminating(resource: { group: string; name: string }, name: string, namespace: string): StatusError {
  const refusal = forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  return new StatusError(refusal.code, "Forbidden", refusal.message, {
    ...refusal.status.details,
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  });
}

import type { KubeObject } from "../../kube/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { badRequest } from "../protocol/status-error.ts";
import { findObject } from "../verbs/get.ts";

/** exec, attach and port-forward: there is no container behind a pod here that one could enter, and this says so. */
export function refuseConnection(parts: ServerParts, request: ApiRequest): never {
  const { endpoint, info } = request;
  const pod = endpoint.view(findObject(parts, request)).object as KubeObject & {
    readonly spec?: { readonly nodeName?: string };
  };
  if (!pod.spec?.nodeName) throw badRequest(`pod ${info.name} does not have a host assigned`);
  throw badRequest(
    `${info.subresource} is not possible: the containers of pod ${info.name} are not run by a container runtime (its logs are in "kubectl logs")`,
  );
}

import type { HttpResponse } from "../../http/message.ts";
import type { KubeObject } from "../../kube/object.ts";
import { decodeObject } from "../decode/object.ts";
import { parseWriteOptions } from "../decode/write-options.ts";
import { encodeObject } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { badRequest, methodNotAllowed, notFound, unknownPath } from "../protocol/status-error.ts";
import { get } from "../verbs/get.ts";
import { patch } from "../verbs/patch.ts";
import { update } from "../verbs/update.ts";
import { managerOf } from "../writes/managers.ts";
import { updateObject } from "../writes/update.ts";
import { bindPod } from "./binding.ts";
import { refuseConnection } from "./connect.ts";
import { evict } from "./eviction.ts";
import { podLog } from "./log.ts";
import { getScale, updateScale } from "./scale.ts";
import { createToken } from "./token.ts";

type SubresourceVerb = (
  parts: ServerParts,
  request: ApiRequest,
) => Promise<Answer | HttpResponse> | Answer | HttpResponse;

/** What each sub-resource does with each verb; patches of all of them go through the one patch verb. */
const table: Readonly<Record<string, Readonly<Record<string, SubresourceVerb>>>> = {
  status: { get, update, patch },
  scale: { get: getScale, update: updateScale, patch },
  log: { get: podLog },
  token: { create: createToken },
  eviction: { create: evict },
  binding: { create: bindPod },
  finalize: { update: finalizeNamespace },
  ephemeralcontainers: { get, update, patch },
  resize: { get, update, patch },
  exec: { get: refuseConnection, create: refuseConnection },
  attach: { get: refuseConnection, create: refuseConnection },
  portforward: { get: refuseConnection, create: refuseConnection },
};

export function subresourceAnswer(
  parts: ServerParts,
  request: ApiRequest,
): Promise<Answer | HttpResponse> | Answer | HttpResponse {
  const { endpoint, info } = request;
  const subresource = endpoint.subresource(info.subresource);
  if (!subresource) {
    // A custom resource says that the object is missing, even when it is there.
    throw endpoint.isCustom ? notFound(endpoint.resourceName, info.name) : unknownPath();
  }
  if (!subresource.verbs.includes(info.verb)) throw methodNotAllowed();
  const answer = table[info.subresource]?.[info.verb];
  if (!answer) throw badRequest(`${info.resource}/${info.subresource} is not served here`);
  return answer(parts, request);
}

/** PUT namespaces/NAME/finalize: the only way to change the finalizers in a namespace's spec. */
async function finalizeNamespace(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const options = parseWriteOptions(request, "UpdateOptions");
  type Namespace = KubeObject & { readonly spec?: { readonly finalizers?: readonly string[] } };
  const wanted = decodeObject(parts, request, options) as Namespace;
  const entry = await updateObject(parts, request, {
    options,
    optionsKind: "UpdateOptions",
    wanted: () => wanted,
    managed: managerOf(parts, request, options).updated,
    prepare: (object, old) => ({ ...old, spec: (object as Namespace).spec ?? {} }) as KubeObject,
    ...(wanted.metadata.uid !== undefined && { expectedUid: wanted.metadata.uid }),
  });
  return encodeObject(parts, request, 200, entry);
}

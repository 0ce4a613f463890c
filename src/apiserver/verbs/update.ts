import { decodeObject } from "../decode/object.ts";
import { parseWriteOptions } from "../decode/write-options.ts";
import { encodeObject } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { badRequest } from "../protocol/status-error.ts";
import { storageKey } from "../storage/entry.ts";
import { createObject } from "../writes/create.ts";
import { managerOf } from "../writes/managers.ts";
import { checkedNamespace } from "../writes/metadata.ts";
import { updateObject } from "../writes/update.ts";
import { namespaceOf } from "./get.ts";

export async function update(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const { endpoint, info } = request;
  const options = parseWriteOptions(request, "UpdateOptions");
  const object = decodeObject(parts, request, options);
  checkName(object.metadata.name, info.name);
  if (endpoint.resource.namespaced) checkedNamespace(object.metadata.namespace, info.namespace);
  const managers = managerOf(parts, request, options);
  const key = storageKey(namespaceOf(endpoint, info.namespace), info.name);
  const mayCreate = endpoint.resource.strategy.allowCreateOnUpdate === true && info.subresource === "";
  if (mayCreate && !parts.store.latest(endpoint.collection, key)) {
    return encodeObject(parts, request, 201, await createObject(parts, request, object, options, managers.created));
  }
  const entry = await updateObject(parts, request, {
    options,
    optionsKind: "UpdateOptions",
    wanted: () => object,
    managed: managers.updated,
    ...(object.metadata.uid !== undefined && { expectedUid: object.metadata.uid }),
  });
  return encodeObject(parts, request, 200, entry);
}

function checkName(given: string | undefined, onUrl: string): void {
  if (given === undefined || given === "") {
    throw badRequest(`the name of the object (${onUrl} based on URL) was undeterminable: name must be provided`);
  }
  if (given !== onUrl)
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${onUrl})`);
}

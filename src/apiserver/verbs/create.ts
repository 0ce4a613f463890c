import { decodeObject } from "../decode/object.ts";
import { parseWriteOptions } from "../decode/write-options.ts";
import { encodeObject } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { forbidden, methodNotAllowed } from "../protocol/status-error.ts";
import { createObject } from "../writes/create.ts";
import { managerOf } from "../writes/managers.ts";

export async function create(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const { endpoint, info } = request;
  // Custom resources are more forgiving: they ignore a name in the path.
  if (info.name !== "" && !endpoint.isCustom) throw methodNotAllowed();
  const options = parseWriteOptions(request, "CreateOptions");
  const object = decodeObject(parts, request, options);
  if (endpoint.isTerminating) {
    const why = "create not allowed while custom resource definition is terminating";
    throw forbidden(endpoint.resourceName, object.metadata.name ?? "", why);
  }
  const entry = await createObject(parts, request, object, options, managerOf(parts, request, options).created);
  return encodeObject(parts, request, 201, entry);
}

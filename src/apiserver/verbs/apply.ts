import { deepEqual } from "../../kube/equality.ts";
import type { KubeObject } from "../../kube/object.ts";
import { decodeYaml } from "../decode/body.ts";
import { duplicateField, yamlComplaints } from "../decode/field-complaints.ts";
import { jsonTypeName } from "../decode/type-meta.ts";
import { parseWriteOptions } from "../decode/write-options.ts";
import { encodeObject } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { badRequest, conflict, StatusError } from "../protocol/status-error.ts";
import { type Entry, storageKey } from "../storage/entry.ts";
import { createObject } from "../writes/create.ts";
import { fieldManagerOf } from "../writes/managers.ts";
import { checkedNamespace } from "../writes/metadata.ts";
import { updateObject } from "../writes/update.ts";
import { namespaceOf } from "./get.ts";

/** Server-side apply: the writer states the fields that it owns; the server merges, or says with whom it conflicts. */
export async function apply(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const { endpoint, info } = request;
  const options = parseWriteOptions(request, "PatchOptions", true);
  const applied = appliedObject(request, options.fieldValidation);
  const { env, store } = parts;
  const { strategy } = endpoint.resource;
  const { fieldManager: manager, force } = options;
  const merge = (live: KubeObject | undefined): KubeObject => {
    const result = fieldManagerOf(endpoint).apply({
      ...(live && { live }),
      applied,
      manager,
      force,
      subresource: info.subresource,
      now: env.now(),
    });
    switch (result.kind) {
      case "Applied":
        return live && deepEqual(result.object, live) ? live : strategy.default(result.object);
      case "Conflict":
        throw new StatusError(409, "Conflict", result.message, {
          causes: result.conflicts.map(({ reason, message, field }) => ({ reason, message, field })),
        });
      case "Invalid":
        throw result.reason === "BadRequest" ? badRequest(result.message) : new StatusError(500, "", result.message);
    }
  };
  const key = storageKey(namespaceOf(endpoint, info.namespace), info.name);
  if (!store.latest(endpoint.collection, key) && info.subresource === "") {
    const entry = await createApplied(parts, request, merge, options);
    return encodeObject(parts, request, 201, entry);
  }
  const entry = await updateObject(parts, request, {
    options,
    optionsKind: "PatchOptions",
    wanted: merge,
    managed: (object) => object,
  });
  return encodeObject(parts, request, 200, entry);
}

function createApplied(
  parts: ServerParts,
  request: ApiRequest,
  merge: (live: undefined) => KubeObject,
  options: ReturnType<typeof parseWriteOptions>,
): Promise<Entry> {
  const { uid, resourceVersion } = merge(undefined).metadata;
  const { endpoint, info } = request;
  if (uid !== undefined && uid !== "") {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(endpoint.resourceName, info.name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== "") {
    throw conflict(
      endpoint.resourceName,
      info.name,
      "the object has been deleted; please apply your changes to a new object",
    );
  }
  return createObject(parts, request, merge(undefined), options, (object) => object);
}

function appliedObject({ http, endpoint, info, warnings }: ApiRequest, fieldValidation: string): KubeObject {
  const body = decodeYaml(Buffer.from(http.body ?? []).toString());
  if ("kind" in body) throw badRequest(`error decoding YAML: error converting YAML to JSON: ${body.why}`);
  const value = body.value ?? {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type map[string]interface {}`,
    );
  }
  const complaints = [
    ...yamlComplaints(body.yamlDuplicates ?? [], fieldValidation === "Strict"),
    ...body.duplicates.map(duplicateField),
  ];
  if (fieldValidation === "Strict" && complaints.length > 0) {
    throw badRequest(`error strict decoding YAML: ${complaints.join(", ")}`);
  }
  if (fieldValidation === "Warn") warnings.push(...complaints);
  const object = value as KubeObject;
  if (typeof object.apiVersion !== "string" || typeof object.kind !== "string") {
    throw badRequest("invalid object type: /, Kind=");
  }
  const given = typeof object.metadata === "object" && object.metadata !== null ? object.metadata : { name: "" };
  if (given.name && given.name !== info.name) {
    throw badRequest(`the name of the object (${given.name}) does not match the name on the URL (${info.name})`);
  }
  if (endpoint.resource.namespaced) checkedNamespace(given.namespace, info.namespace);
  return { ...object, metadata: { ...given, name: info.name } };
}

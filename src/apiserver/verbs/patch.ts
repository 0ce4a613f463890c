import { invalid as invalidField } from "../../kube/field-error.ts";
import type { KubeObject } from "../../kube/object.ts";
import { applyJsonPatch } from "../../kube/patch/json-patch.ts";
import { applyMergePatch } from "../../kube/patch/merge-patch.ts";
import type { PatchRefusal } from "../../kube/patch/patch-result.ts";
import { applyStrategicMergePatch } from "../../kube/patch/strategic-merge.ts";
import { decodeJson, mediaTypeOf } from "../decode/body.ts";
import { looseTypes } from "../decode/loose.ts";
import { shapeObject } from "../decode/object.ts";
import { checkedLoose, jsonTypeName } from "../decode/type-meta.ts";
import { parseWriteOptions, type WriteOptions } from "../decode/write-options.ts";
import { encodeObject } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { badRequest, invalid, StatusError, unsupportedMediaType } from "../protocol/status-error.ts";
import { type Scale, writeScale } from "../subresources/scale.ts";
import { managerOf } from "../writes/managers.ts";
import { checkedNamespace } from "../writes/metadata.ts";
import { updateObject } from "../writes/update.ts";
import { apply } from "./apply.ts";

const customPatchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/apply-patch+yaml",
];

/** A patch that was read: what it makes of a document. */
interface Patch {
  readonly duplicates: readonly string[];
  applyTo(document: unknown): unknown;
}

/** The four ways to change a part of an object. */
export async function patch(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const { info } = request;
  const type = mediaTypeOf(request.http.headers["content-type"]);
  if (type === "application/apply-patch+yaml") return apply(parts, request);
  const options = parseWriteOptions(request, "PatchOptions");
  const read = readPatch(request, type);
  if (info.subresource === "scale") {
    return writeScale(parts, request, options, "PatchOptions", (scale) => patchedScale(read.applyTo(scale)));
  }
  const entry = await updateObject(parts, request, {
    options,
    optionsKind: "PatchOptions",
    managed: managerOf(parts, request, options).updated,
    wanted: (current) => patched(request, read, current, options),
  });
  return encodeObject(parts, request, 200, entry);
}

function patchedScale(value: unknown): Partial<Scale> {
  return checkedLoose(looseTypes.Scale, value, () => Buffer.from(JSON.stringify(value))) as Partial<Scale>;
}

function patched(request: ApiRequest, read: Patch, current: KubeObject, options: WriteOptions): KubeObject {
  const { endpoint, info } = request;
  const value = read.applyTo(current);
  // A retry after somebody else's write says everything again; nobody wants to hear it twice.
  request.warnings.length = endpoint.deprecationWarning === undefined ? 0 : 1;
  try {
    const object = shapeObject(
      request,
      { value, duplicates: read.duplicates },
      () => Buffer.from(JSON.stringify(value)),
      options,
    );
    const { name, namespace } = object.metadata;
    if (name !== info.name) {
      throw badRequest(`the name of the object (${name ?? ""}) does not match the name on the URL (${info.name})`);
    }
    if (endpoint.resource.namespaced) checkedNamespace(namespace, info.namespace);
    return object;
  } catch (error) {
    throw error instanceof StatusError ? inPatch(error, value) : error;
  }
}

/** What is wrong with the body of an update is, in a patch, an invalid value of the field "patch". */
function inPatch(error: StatusError, value: unknown): StatusError {
  const [, why] = /^.* in version ".*" cannot be handled as a \S+: (.*)$/s.exec(error.message) ?? [];
  if (error.code !== 400 || why === undefined) return error;
  return invalid({ group: "", name: "" }, "", [invalidField("patch", JSON.stringify(value), why)]);
}

function readPatch(request: ApiRequest, type: string): Patch {
  const { endpoint, http } = request;
  switch (type) {
    case "application/json-patch+json": {
      const { value: given, duplicates } = readBody(http.body, "error decoding patch: ");
      const value = given ?? [];
      const [wrong, type] = Array.isArray(value)
        ? [value.find((operation) => !isMembers(operation)), "handlers.jsonPatchOp"]
        : [value, "[]handlers.jsonPatchOp"];
      if (wrong !== undefined) {
        throw badRequest(
          `error decoding patch: json: cannot unmarshal ${jsonTypeName(wrong)} into Go value of type ${type}`,
        );
      }
      return {
        duplicates,
        applyTo: (document) => unwrap(applyJsonPatch(document, value, { dialect: "Kubernetes" })),
      };
    }
    case "application/merge-patch+json": {
      const { value, duplicates } = readBody(http.body, "error decoding patch: ");
      if (value === null) throw badRequest("Invalid JSON Patch");
      if (!isMembers(value)) {
        throw badRequest(
          `error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type map[string]interface {}`,
        );
      }
      return { duplicates, applyTo: (document) => applyMergePatch(document, value) };
    }
    case "application/strategic-merge-patch+json": {
      if (endpoint.isCustom) throw unsupportedMediaType(customPatchTypes);
      const { value: given, duplicates } = readBody(http.body, "");
      const value = given ?? {};
      if (!isMembers(value)) {
        throw badRequest(`json: cannot unmarshal ${jsonTypeName(value)} into Go value of type map[string]interface {}`);
      }
      const { schema, definitions } = endpoint.resource;
      return {
        duplicates,
        applyTo: (document) => unwrap(applyStrategicMergePatch(document, value, { schema, definitions })),
      };
    }
    default:
      throw endpoint.isCustom
        ? unsupportedMediaType(customPatchTypes)
        : new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  }
}

function readBody(body: Uint8Array | undefined, prefix: string): { value: unknown; duplicates: readonly string[] } {
  const read = decodeJson(body ?? new Uint8Array());
  if ("kind" in read) throw badRequest(`${prefix}${read.why}`);
  return read;
}

type Result = ReturnType<typeof applyJsonPatch>;

function unwrap(result: Result): unknown {
  if (result.ok) return result.value;
  throw refusals[result.reason](result.message);
}

const refusals: Readonly<Record<PatchRefusal, (message: string) => StatusError>> = {
  Malformed: (message) => badRequest(message),
  Inapplicable: () =>
    new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {}),
  TooLarge: (message) => new StatusError(413, "RequestEntityTooLarge", `Request entity too large: ${message}`),
  Unsupported: (message) => new StatusError(500, "", message),
};

const isMembers = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

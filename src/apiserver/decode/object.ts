import type { KubeObject } from "../../kube/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { badRequest } from "../protocol/status-error.ts";
import { type DecodedBody, decodeBody, mediaTypeOf } from "./body.ts";
import { fieldComplaints } from "./field-complaints.ts";
import { type Bytes, checkedBuiltin, checkedCustom, unrecognized } from "./type-meta.ts";
import type { WriteOptions } from "./write-options.ts";

/**
 * The object of a create or an update: read, checked to be of this resource, brought into the form of its type, judged
 * by the writer's field validation, and defaulted.
 */
export function decodeObject(parts: ServerParts, request: ApiRequest, options: WriteOptions): KubeObject {
  const { http, endpoint } = request;
  const { kind } = endpoint.resource;
  const bytes = http.body ?? nothing;
  const body = isProtobuf(http.headers["content-type"])
    ? parts.decodeProtobuf(bytes, { apiVersion: endpoint.apiVersion, kind })
    : decodeBody(bytes, http.headers["content-type"]);
  if ("kind" in body) throw unrecognized(kind, body.why, () => bytes);
  return shapeObject(request, body, () => bytes, options);
}

/** Turns a plain value, from a body or from a patch, into an object of the endpoint's type. */
export function shapeObject(request: ApiRequest, body: DecodedBody, bytes: Bytes, options: WriteOptions): KubeObject {
  const { endpoint, warnings } = request;
  const { kind, group, version } = endpoint.resource;
  const expected = { group, apiVersion: endpoint.apiVersion, kind };
  const typed = (endpoint.isCustom ? checkedCustom : checkedBuiltin)(expected, body.value, bytes);
  const shaped = endpoint.shape(typed);
  if (shaped.kind === "Refused") throw badRequest(shaped.message);
  if (options.fieldValidation !== "Ignore") {
    const isStrict = options.fieldValidation === "Strict";
    const complaints = fieldComplaints(shaped.unknownFields, body, endpoint.isCustom, isStrict);
    if (!isStrict) warnings.push(...complaints);
    else if (complaints.length > 0) {
      const list = complaints.join(", ");
      throw badRequest(
        `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: strict decoding error: ${list}`,
      );
    }
  }
  return endpoint.resource.strategy.default(shaped.object);
}

const nothing = new Uint8Array();

const isProtobuf = (contentType: string | undefined): boolean =>
  mediaTypeOf(contentType) === "application/vnd.kubernetes.protobuf";

import type { KubeObject } from "../../kube/object.ts";
import { checkCustomType } from "../crd/shape-custom.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { badRequest } from "../protocol/status-error.ts";
import { decodeBody, mediaTypeOf } from "./body.ts";
import type { WriteOptions } from "./write-options.ts";

/**
 * The object of a create or an update: read, checked to be of this resource, brought into the form of its type, judged
 * by the writer's field validation, and defaulted.
 */
export function decodeObject(parts: ServerParts, request: ApiRequest, options: WriteOptions): KubeObject {
  const { http, endpoint } = request;
  const { kind } = endpoint.resource;
  const body = isProtobuf(http.headers["content-type"])
    ? parts.decodeProtobuf(http.body ?? new Uint8Array())
    : decodeBody(http.body, http.headers["content-type"]);
  if ("kind" in body) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${body.why} (${body.shown})`,
    );
  }
  return shapeObject(request, body.value, body.duplicates, options);
}

/** Turns a plain value, from a body or from a patch, into an object of the endpoint's type. */
export function shapeObject(
  request: ApiRequest,
  value: unknown,
  duplicates: readonly string[],
  options: WriteOptions,
): KubeObject {
  const { endpoint, warnings } = request;
  const typed = withTypeMeta(request, value);
  const { kind, version } = endpoint.resource;
  const shaped = endpoint.shape(typed);
  if (shaped.kind === "Refused") throw badRequest(shaped.message);
  if (options.fieldValidation !== "Ignore") {
    const unknown = shaped.unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`);
    const repeated = duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`);
    const complaints = endpoint.isCustom ? [...repeated, ...unknown] : [...unknown, ...repeated];
    if (options.fieldValidation === "Warn") warnings.push(...complaints);
    else if (complaints.length > 0) {
      const list = complaints.join(", ");
      throw badRequest(
        `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: strict decoding error: ${list}`,
      );
    }
  }
  return endpoint.resource.strategy.default(shaped.object);
}

const isProtobuf = (contentType: string | undefined): boolean =>
  mediaTypeOf(contentType) === "application/vnd.kubernetes.protobuf";

/** A body may leave out its apiVersion and kind when the path says them; it may not say others. */
function withTypeMeta({ endpoint }: ApiRequest, value: unknown): Readonly<Record<string, unknown>> {
  const { resource, apiVersion, isCustom } = endpoint;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): couldn't get version/kind; json parse error: the body is not an object`,
    );
  }
  const body = value as Readonly<Record<string, unknown>>;
  const givenKind = typeof body["kind"] === "string" ? body["kind"] : "";
  const givenVersion = typeof body["apiVersion"] === "string" ? body["apiVersion"] : "";
  if (isCustom) {
    checkCustomType(endpoint, body);
    return body;
  }
  const kind = givenKind || resource.kind;
  const version = givenVersion || apiVersion;
  if (kind !== resource.kind || version !== apiVersion) {
    const short = version.slice(version.indexOf("/") + 1);
    throw badRequest(
      `${kind} in version ${JSON.stringify(short)} cannot be handled as a ${resource.kind}: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)}`,
    );
  }
  return { ...body, apiVersion, kind };
}

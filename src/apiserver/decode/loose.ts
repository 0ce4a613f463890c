import { decodeBuiltin } from "../builtin/index.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { badRequest } from "../protocol/status-error.ts";
import { decodeBody, mediaTypeOf } from "./body.ts";

/** The body of a sub-resource request, whose kind is another one than the resource's: TokenRequest, Scale, Eviction, Binding. */
export function decodeLoose(
  parts: ServerParts,
  { http }: ApiRequest,
  kind: string,
): { readonly value: Readonly<Record<string, unknown>> } {
  const contentType = http.headers["content-type"];
  const body =
    mediaTypeOf(contentType) === "application/vnd.kubernetes.protobuf"
      ? parts.decodeProtobuf(http.body ?? new Uint8Array())
      : decodeBody(http.body, contentType);
  if ("kind" in body) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${body.why} (${body.shown})`,
    );
  }
  return { value: checkedKind(body.value, kind) };
}

export function checkedKind(value: unknown, kind: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): the body is not an object`);
  }
  const object = value as Readonly<Record<string, unknown>>;
  const given = object["kind"];
  if (given !== undefined && given !== "" && given !== kind) {
    throw badRequest(`${String(given)} cannot be handled as a ${kind}`);
  }
  const apiVersion = typeof object["apiVersion"] === "string" ? object["apiVersion"] : "";
  const decoded = apiVersion === "" ? undefined : decodeBuiltin(apiVersion, kind, object);
  if (decoded?.kind === "Refused") throw badRequest(decoded.message);
  return decoded?.kind === "Shaped" ? { ...decoded.object } : object;
}

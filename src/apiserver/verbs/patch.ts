import { mediaTypeOf } from "../decode/body.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { unsupportedMediaType } from "../protocol/status-error.ts";
import { apply } from "./apply.ts";

const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/apply-patch+yaml",
  "application/strategic-merge-patch+json",
];

/** The four ways to change a part of an object. */
export async function patch(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  switch (mediaTypeOf(request.http.headers["content-type"])) {
    case "application/apply-patch+yaml":
      return apply(parts, request);
    default:
      throw unsupportedMediaType(patchTypes);
  }
}

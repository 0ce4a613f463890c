import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { methodNotAllowed } from "../protocol/status-error.ts";

export async function patch(_parts: ServerParts, _request: ApiRequest): Promise<Answer> {
  throw methodNotAllowed();
}

import { ApiError } from "../client/api-error.ts";
import type { StatusCause } from "../kube/object.ts";

/**
 * What an API's "no" means to a controller. A refusal is an answer: asking again in the same way gives the same one. A
 * fault (no answer, 401, 408, 429, 5xx) says nothing about the request and is retried by the runtime.
 */
export type RefusalReason =
  | "AlreadyExists"
  | "BadRequest"
  | "Conflict"
  | "Forbidden"
  | "Gone"
  | "Invalid"
  | "MethodNotAllowed"
  | "NotFound"
  | "TooLarge"
  | "UnsupportedMediaType";

export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
  /** The fields that the server names, such as the ones in conflict with another field manager. */
  readonly causes: readonly StatusCause[];
}

/** The refusal in a thrown error, or undefined when it is a fault. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const exists = error.status === 409 && error.reason === "AlreadyExists";
  const reason = exists ? "AlreadyExists" : refusalByCode[error.status];
  return reason === undefined ? undefined : { reason, message: error.message, causes: error.causes };
}

const refusalByCode: Readonly<Record<number, RefusalReason>> = {
  400: "BadRequest",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Gone",
  413: "TooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
};

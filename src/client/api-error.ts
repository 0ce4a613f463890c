import type { Status, StatusCause, StatusDetails } from "../kube/object.ts";

/**
 * A refusal by the API server, and the questions that callers ask about one. Questions are answered by reason, cause and
 * code, never by the message text, which is for people.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status code, or the code of an error event. */
  readonly status: number;
  /** A CamelCase word such as `NotFound`; derived from the status code when the server gave none. */
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  readonly causes: readonly StatusCause[];
  /** How long the server asked to wait before trying again. */
  readonly retryAfterSeconds: number | undefined;
  /** With 410 in the middle of a list: a token that goes on from the same place in a newer snapshot. */
  readonly continueToken: string | undefined;
  /** `GET /api/v1/pods?limit=500`: what was refused. */
  readonly request: string;

  constructor(init: ApiErrorInit) {
    super(init.message);
    this.status = init.status;
    this.reason = init.reason;
    this.details = init.details;
    this.causes = init.details?.causes ?? [];
    this.retryAfterSeconds = init.retryAfterSeconds ?? init.details?.retryAfterSeconds;
    this.continueToken = init.continueToken;
    this.request = init.request;
  }
}

export interface ApiErrorInit {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly request: string;
  readonly details?: StatusDetails;
  readonly retryAfterSeconds?: number;
  readonly continueToken?: string;
}

/** The error for a failed answer; `body` is the parsed JSON, or the text when there was no JSON. */
export function apiErrorFrom(request: string, status: number, body: unknown, retryAfterSeconds?: number): ApiError {
  const waits = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (!isFailure(body)) {
    const text = typeof body === "string" ? body.trim().slice(0, maxTextLength) : "";
    const message = text === "" ? `${request}: the server answered ${status} without a reason` : text;
    return new ApiError({ status, reason: reasonOfCode(status, request), message, request, ...waits });
  }
  const code = typeof body.code === "number" && body.code > 0 ? body.code : status;
  const continueToken = body.metadata?.continue;
  return new ApiError({
    status: code,
    reason: body.reason || reasonOfCode(code, request),
    message: body.message || `${request}: the server answered ${code} without a message`,
    request,
    ...(typeof body.details === "object" && body.details !== null && { details: withCauseList(body.details) }),
    ...(continueToken && { continueToken }),
    ...waits,
  });
}

/** Longest part of a plain-text answer (a proxy's error page) that is kept as the message. */
const maxTextLength = 512;

/** Nothing that a proxy or a broken server sends may make a question throw later. */
function withCauseList(details: StatusDetails): StatusDetails {
  if (details.causes === undefined) return details;
  const causes: unknown = details.causes;
  return { ...details, causes: Array.isArray(causes) ? causes.filter((cause) => cause !== null) : [] };
}

function isFailure(body: unknown): body is Partial<Status> {
  return typeof body === "object" && body !== null && "kind" in body && body.kind === "Status";
}

function reasonOfCode(status: number, request: string): string {
  // A create can only collide with a name; every other 409 is about a version.
  if (status === 409) return request.startsWith("POST ") ? "AlreadyExists" : "Conflict";
  return reasonsByCode[status] ?? (status >= 500 ? "InternalError" : "Unknown");
}

const reasonsByCode: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

type Question = (error: unknown) => error is ApiError;

const hasReason =
  (...reasons: readonly string[]): Question =>
  (error): error is ApiError =>
    error instanceof ApiError && reasons.includes(error.reason);

const hasCause =
  (reason: string): Question =>
  (error): error is ApiError =>
    error instanceof ApiError && error.causes.some((cause) => cause.reason === reason);

export const isNotFound: Question = hasReason("NotFound");
export const isAlreadyExists: Question = hasReason("AlreadyExists");
/** The object has changed since it was read, or somebody else owns a field that was applied. */
export const isConflict: Question = hasReason("Conflict");
/** Server-side apply met fields of another manager; the causes name manager and field. */
export const isApplyConflict: Question = hasCause("FieldManagerConflict");
export const isInvalid: Question = hasReason("Invalid");
export const isBadRequest: Question = hasReason("BadRequest");
export const isUnauthorized: Question = hasReason("Unauthorized");
export const isForbidden: Question = hasReason("Forbidden");
export const isMethodNotAllowed: Question = hasReason("MethodNotAllowed");
/** A resourceVersion or continue token that the server has forgotten: only a fresh list is truthful. */
export const isGone: Question = hasReason("Expired", "Gone");
export const isExpired: Question = hasReason("Expired");
export const isTooManyRequests: Question = hasReason("TooManyRequests");
/** Code 500 and the wish to be asked again later. */
export const isServerTimeout: Question = hasReason("ServerTimeout");
/** Code 504: the server gave up; a write may or may not have happened. */
export const isTimeout: Question = hasReason("Timeout");
export const isServiceUnavailable: Question = hasReason("ServiceUnavailable");
export const isInternalError: Question = hasReason("InternalError");
export const isRequestTooLarge: Question = hasReason("RequestEntityTooLarge");
/** A create in a namespace that is on its way out; it will never succeed there. */
export const isNamespaceTerminating: Question = hasCause("NamespaceTerminating");
/** An eviction that a PodDisruptionBudget does not allow now. */
export const isDisruptionBudgetReached: Question = hasCause("DisruptionBudget");
/** This replica of the server lags behind the resourceVersion that was asked for. */
export const isResourceVersionTooLarge: Question = hasCause("ResourceVersionTooLarge");
/** 404 about the kind itself (its CRD is not installed), not about one object. */
export const isKindMissing: Question = (error): error is ApiError =>
  isNotFound(error) && error.status === 404 && !error.details?.name;

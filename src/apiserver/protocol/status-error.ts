import type { FieldError } from "../../kube/field-error.ts";
import { formatFieldErrors } from "../../kube/field-error.ts";
import type { Status, StatusCause, StatusDetails } from "../../kube/object.ts";

/** A refusal on its way to the client: the Status that the answer will be, in the words of kube-apiserver. */
export class StatusError extends Error {
  readonly status: Status;
  readonly code: number;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      ...(reason !== "" && { reason }),
      ...(details && { details }),
      code,
    };
  }
}

/** What an error names: a resource (`widgets`) or a kind (`Widget`), with its group. */
export interface Named {
  readonly group: string;
  readonly name: string;
}

export const qualified = ({ group, name }: Named): string => (group === "" ? name : `${name}.${group}`);

const detailsOf = (of: Named, name: string): StatusDetails => ({
  ...(name !== "" && { name }),
  ...(of.group !== "" && { group: of.group }),
  ...(of.name !== "" && { kind: of.name }),
});

export const badRequest = (message: string): StatusError => new StatusError(400, "BadRequest", message);
export const unauthorized = (): StatusError => new StatusError(401, "Unauthorized", "Unauthorized");
export const forbidden = (resource: Named, name: string, why: string): StatusError =>
  new StatusError(
    403,
    "Forbidden",
    `${qualified(resource)}${name === "" ? "" : ` ${JSON.stringify(name)}`} is forbidden: ${why}`,
    detailsOf(resource, name),
  );
export const notFound = (resource: Named, name: string): StatusError =>
  new StatusError(
    404,
    "NotFound",
    `${qualified(resource)} ${JSON.stringify(name)} not found`,
    detailsOf(resource, name),
  );
/** The path names nothing that this server has. */
export const unknownPath = (): StatusError =>
  new StatusError(404, "NotFound", "the server could not find the requested resource", {});
export const methodNotAllowed = (): StatusError =>
  new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
export const notAcceptable = (available: readonly string[]): StatusError =>
  new StatusError(
    406,
    "NotAcceptable",
    `406: Not Acceptable\n\nAvailable representations: ${available.join(", ")}`,
    {},
  );
export const alreadyExists = (resource: Named, name: string, isBeingDeleted = false): StatusError =>
  new StatusError(
    409,
    "AlreadyExists",
    `${isBeingDeleted ? "object is being deleted: " : ""}${qualified(resource)} ${JSON.stringify(name)} already exists`,
    detailsOf(resource, name),
  );
export const conflict = (resource: Named, name: string, why: string, causes?: readonly StatusCause[]): StatusError =>
  new StatusError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} ${JSON.stringify(name)}: ${why}`,
    {
      ...detailsOf(resource, name),
      ...(causes && { causes }),
    },
  );
export const expired = (message: string): StatusError => new StatusError(410, "Expired", message);
export const bodyTooLarge = (limitBytes: number): StatusError =>
  new StatusError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limitBytes}`);
export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
export const internalError = (why: string): StatusError =>
  new StatusError(500, "InternalError", `Internal error occurred: ${why}`, { causes: [{ message: why }] });

export function invalid(kind: Named, name: string, errors: readonly FieldError[]): StatusError {
  const { message, causes } = formatFieldErrors(errors);
  return new StatusError(422, "Invalid", `${qualified(kind)} ${JSON.stringify(name)} is invalid: ${message}`, {
    ...detailsOf(kind, name),
    causes,
  });
}

export const modifiedMeanwhile =
  "the object has been modified; please apply your changes to the latest version and try again";

/** The client has seen a revision that this server has not reached: it was restored from an older copy, or the client errs. */
export const revisionTooLarge = (wanted: number, current: number): StatusError =>
  new StatusError(504, "Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });

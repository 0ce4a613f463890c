import type { HttpRequest, HttpResponse } from "../http/message.ts";
import type { KubeObject, StatusCause } from "../kube/object.ts";
import type { ServedKind } from "./memory-api.ts";

/** Answers in the shapes and words of a real API server. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: RefusalDetails;

  constructor(code: number, reason: string, message: string, details: RefusalDetails = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

export interface RefusalDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export const notFound = (kind: ServedKind, name: string): Refusal =>
  new Refusal(404, "NotFound", `${resourceText(kind)} "${name}" not found`, detailsOf(kind, name));

export const alreadyExists = (kind: ServedKind, name: string): Refusal =>
  new Refusal(409, "AlreadyExists", `${resourceText(kind)} "${name}" already exists`, detailsOf(kind, name));

export const conflict = (kind: ServedKind, name: string, why: string): Refusal =>
  new Refusal(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${resourceText(kind)} "${name}": ${why}`,
    detailsOf(kind, name),
  );

export const objectModified =
  "the object has been modified; please apply your changes to the latest version and try again";

export const expired = (): Refusal =>
  new Refusal(410, "Expired", "The resourceVersion for the provided watch is too old.");

export function refusalAnswer({ code, reason, message, details }: Refusal): HttpResponse {
  const headers: Record<string, string> =
    details.retryAfterSeconds === undefined ? {} : { "retry-after": String(details.retryAfterSeconds) };
  return json(
    code,
    { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, details, code },
    headers,
  );
}

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: once(Buffer.from(JSON.stringify(body))),
  };
}

export const plainNotFound = (): HttpResponse => ({
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: once(Buffer.from("404 page not found\n")),
});

export function bodyOf(request: HttpRequest): Record<string, unknown> {
  const value: unknown = JSON.parse(Buffer.from(request.body ?? []).toString() || "{}");
  if (typeof value !== "object" || value === null) throw new Refusal(400, "BadRequest", "the body is not an object");
  return value as Record<string, unknown>;
}

/** What a reader gets who asked for metadata only. */
export const projected = (request: HttpRequest, object: KubeObject): KubeObject =>
  request.headers["accept"]?.includes("as=PartialObjectMetadata")
    ? { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata: object.metadata }
    : object;

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield chunk;
}

const resourceText = ({ plural, group }: ServedKind): string => (group === "" ? plural : `${plural}.${group}`);
const detailsOf = ({ group, plural }: ServedKind, name: string): RefusalDetails => ({ name, group, kind: plural });

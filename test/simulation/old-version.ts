import type { HttpRequest } from "../../src/http/message.ts";
import type { Mutation } from "./mutation.ts";

/** F41: a version that did not set a label yet, and takes it off whatever it applies. */
export const withoutLabel = (label: string): Mutation => ({
  name: `without ${label}`,
  transport: (transport) => (request) => transport(isApply(request) ? without(label, request) : request),
});

const isApply = ({ method, headers }: HttpRequest): boolean =>
  method === "PATCH" && (headers["content-type"] ?? "").includes("apply-patch");

function without(label: string, request: HttpRequest): HttpRequest {
  const body = JSON.parse(Buffer.from(request.body ?? "{}").toString()) as {
    metadata?: { labels?: Record<string, string> };
  };
  if (body.metadata?.labels) delete body.metadata.labels[label];
  return { ...request, body: Buffer.from(JSON.stringify(body)) };
}

import type { Endpoint } from "../endpoint.ts";
import { serverVersion } from "../version.ts";
import { type Operation, operationsOf, patchTypesOf } from "./operations.ts";
import { definitionName, schemasOf } from "./schemas.ts";

/** The OpenAPI 3 document of one group and version. */
export function documentV3(endpoints: readonly Endpoint[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of endpoints.flatMap(operationsOf)) {
    paths[operation.path] ??= {};
    Object.assign(paths[operation.path] ?? {}, { [operation.method]: operationBody(operation) });
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: `v${serverVersion.major}.${serverVersion.minor}` },
    paths,
    components: {
      schemas: inV3(schemasOf(endpoints)),
      securitySchemes: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } },
    },
  };
}

function operationBody(operation: Operation): object {
  const { action, operationId, kind, parameters, body, answer } = operation;
  const name = definitionName(kind.group, kind.version, kind.kind);
  const schema =
    answer === "object" ? name : answer === "list" ? `${name}List` : "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
  const content = { "application/json": { schema: reference(schema) } };
  return {
    operationId,
    parameters: parameters.map(({ name: each, in: where, type }) => ({
      name: each,
      in: where,
      ...(where === "path" && { required: true }),
      schema: { type, uniqueItems: true },
    })),
    ...(body === "object" && { requestBody: { content: { "*/*": { schema: reference(name) } }, required: true } }),
    ...(body === "patch" && {
      requestBody: {
        content: Object.fromEntries(patchTypesOf(operation).map((type) => [type, { schema: { type: "object" } }])),
        required: true,
      },
    }),
    responses: { "200": { description: "OK", content }, "401": { description: "Unauthorized" } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": kind,
  };
}

const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

/** References point to other places in version 3, and nothing may stand beside them. */
function inV3(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inV3);
  if (typeof value !== "object" || value === null) return value;
  const { $ref, ...rest } = value as { readonly $ref?: unknown };
  const converted = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, inV3(member)]));
  if (typeof $ref !== "string") return converted;
  const pointed = reference($ref.slice("#/definitions/".length));
  return Object.keys(converted).length === 0 ? pointed : { ...converted, allOf: [pointed] };
}

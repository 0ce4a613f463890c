import type { Schema } from "../../kube/schema/schema.ts";
import type { Endpoint } from "../endpoint.ts";
import { serverVersion } from "../version.ts";
import { type Operation, operationsOf, patchTypesOf } from "./operations.ts";
import type { DocumentV2, OperationV2 } from "./protobuf-v2.ts";
import { definitionName, schemasOf } from "./schemas.ts";

/** The one OpenAPI 2 document of everything. */
export function documentV2(endpoints: readonly Endpoint[]): DocumentV2 {
  const paths: Record<string, Record<string, OperationV2>> = {};
  for (const operation of endpoints.flatMap(operationsOf)) {
    paths[operation.path] ??= {};
    Object.assign(paths[operation.path] ?? {}, { [operation.method]: operationBody(operation) });
  }
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: `v${serverVersion.major}.${serverVersion.minor}` },
    paths,
    definitions: schemasOf(endpoints),
  };
}

function operationBody(operation: Operation): OperationV2 {
  const { action, operationId, kind, parameters, body, answer } = operation;
  const name = definitionName(kind.group, kind.version, kind.kind);
  const schema =
    answer === "object" ? name : answer === "list" ? `${name}List` : "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
  return {
    consumes: body === "patch" ? patchTypesOf(operation) : ["*/*"],
    produces: ["application/json", "application/yaml"],
    schemes: ["https"],
    operationId,
    parameters: [
      ...(body
        ? [
            {
              name: "body",
              in: "body",
              required: true,
              schema: body === "object" ? reference(name) : anyObject,
            },
          ]
        : []),
      ...parameters.map(({ name: each, in: where, type }) => ({
        uniqueItems: true,
        type,
        name: each,
        in: where,
        ...(where === "path" && { required: true }),
      })),
    ],
    responses: { "200": { description: "OK", schema: reference(schema) }, "401": { description: "Unauthorized" } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": kind,
  };
}

const reference = (name: string): Schema => ({ $ref: `#/definitions/${name}` });

const anyObject: Schema = { type: "object" };

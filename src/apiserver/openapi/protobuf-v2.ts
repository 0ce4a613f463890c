import type { Schema } from "../../kube/schema/schema.ts";
import { type Bytes, double, flag, integer, message, text } from "./protobuf-writer.ts";

/**
 * The OpenAPI 2 document in protobuf (openapi.v2.Document), which kubectl reads before it validates a manifest. The
 * numbers are those of the published message definitions.
 */
export function encodeV2({ swagger, info, paths, definitions }: DocumentV2): Buffer {
  return Buffer.concat([
    text(1, swagger),
    message(2, text(1, info.title), text(2, info.version)),
    message(
      8,
      ...Object.entries(paths).map(([path, item]) => message(2, text(1, path), message(2, ...pathItem(item)))),
    ),
    message(9, ...Object.entries(definitions).map(namedSchema)),
  ]);
}

export interface DocumentV2 {
  readonly swagger: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationV2>>>>;
  readonly definitions: Readonly<Record<string, Schema>>;
}

export interface OperationV2 {
  readonly operationId: string;
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly schemes: readonly string[];
  readonly parameters: readonly ParameterV2[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly schema?: Schema }>>;
  readonly "x-kubernetes-action": string;
  readonly "x-kubernetes-group-version-kind": object;
}

export interface ParameterV2 {
  readonly name: string;
  readonly in: string;
  readonly type?: string;
  readonly required?: boolean;
  readonly uniqueItems?: boolean;
  readonly schema?: Schema;
}

const methodFields: Readonly<Record<string, number>> = { get: 2, put: 3, post: 4, delete: 5, patch: 8 };

const pathItem = (item: Readonly<Record<string, OperationV2>>): readonly Bytes[] =>
  Object.entries(item).map(([method, operation]) => message(methodFields[method] ?? 2, ...operationParts(operation)));

const operationParts = (operation: OperationV2): readonly Bytes[] => [
  text(5, operation.operationId),
  ...operation.produces.map((type) => text(6, type)),
  ...operation.consumes.map((type) => text(7, type)),
  ...operation.parameters.map((parameter) => message(8, message(1, ...parameterParts(parameter)))),
  message(9, ...Object.entries(operation.responses).map(([code, response]) => responseEntry(code, response))),
  ...operation.schemes.map((scheme) => text(10, scheme)),
  extension(13, "x-kubernetes-action", operation["x-kubernetes-action"]),
  extension(13, "x-kubernetes-group-version-kind", operation["x-kubernetes-group-version-kind"]),
];

function parameterParts({ name, in: where, type, required, uniqueItems, schema }: ParameterV2): readonly Bytes[] {
  if (schema) return [message(1, text(2, name), text(3, where), flag(4, required), message(5, ...schemaParts(schema)))];
  if (where === "path") {
    return [
      message(2, message(4, flag(1, required), text(2, where), text(4, name), text(5, type), flag(19, uniqueItems))),
    ];
  }
  return [
    message(2, message(3, flag(1, required), text(2, where), text(4, name), text(6, type), flag(20, uniqueItems))),
  ];
}

const responseEntry = (code: string, { description, schema }: OperationV2["responses"][string]): Bytes => {
  const body = schema ? [message(2, message(1, ...schemaParts(schema)))] : [];
  return message(1, text(1, code), message(2, message(1, text(1, description), ...body)));
};

const namedSchema = ([name, schema]: readonly [string, Schema]): Bytes =>
  message(1, text(1, name), message(2, ...schemaParts(schema)));

function schemaParts(schema: Schema): readonly Bytes[] {
  const { additionalProperties: additional } = schema;
  return [
    text(1, schema.$ref),
    text(2, schema.format),
    text(3, schema.title),
    text(4, schema.description),
    ...(schema.default === undefined ? [] : [message(5, text(2, JSON.stringify(schema.default)))]),
    double(6, schema.multipleOf),
    double(7, schema.maximum),
    flag(8, schema.exclusiveMaximum),
    double(9, schema.minimum),
    flag(10, schema.exclusiveMinimum),
    integer(11, schema.maxLength),
    integer(12, schema.minLength),
    text(13, schema.pattern),
    integer(14, schema.maxItems),
    integer(15, schema.minItems),
    flag(16, schema.uniqueItems),
    integer(17, schema.maxProperties),
    integer(18, schema.minProperties),
    ...(schema.required ?? []).map((name) => text(19, name)),
    ...(schema.enum ?? []).map((value) => message(20, text(2, JSON.stringify(value)))),
    ...(typeof additional === "object" ? [message(21, message(1, ...schemaParts(additional)))] : []),
    ...(additional === true ? [message(21, flag(2, true))] : []),
    ...(schema.type === undefined ? [] : [message(22, text(1, schema.type))]),
    ...(schema.items ? [message(23, message(1, ...schemaParts(schema.items)))] : []),
    ...(schema.allOf ?? []).map((part) => message(24, ...schemaParts(part))),
    ...(schema.properties ? [message(25, ...Object.entries(schema.properties).map(namedSchema))] : []),
    ...Object.entries(schema).flatMap(([name, value]) => (name.startsWith("x-") ? [extension(31, name, value)] : [])),
  ];
}

/** Extensions are YAML, and JSON is YAML. */
const extension = (field: number, name: string, value: unknown): Bytes =>
  message(field, text(1, name), message(2, text(2, JSON.stringify(value))));

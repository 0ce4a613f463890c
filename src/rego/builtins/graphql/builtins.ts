/** The `graphql.*` built-ins. */
import { BuiltinFault } from "../../evaluate/errors.ts";
import { toPlain } from "../../values/json.ts";
import { RegoObject, type Value } from "../../values/value.ts";
import { type Args, type Builtins, operand, stringAt, typeFault } from "../operands.ts";
import { GraphqlFault, type QueryDocument, type SchemaDocument } from "./ast.ts";
import { parseQueryDocument, parseSchemaDocument } from "./parser.ts";
import { buildSchema } from "./schema.ts";
import { validateQuery } from "./validate.ts";

export const graphqlBuiltins: Builtins = {
  "graphql.parse_query": (args) => asFault(() => documentValue(parseQueryDocument(stringAt(args, 0)))),
  "graphql.parse_schema": (args) => asFault(() => documentValue(parseSchemaDocument(stringAt(args, 0)))),
  "graphql.parse": (args) => asFault(() => parseBoth(args)),
  "graphql.parse_and_verify": (args) => {
    try {
      return [true, ...parseBoth(args)];
    } catch (error) {
      if (error instanceof GraphqlFault || error instanceof BuiltinFault) {
        return [false, new RegoObject(), new RegoObject()];
      }
      throw error;
    }
  },
  "graphql.is_valid": (args) =>
    holds(() => {
      parseBoth(args);
    }),
  "graphql.schema_is_valid": (args) =>
    holds(() => {
      buildSchema(schemaDocument(args, 0));
    }),
};

function parseBoth(args: Args): readonly [Value, Value] {
  const query = queryDocument(args, 0);
  const schema = schemaDocument(args, 1);
  const queryValue = documentValue(query);
  const schemaValue = documentValue(schema);
  validateQuery(buildSchema(schema), query);
  return [queryValue, schemaValue];
}

function queryDocument(args: Args, index: number): QueryDocument {
  const value = operand(args, index);
  if (typeof value === "string") return parseQueryDocument(value);
  if (value instanceof RegoObject) return knownFields(value, ["Operations", "Fragments", "Comment"]) as QueryDocument;
  throw typeFault(index - 1, value, "string", "object");
}

function schemaDocument(args: Args, index: number): SchemaDocument {
  const value = operand(args, index);
  if (typeof value === "string") return parseSchemaDocument(value);
  if (value instanceof RegoObject)
    return knownFields(value, [
      "Schema",
      "SchemaExtension",
      "Directives",
      "Definitions",
      "Extensions",
      "Comment",
    ]) as SchemaDocument;
  throw typeFault(index - 1, value, "string", "object");
}

/** A document that came as an object; what does not belong to one is dropped. */
function knownFields(value: RegoObject, names: readonly string[]): unknown {
  const plain = toPlain(value) as { readonly [name: string]: unknown };
  return Object.fromEntries(names.filter((name) => Object.hasOwn(plain, name)).map((name) => [name, plain[name]]));
}

/** A document without positions, nulls and empty lists. */
function documentValue(document: unknown): Value {
  return prune(document) ?? new RegoObject();
}

function prune(node: unknown): Value | undefined {
  if (node === null || node === undefined) return undefined;
  if (Array.isArray(node)) {
    const items = node.map(prune).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (typeof node === "object") {
    const result = new RegoObject();
    for (const [name, field] of Object.entries(node)) {
      if (name === "position" || name === "Position") continue;
      const value = prune(field);
      if (value !== undefined) result.set(name, value);
    }
    return result.size === 0 ? undefined : result;
  }
  return typeof node === "string" || typeof node === "number" || typeof node === "boolean" ? node : undefined;
}

function holds(action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (error instanceof GraphqlFault || error instanceof BuiltinFault) return false;
    throw error;
  }
}

function asFault<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof GraphqlFault) throw new BuiltinFault(error.message);
    throw error;
  }
}

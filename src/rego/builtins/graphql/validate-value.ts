/** Whether a literal fits a type. */
import type { Position, TypeNode, ValueNode } from "./ast.ts";
import { namedType, type Schema, typeText } from "./schema.ts";

export interface Objection {
  readonly message: string;
  readonly position: Position | undefined;
}

export function valueObjection(value: ValueNode, type: TypeNode, schema: Schema): Objection | undefined {
  if (value.Kind === 0) return undefined;
  const object = (message: string): Objection => ({ message, position: value.position });
  if (value.Kind === 6) {
    return type.NonNull ? object(`Expected value of type "${typeText(type)}", found null.`) : undefined;
  }
  if (value.Kind === 8 && type.Elem !== undefined) {
    for (const child of value.Children ?? []) {
      const objection = child.Value === undefined ? undefined : valueObjection(child.Value, type.Elem, schema);
      if (objection !== undefined) return objection;
    }
    return undefined;
  }
  // A single value stands for a list of one.
  if (type.Elem !== undefined && type.NamedType === "") return valueObjection(value, type.Elem, schema);
  const definition = schema.types.get(namedType(type));
  if (definition === undefined) return undefined;
  const found = valueText(value);
  switch (definition.Kind) {
    case "SCALAR":
      return isScalar(definition.Name, value.Kind)
        ? undefined
        : object(scalarMessage(definition.Name, typeText(type), found));
    case "ENUM": {
      if (value.Kind === 7 && definition.EnumValues?.some(({ Name }) => Name === value.Raw)) return undefined;
      if (value.Kind === 7) return object(`Value "${value.Raw}" does not exist in "${typeText(type)}" enum.`);
      return object(`Enum "${definition.Name}" cannot represent non-enum value: ${found}.`);
    }
    case "INPUT_OBJECT": {
      if (value.Kind !== 9) return object(`Expected value of type "${typeText(type)}", found ${found}.`);
      return inputObjection(value, definition.Name, definition.Fields ?? [], schema);
    }
    default:
      return object(`Expected value of type "${typeText(type)}", found ${found}.`);
  }
}

function inputObjection(
  value: ValueNode,
  name: string,
  fields: readonly { readonly Name: string; readonly Type: TypeNode; readonly DefaultValue?: ValueNode | undefined }[],
  schema: Schema,
): Objection | undefined {
  const seen = new Set<string>();
  for (const child of value.Children ?? []) {
    if (seen.has(child.Name)) {
      return { message: `There can be only one input field named "${child.Name}".`, position: child.position };
    }
    seen.add(child.Name);
    const field = fields.find((candidate) => candidate.Name === child.Name);
    if (field === undefined) {
      return { message: `Field "${child.Name}" is not defined by type "${name}".`, position: child.position };
    }
    const objection = child.Value === undefined ? undefined : valueObjection(child.Value, field.Type, schema);
    if (objection !== undefined) return objection;
  }
  const missing = fields.find(
    (field) => field.Type.NonNull && field.DefaultValue === undefined && !seen.has(field.Name),
  );
  if (missing === undefined) return undefined;
  return {
    message: `Field "${name}.${missing.Name}" of required type "${typeText(missing.Type)}" was not provided.`,
    position: value.position,
  };
}

function isScalar(name: string, kind: number): boolean {
  switch (name) {
    case "Int":
      return kind === 1;
    case "Float":
      return kind === 1 || kind === 2;
    case "String":
      return kind === 3 || kind === 4;
    case "Boolean":
      return kind === 5;
    case "ID":
      return kind === 1 || kind === 3 || kind === 4;
    default:
      return true;
  }
}

function scalarMessage(name: string, type: string, found: string): string {
  switch (name) {
    case "Int":
      return `Int cannot represent non-integer value: ${found}.`;
    case "Float":
      return `Float cannot represent non numeric value: ${found}.`;
    case "String":
      return `String cannot represent a non string value: ${found}.`;
    case "Boolean":
      return `Boolean cannot represent a non boolean value: ${found}.`;
    case "ID":
      return `ID cannot represent a non-string and non-integer value: ${found}.`;
    default:
      return `Expected value of type "${type}", found ${found}.`;
  }
}

function valueText(value: ValueNode): string {
  switch (value.Kind) {
    case 0:
      return `$${value.Raw}`;
    case 3:
    case 4:
      return JSON.stringify(value.Raw);
    case 8:
      return `[${(value.Children ?? []).map((child) => (child.Value === undefined ? "" : valueText(child.Value))).join(",")}]`;
    case 9:
      return `{${(value.Children ?? []).map((child) => `${child.Name}:${child.Value === undefined ? "" : valueText(child.Value)}`).join(",")}}`;
    default:
      return value.Raw;
  }
}

/** Built-ins about other languages: Rego modules, Go templates and JSON schemas. */
import { BuiltinFault } from "../evaluate/errors.ts";
import { RegoErrors } from "../syntax/errors.ts";
import { parseModule } from "../syntax/module.ts";
import { parseJson } from "../values/json.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { renderTemplate, TemplateFault } from "./go-template.ts";
import { compileSchema, SchemaFault } from "./json-schema.ts";
import { validate } from "./json-schema-validate.ts";
import { type Builtins, objectAt, operand, stringAt } from "./operands.ts";
import { moduleToValue } from "./rego-ast.ts";

export const languageBuiltins: Builtins = {
  "rego.parse_module": (args, machine) => {
    const file = stringAt(args, 0);
    const source = stringAt(args, 1);
    machine.grow(source.length);
    try {
      return moduleToValue(parseModule(file, source));
    } catch (error) {
      if (error instanceof RegoErrors) throw new BuiltinFault(error.message);
      throw error;
    }
  },
  "strings.render_template": (args, machine) => {
    const template = stringAt(args, 0);
    const data = objectAt(args, 1);
    if (isNotJson(data)) throw new BuiltinFault("invalid character 's' looking for beginning of value");
    try {
      const text = renderTemplate(template, data).replaceAll("<no value>", "<undefined>");
      machine.grow(text.length);
      return text;
    } catch (error) {
      if (error instanceof TemplateFault) throw new BuiltinFault(error.message);
      throw error;
    }
  },
  "json.verify_schema": (args) => {
    try {
      compileSchema(documentOf(operand(args, 0)));
      return [true, null];
    } catch (error) {
      if (error instanceof SchemaFault || error instanceof BuiltinFault) return [false, `jsonschema: ${error.message}`];
      throw error;
    }
  },
  "json.match_schema": (args, machine) => {
    const document = documentOf(operand(args, 0));
    try {
      const issues = validate(compileSchema(documentOf(operand(args, 1))), document, () => machine.step());
      return [
        issues.length === 0,
        issues.map(({ field, type, description }) =>
          RegoObject.fromEntries([
            ["error", `${field}: ${description}`],
            ["type", type],
            ["field", field],
            ["desc", description],
          ]),
        ),
      ];
    } catch (error) {
      if (error instanceof SchemaFault) throw new BuiltinFault(error.message);
      throw error;
    }
  },
};

/** Templates get JSON, which has no sets and only strings as keys. */
function isNotJson(value: Value): boolean {
  if (value instanceof RegoSet) return true;
  if (isArray(value)) return value.some(isNotJson);
  if (!(value instanceof RegoObject)) return false;
  return [...value.entries()].some(([key, field]) => typeof key !== "string" || isNotJson(field));
}

/** JSON in a string, or an object or array as it is. */
function documentOf(value: Value): Value {
  if (value instanceof RegoObject || isArray(value)) return value;
  if (typeof value !== "string") throw new BuiltinFault("wrong type, expected string or object");
  const parsed = parseJson(value);
  if (!parsed.ok) throw new BuiltinFault("invalid JSON string");
  return parsed.value;
}

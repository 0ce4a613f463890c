import { typeInvalid } from "../field-error.ts";
import { goQuote } from "../go-text.ts";
import { formatCheck } from "./format.ts";
import type { Schema } from "./schema.ts";
import type { Walk } from "./walk.ts";

/** The types that a schema accepts; int-or-string accepts two. */
export function typesOf(schema: Schema): readonly string[] {
  if (schema["x-kubernetes-int-or-string"] === true) return ["integer", "string"];
  return schema.type === undefined ? [] : [schema.type];
}

/** The format, if kube-apiserver checks it for this type; other names are only documentation. */
export function checkedFormat(schema: Schema): string {
  const { format = "" } = schema;
  const types = typesOf(schema);
  switch (types.length === 1 ? types[0] : "") {
    case "":
    case "string":
      return formatCheck(format) === undefined ? "" : format;
    case "integer":
      return format === "int32" || format === "int64" ? format : "";
    case "number":
      return format === "float" || format === "double" ? format : "";
    default:
      return "";
  }
}

export function compileType(schema: Schema): (value: unknown, walk: Walk) => void {
  const types = typesOf(schema);
  const format = checkedFormat(schema);
  const wanted = types.join(",");
  const acceptsNumbers = types.includes("number") || types.includes("integer");
  const nullable = schema.nullable === true || types.length === 0;
  return (value, walk) => {
    if (value === null || value === undefined) {
      if (nullable) walk.matches += 1;
      else refuse(walk, wanted, "null");
      return;
    }
    if (types.length === 0 && format === "") return;
    walk.matches += 1;
    const actual = jsonType(value);
    const accepted = types.includes(actual) || (actual === "integer" && types.includes("number"));
    if (!accepted) {
      const isTextOrList = actual === "string" || actual === "array";
      // The server compares Go's format names here, and lets a list pass for a string that has a format.
      if (format !== "" && !isTextOrList) return refuse(walk, format, goFormat(actual));
      if (format === "" || acceptsNumbers) return refuse(walk, wanted, actual);
    }
    walk.matches += 1;
  };
}

function refuse(walk: Walk, wanted: string, actual: string): void {
  walk.add(typeInvalid(walk.field(), actual, `${walk.path()} in body must be of type ${wanted}: ${goQuote(actual)}`));
}

/** A number counts as an integer as long as Go would read it as one. */
export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? "integer" : "number";
  return typeof value;
}

const goFormat = (type: string): string => (type === "integer" ? "int64" : type === "number" ? "float64" : "");

import { type FieldError, invalid, required } from "../field-error.ts";
import { childPath, indexPath, keyPath } from "../field-path.ts";
import { dns1035LabelErrors } from "../names.ts";
import { validateMetadata } from "../object-meta.ts";
import { isMembers, type Members, memoized, valuesOf } from "./resolve.ts";
import type { Definitions, Schema } from "./schema.ts";

/** An embedded resource must say what it is, and its metadata follows the rules of every object. */
export type EmbeddedCheck = (value: unknown, path: string) => readonly FieldError[];

const none: readonly FieldError[] = [];

export const compileEmbedded = (definitions: Definitions): ((schema: Schema) => EmbeddedCheck) =>
  memoized<EmbeddedCheck>(definitions, (schema, compile) => {
    const values = valuesOf(schema);
    const checkValues = values && compile(values);
    const properties = new Map(Object.entries(schema.properties ?? {}).map(([name, child]) => [name, compile(child)]));
    const checkItems = schema.items && compile(schema.items);
    const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
    return (value, path) => {
      if (Array.isArray(value)) {
        return checkItems ? value.flatMap((item, index) => checkItems(item, indexPath(path, index))) : none;
      }
      if (!isMembers(value)) return none;
      const errors = isEmbedded ? [...checkResource(value, path)] : [];
      for (const name of Object.keys(value)) {
        const check = properties.get(name);
        if (check !== undefined) errors.push(...check(value[name], childPath(path, name)));
        else if (checkValues !== undefined) errors.push(...checkValues(value[name], keyPath(path, name)));
      }
      return errors;
    };
  });

function checkResource(resource: Members, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { apiVersion, kind, metadata } = resource;
  if (apiVersion === undefined) errors.push(required(childPath(path, "apiVersion")));
  if (kind === undefined) errors.push(required(childPath(path, "kind")));
  if (apiVersion !== undefined) errors.push(...checkApiVersion(apiVersion, childPath(path, "apiVersion")));
  if (kind !== undefined) errors.push(...checkKind(kind, childPath(path, "kind")));
  if (isMembers(metadata)) errors.push(...validateMetadata(metadata, childPath(path, "metadata")));
  else if (metadata !== undefined && metadata !== null) {
    errors.push(invalid(childPath(path, "metadata"), metadata, "must be an object"));
  }
  return errors;
}

function checkApiVersion(apiVersion: unknown, path: string): readonly FieldError[] {
  if (typeof apiVersion !== "string") return [invalid(path, apiVersion, "must be a string")];
  if (apiVersion === "") return [invalid(path, apiVersion, "must not be empty")];
  if (apiVersion.split("/").length <= 2) return none;
  return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
}

function checkKind(kind: unknown, path: string): readonly FieldError[] {
  if (typeof kind !== "string") return [invalid(path, kind, "must be a string")];
  if (kind === "") return [invalid(path, kind, "must not be empty")];
  const errors = dns1035LabelErrors(kind.toLowerCase());
  if (errors.length === 0) return none;
  return [invalid(path, kind, `may have mixed case, but should otherwise match: ${errors.join(",")}`)];
}

/** The types of one kind in all its versions, and values moved between them. */
import type { KubeObject } from "../object.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import type { Type } from "./compile.ts";
import { isMap } from "./json-value.ts";
import { typeOfObjects } from "./openapi-types.ts";
import type { TypedValue } from "./typed-value.ts";
import { ConversionFault } from "./updater.ts";
import { typeErrorText, validateTyped } from "./validate.ts";

export interface VersionSchema {
  readonly apiVersion: string;
  readonly schema: Schema;
  readonly definitions?: Definitions;
}

export interface VersionedTypes {
  /** The type in the version that this resource is served in. */
  readonly type: Type;
  convert(value: TypedValue, apiVersion: string): TypedValue | undefined;
}

/** `convert` changes an object into another version; without one, versions differ in nothing but their name. */
export function versionedTypes(
  served: VersionSchema,
  others: readonly VersionSchema[] = [],
  convert: (object: KubeObject, apiVersion: string) => KubeObject = renameVersion,
): VersionedTypes {
  const types = new Map<string, Type>();
  const typeIn = (apiVersion: string): Type | undefined => {
    const known = types.get(apiVersion);
    if (known) return known;
    const version = [served, ...others].find((candidate) => candidate.apiVersion === apiVersion);
    const type = version && typeOfObjects(version.schema, version.definitions);
    if (type) types.set(apiVersion, type);
    return type;
  };
  return {
    type: typeOfObjects(served.schema, served.definitions),
    convert(value, apiVersion) {
      const from = isMap(value.value) ? value.value["apiVersion"] : undefined;
      if (from === apiVersion) return value;
      const type = typeIn(apiVersion);
      // The real server does this for built-in kinds only; for a custom resource whose version was taken out of its
      // definition it answers every apply with a 500, which helps nobody.
      if (!type) return undefined;
      if (!isMap(value.value)) return { type, value: value.value };
      const converted = { type, value: convert(value.value as unknown as KubeObject, apiVersion) };
      const errors = validateTyped(converted, "refused");
      if (errors.length > 0) throw new ConversionFault(typeErrorText(errors));
      return converted;
    },
  };
}

const renameVersion = (object: KubeObject, apiVersion: string): KubeObject => ({ ...object, apiVersion });

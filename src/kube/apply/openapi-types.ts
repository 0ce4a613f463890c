/** Reads the types that server-side apply needs out of an object's OpenAPI schema, in the way kube-apiserver does. */
import type { Definitions, Schema } from "../schema/schema.ts";
import { type CompiledSchema, compileTypes, type Type } from "./compile.ts";
import { objectMetaAtom, objectMetaName } from "./object-meta-type.ts";
import {
  type Atom,
  commonTypes,
  type ElementRelationship,
  type ListAtom,
  type MapAtom,
  type Scalar,
  type StructField,
  type TypeReference,
  untypedAtomicName,
  untypedDeducedName,
} from "./type-schema.ts";

/** The type of whole objects; types of shared definitions are compiled once for all kinds. */
export function typeOfObjects(schema: Schema, definitions: Definitions = noDefinitions): Type {
  return compiledDefinitions(definitions).resolve(rootReference(schema));
}

const noDefinitions: Definitions = {};
const compiled = new WeakMap<Definitions, CompiledSchema>();
const commonAtoms: ReadonlyMap<string, Atom> = new Map(commonTypes.map(({ name, ...atom }) => [name, atom]));

function compiledDefinitions(definitions: Definitions): CompiledSchema {
  const known = compiled.get(definitions);
  if (known) return known;
  const made = compileTypes((name) => commonAtoms.get(name) ?? definedAtom(definitions, name));
  compiled.set(definitions, made);
  return made;
}

function definedAtom(definitions: Definitions, name: string): Atom | undefined {
  if (name === quantityName) return { scalar: "untyped" };
  if (name === rawExtensionName) return commonAtoms.get(untypedAtomicName);
  const schema = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (schema) return atomOf(schema, { preserve: false });
  return name === objectMetaName ? objectMetaAtom : undefined;
}

const quantityName = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const rawExtensionName = "io.k8s.apimachinery.pkg.runtime.RawExtension";

function rootReference(schema: Schema): TypeReference {
  if (schema.$ref !== undefined) return referenceTo(schema, { preserve: false });
  return referenceTo(asResource(schema), { preserve: false });
}

/** Every object has these three, whatever a custom schema says about them. */
function asResource(schema: Schema): Schema {
  const metadata = schema.properties?.["metadata"];
  const hasReference = metadata?.$ref !== undefined || metadata?.allOf?.[0]?.$ref !== undefined;
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: hasReference ? metadata : { $ref: `#/definitions/${objectMetaName}` },
    },
  };
}

interface Surroundings {
  /** Set below a schema that preserves unknown fields: all that is inlined in it does, too. */
  readonly preserve: boolean;
}

function referenceTo(schema: Schema, around: Surroundings): TypeReference {
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
  const name = reference?.slice(reference.lastIndexOf("/") + 1);
  if (!name) return atomOf(schema, around);
  const elementRelationship = mapRelationship(schema);
  return elementRelationship ? { namedType: name, elementRelationship } : { namedType: name };
}

function atomOf(given: Schema, around: Surroundings): Atom {
  const schema = given["x-kubernetes-embedded-resource"] ? asResource(given) : given;
  const preserve = around.preserve || schema["x-kubernetes-preserve-unknown-fields"] === true;
  switch (schema.type) {
    case "object":
      return { map: mapOf(schema, { preserve }) };
    case "array":
      return { list: listOf(schema, { preserve }) };
    case "string":
      // Formats such as date-time and int-or-string may come as another scalar.
      return { scalar: schema.format === undefined || schema.format === "byte" ? "string" : "untyped" };
    case "integer":
    case "number":
      return { scalar: "numeric" };
    case "boolean":
      return { scalar: "boolean" };
    default:
      return { scalar: untyped, list: listOf(schema, { preserve }), map: mapOf(schema, { preserve }) };
  }
}

const untyped: Scalar = "untyped";

function mapOf(schema: Schema, around: Surroundings): MapAtom {
  const properties = Object.entries(schema.properties ?? {});
  const fields = properties.map(([name, property]): StructField => {
    const type = referenceTo(property, around);
    return property.default === undefined ? { name, type } : { name, type, default: property.default };
  });
  const elementType = typeOfOtherNames(schema, fields.length, around);
  const elementRelationship = mapRelationship(schema);
  return {
    ...(fields.length > 0 && { fields }),
    ...(elementType && { elementType }),
    ...(elementRelationship && { elementRelationship }),
  };
}

/** An object that says nothing about its content may contain anything. */
function typeOfOtherNames(schema: Schema, fieldCount: number, around: Surroundings): TypeReference | undefined {
  const others = schema.additionalProperties;
  if (others === undefined) {
    return around.preserve || fieldCount === 0 ? { namedType: untypedDeducedName } : undefined;
  }
  if (typeof others === "object") return referenceTo(others, around);
  return others ? { namedType: untypedDeducedName } : undefined;
}

function mapRelationship(schema: Schema): ElementRelationship | undefined {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return undefined;
  return mapType === "atomic" ? "atomic" : "separable";
}

function listOf(schema: Schema, around: Surroundings): ListAtom {
  const elementType = schema.items ? referenceTo(schema.items, around) : { namedType: untypedAtomicName };
  return { elementType, ...listRelationship(schema) };
}

/** Lists are atomic unless told otherwise; built-in kinds tell it by their strategic merge keys where they must. */
function listRelationship(schema: Schema): Pick<ListAtom, "elementRelationship" | "keys"> {
  switch (schema["x-kubernetes-list-type"]) {
    case "atomic":
      return { elementRelationship: "atomic" };
    case "set":
      return { elementRelationship: "associative" };
    case "map":
      return { elementRelationship: "associative", keys: schema["x-kubernetes-list-map-keys"] ?? [] };
    default:
      break;
  }
  const strategies = schema["x-kubernetes-patch-strategy"]?.split(",") ?? [];
  if (!strategies.includes("merge")) return { elementRelationship: "atomic" };
  const key = schema["x-kubernetes-patch-merge-key"];
  return key === undefined
    ? { elementRelationship: "associative" }
    : { elementRelationship: "associative", keys: [key] };
}

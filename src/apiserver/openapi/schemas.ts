import type { Schema } from "../../kube/schema/schema.ts";
import { builtinDefinitions, definitionKinds, definitionNameOf } from "../builtin/index.ts";
import type { Endpoint } from "../endpoint.ts";

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** The name of a kind's definition in OpenAPI documents: `io.k8s.api.core.v1.Pod`, `io.demo.v1.Widget`. */
export function definitionName(group: string, version: string, kind: string): string {
  return definitionNameOf(group, version, kind) ?? `${group.split(".").reverse().join(".")}.${version}.${kind}`;
}

/** All named schemas of some endpoints: their kinds, lists, what these refer to, and what every answer may be. */
export function schemasOf(endpoints: readonly Endpoint[]): Readonly<Record<string, Schema>> {
  const found: Record<string, Schema & GroupVersionKinds> = {};
  const kinds = definitionKinds();
  const builtin = builtinDefinitions();
  const add = (name: string): void => {
    const schema = builtin[name];
    if (!schema || name in found) return;
    const kind = kinds.get(name);
    found[name] = kind ? { ...schema, "x-kubernetes-group-version-kind": [kind] } : schema;
    for (const reference of referencesOf(schema)) add(reference);
  };
  for (const name of [`${meta}.ObjectMeta`, `${meta}.ListMeta`, `${meta}.Status`, `${meta}.DeleteOptions`]) add(name);
  for (const { resource, isCustom } of endpoints) {
    const { group, version, kind, listKind } = resource;
    const name = definitionName(group, version, kind);
    if (isCustom) found[name] = customSchema(resource.schema, { group, version, kind });
    else add(name);
    if (resource.verbs.includes("list")) {
      found[`${name}List`] ??= listSchema(name, { group, version, kind: listKind });
    }
    for (const subresource of resource.subresources) {
      add(definitionName(subresource.group, subresource.version, subresource.kind));
    }
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface GroupVersionKinds {
  readonly "x-kubernetes-group-version-kind"?: readonly object[];
}

const definitionRef = (name: string): Schema => ({ $ref: `#/definitions/${name}` });

function customSchema(schema: Schema, kind: object): Schema & GroupVersionKinds {
  const properties = {
    ...schema.properties,
    apiVersion: { type: "string" as const, description: apiVersionDescription },
    kind: { type: "string" as const, description: kindDescription },
    metadata: { ...definitionRef(`${meta}.ObjectMeta`), description: "The object's metadata." },
  };
  return { ...schema, type: "object", properties, "x-kubernetes-group-version-kind": [kind] };
}

function listSchema(name: string, kind: object): Schema & GroupVersionKinds {
  return {
    type: "object",
    description: `A list of objects of one kind.`,
    required: ["items"],
    properties: {
      apiVersion: { type: "string", description: apiVersionDescription },
      kind: { type: "string", description: kindDescription },
      metadata: definitionRef(`${meta}.ListMeta`),
      items: { type: "array", items: definitionRef(name) },
    },
    "x-kubernetes-group-version-kind": [kind],
  };
}

const apiVersionDescription = "The group and version that this object is written in.";
const kindDescription = "What kind of object this is, in CamelCase.";

/** The names that a schema refers to, at any depth. */
function referencesOf(schema: unknown): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" ? [value.slice("#/definitions/".length)] : referencesOf(value),
  );
}

// Schemas from the OpenAPI v3 documents of a running server: structure only. Descriptions stay behind; ours are elsewhere.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { RealServer } from "../cluster/api-server.ts";

type Json = Readonly<Record<string, unknown>>;

const kept = new Set([
  ...["type", "format", "required", "enum", "default", "properties", "items", "additionalProperties", "oneOf"],
  ...["x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"],
  ...["x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key"],
  ...["x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"],
]);
const alsoNeeded = [
  "Status",
  "DeleteOptions",
  "WatchEvent",
  "Patch",
  "APIResourceList",
  "APIGroup",
  "APIGroupList",
].map((name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`);

export async function definitionsOf(server: RealServer, kinds: readonly string[]): Promise<Json> {
  const documents = new Map<string, Json>();
  for (const kind of kinds) {
    const [group, version] = kind.split("/");
    const path = group === "" ? `/openapi/v3/api/${version}` : `/openapi/v3/apis/${group}/${version}`;
    if (documents.has(path)) continue;
    const answer = await server.call("GET", path);
    documents.set(path, answer.json() as Json);
  }
  const schemas: Record<string, Json> = {};
  for (const document of documents.values()) {
    Object.assign(schemas, (document["components"] as { schemas: Json }).schemas);
  }
  const wanted = new Map<string, Json>();
  const pending = [...rootsOf(schemas, kinds), ...alsoNeeded];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const schema = schemas[name];
    if (wanted.has(name) || !schema) continue;
    wanted.set(
      name,
      describe(
        name,
        compact(schema, (reference) => pending.push(reference)),
      ),
    );
  }
  const definitions = Object.fromEntries([...wanted].sort(([a], [b]) => (a < b ? -1 : 1)));
  refuseIdleDescriptions(definitions);
  return definitions;
}

type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

const descriptions: Descriptions = parse(readFileSync(join(import.meta.dirname, "descriptions.yaml"), "utf8"));

/** Our own words for what people ask `kubectl explain` about. */
function describe(name: string, schema: Json): Json {
  const own = Object.entries(descriptions).find(([key]) => name.endsWith(`.${key}`))?.[1] ?? {};
  const isObject = "metadata" in ((schema["properties"] as Json | undefined) ?? {});
  const general = descriptions["*"] ?? {};
  const properties = schema["properties"] as Readonly<Record<string, Json>> | undefined;
  return {
    ...(own["_"] !== undefined && { description: own["_"] }),
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([field, member]) => {
          const text =
            own[field] ??
            (isObject || field.startsWith("match") || field === "conditions" ? general[field] : undefined);
          return [field, text === undefined ? member : { description: text, ...member }];
        }),
      ),
    }),
  };
}

/** A description of something that is not there is a mistake in its name. */
function refuseIdleDescriptions(definitions: Readonly<Record<string, Json>>): void {
  for (const [key, texts] of Object.entries(descriptions)) {
    if (key === "*") continue;
    const found = Object.entries(definitions).find(([name]) => name.endsWith(`.${key}`))?.[1];
    const fields = Object.keys((found?.["properties"] as Json | undefined) ?? {});
    const idle = Object.keys(texts).filter((field) => field !== "_" && !fields.includes(field));
    if (!found || idle.length > 0) throw new Error(`descriptions.yaml: ${key} ${idle.join(", ")} is not there`);
  }
}

function rootsOf(schemas: Readonly<Record<string, Json>>, kinds: readonly string[]): readonly string[] {
  const wanted = new Set(kinds.flatMap((kind) => [kind, `${kind}List`]));
  return Object.keys(schemas).filter((name) => {
    const owners = schemas[name]?.["x-kubernetes-group-version-kind"];
    if (!Array.isArray(owners)) return false;
    return owners.some((owner: Record<string, string>) =>
      wanted.has(`${owner["group"]}/${owner["version"]}/${owner["kind"]}`),
    );
  });
}

function compact(schema: Json, refer: (name: string) => void): Json {
  const whole = schema["allOf"];
  if (Array.isArray(whole) && whole.length === 1) {
    const { $ref } = whole[0] as { $ref: string };
    return { ...compact({ $ref }, refer), ...patchMarks(schema) };
  }
  if (typeof schema["$ref"] === "string") {
    const name = schema["$ref"].replace("#/components/schemas/", "");
    refer(name);
    return { $ref: `#/definitions/${name}` };
  }
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (!kept.has(key) || isEmptyDefault(key, value)) continue;
    if (key === "properties") result[key] = mapValues(value as Record<string, Json>, (inner) => compact(inner, refer));
    else if (key === "items" || key === "additionalProperties") {
      result[key] = typeof value === "object" ? compact(value as Json, refer) : value;
    } else if (key === "oneOf") result[key] = value;
    else result[key] = value;
  }
  return result;
}

// The default of a struct is the empty struct: it says nothing.
const isEmptyDefault = (key: string, value: unknown): boolean =>
  key === "default" && typeof value === "object" && value !== null && Object.keys(value).length === 0;

const patchMarks = (schema: Json): Json =>
  Object.fromEntries(
    Object.entries(schema).filter(([key]) => key.startsWith("x-kubernetes-patch") || key === "x-kubernetes-map-type"),
  );

const mapValues = (record: Readonly<Record<string, Json>>, change: (value: Json) => Json): Json =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

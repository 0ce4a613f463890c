import type { Endpoint } from "../endpoint.ts";
import type { ServedSubresource } from "../resource.ts";

/** One operation, told without the dialect of an OpenAPI version. */
export interface Operation {
  readonly path: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly action: string;
  readonly operationId: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly parameters: readonly Parameter[];
  /** What is sent, when something is. */
  readonly body?: "object" | "patch";
  /** kubectl decides by these how it patches: custom resources know no strategic merge. */
  readonly isCustom: boolean;
  /** What is answered. */
  readonly answer: "object" | "list" | "status";
}

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly type: "string" | "integer" | "boolean";
}

const query = (name: string, type: Parameter["type"] = "string"): Parameter => ({ name, in: "query", type });
const listParameters: readonly Parameter[] = [
  query("allowWatchBookmarks", "boolean"),
  query("continue"),
  query("fieldSelector"),
  query("labelSelector"),
  query("limit", "integer"),
  query("resourceVersion"),
  query("resourceVersionMatch"),
  query("sendInitialEvents", "boolean"),
  query("timeoutSeconds", "integer"),
  query("watch", "boolean"),
];
const writeParameters: readonly Parameter[] = [query("dryRun"), query("fieldManager"), query("fieldValidation")];
const deleteParameters: readonly Parameter[] = [
  query("dryRun"),
  query("gracePeriodSeconds", "integer"),
  query("orphanDependents", "boolean"),
  query("propagationPolicy"),
];

type Shape = Omit<Operation, "path" | "operationId" | "kind" | "isCustom">;

const ofCollection: Readonly<Record<string, Shape>> = {
  list: { method: "get", action: "list", parameters: listParameters, answer: "list" },
  create: { method: "post", action: "post", parameters: writeParameters, body: "object", answer: "object" },
  deletecollection: {
    method: "delete",
    action: "deletecollection",
    parameters: [...deleteParameters, ...listParameters],
    answer: "status",
  },
};
const ofObject: Readonly<Record<string, Shape>> = {
  get: { method: "get", action: "get", parameters: [], answer: "object" },
  update: { method: "put", action: "put", parameters: writeParameters, body: "object", answer: "object" },
  patch: {
    method: "patch",
    action: "patch",
    parameters: [...writeParameters, query("force", "boolean")],
    body: "patch",
    answer: "object",
  },
  delete: { method: "delete", action: "delete", parameters: deleteParameters, answer: "status" },
};

/** Everything that one can do with a resource, by path. */
export function operationsOf({ resource, isCustom }: Endpoint): readonly Operation[] {
  const { group, version, plural, namespaced, verbs, kind } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespaced ? `${root}/namespaces/{namespace}` : root;
  const collection = `${scope}/${plural}`;
  const self = { group, version, kind };
  const operations = [
    ...verbs.flatMap((verb) => entry(ofCollection[verb], collection, verb, self)),
    ...verbs.flatMap((verb) => entry(ofObject[verb], `${collection}/{name}`, verb, self)),
    ...resource.subresources.flatMap((subresource) => subresourceOperations(collection, subresource)),
  ];
  if (namespaced && verbs.includes("list"))
    operations.push(...entry(ofCollection["list"], `${root}/${plural}`, "listAll", self));
  return operations.map((operation) => ({ ...operation, isCustom }));
}

export const patchTypesOf = ({ isCustom }: Operation): readonly string[] => [
  "application/json-patch+json",
  "application/merge-patch+json",
  ...(isCustom ? [] : ["application/strategic-merge-patch+json"]),
  "application/apply-patch+yaml",
];

type Described = Omit<Operation, "isCustom">;

function subresourceOperations(collection: string, subresource: ServedSubresource): readonly Described[] {
  const { name, verbs, group, version, kind } = subresource;
  const path = `${collection}/{name}/${name}`;
  return verbs.flatMap((verb) => {
    const shape = verb === "create" ? ofCollection["create"] : ofObject[verb];
    return entry(shape, path, `${verb}${name}`, { group, version, kind });
  });
}

function entry(shape: Shape | undefined, path: string, verb: string, kind: Operation["kind"]): readonly Described[] {
  if (!shape) return [];
  const operationId = `${verb}${[kind.group.split(".")[0] || "core", kind.version, kind.kind].map(capitalized).join("")}`;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = ""]): Parameter => ({ name, in: "path", type: "string" }),
  );
  return [{ ...shape, path, operationId, kind, parameters: [...inPath, ...shape.parameters, query("pretty")] }];
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

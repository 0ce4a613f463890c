import type { KubeObject } from "../../kube/object.ts";
import type { CompiledSchema } from "../../kube/schema/compile.ts";
import { compileSchema } from "../../kube/schema/compile.ts";
import { compareVersions } from "../discovery/groups.ts";
import { Endpoint, type StorageForm } from "../endpoint.ts";
import type { ServedResource, ServedSubresource } from "../resource.ts";
import type { Definition, DefinitionVersion } from "./definition.ts";
import { printerColumns } from "./printer-columns.ts";
import { shapeCustom } from "./shape-custom.ts";
import { customStatusStrategy, customStrategy } from "./strategy.ts";

const allVerbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
/** What discovery shows while a definition goes. */
const terminatingVerbs = ["delete", "deletecollection", "get", "list", "watch"];

/** The endpoints of every served version of an established definition; `revision` is the definition's own. */
export function endpointsOf(definition: Definition, revision: number): readonly Endpoint[] {
  const { versions } = definition.spec;
  const compiled = new Map(
    versions.map(({ name, schema }) => [name, compileSchema(schema?.openAPIV3Schema ?? preservesAll)]),
  );
  const storageVersion = versions.find(({ storage }) => storage)?.name ?? "";
  const storageSchema = compiled.get(storageVersion);
  return versions
    .filter(({ served }) => served)
    .flatMap((version) => {
      const schema = compiled.get(version.name);
      if (!schema || !storageSchema) return [];
      const resource = servedResource(definition, version, schema);
      const endpoint: Endpoint = new Endpoint(resource, {
        isCustom: true,
        isTerminating: definition.metadata.deletionTimestamp !== undefined,
        shape: (value) => shapeCustom(endpoint, schema, value),
        otherVersions: versions
          .filter(({ name }) => name !== version.name)
          .map(({ name, schema: other }) => ({
            apiVersion: `${definition.spec.group}/${name}`,
            schema: other?.openAPIV3Schema ?? preservesAll,
          })),
        storage: storedIn(definition, version.name, storageVersion, storageSchema, revision),
        ...(version.deprecated && { deprecationWarning: deprecationOf(definition, version, resource.kind) }),
      });
      return [endpoint];
    });
}

/** Tells what to use instead: the best version that is not on its way out itself. */
function deprecationOf({ spec }: Definition, version: DefinitionVersion, kind: string): string {
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const [better] = spec.versions
    .filter(({ served, deprecated, name }) => served && !deprecated && compareVersions(name, version.name) < 0)
    .map(({ name }) => name)
    .sort(compareVersions);
  const instead = better === undefined ? "" : `; use ${spec.group}/${better} ${kind}`;
  return `${spec.group}/${version.name} ${kind} is deprecated${instead}`;
}

const preservesAll = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;

/**
 * Conversion "None": versions differ in nothing but the apiVersion that they are served under. What was stored before the
 * definition changed is read with the defaults that the stored version has now.
 */
function storedIn(
  { spec }: Definition,
  served: string,
  stored: string,
  schema: CompiledSchema,
  definitionRevision: number,
): StorageForm {
  const storedApiVersion = `${spec.group}/${stored}`;
  const servedApiVersion = `${spec.group}/${served}`;
  const isSame = served === stored;
  return {
    toStored: (object) => (isSame ? object : { ...object, apiVersion: storedApiVersion }),
    fromStored(object) {
      const filled = schema.default(schema.prune(object).value as KubeObject);
      return filled.apiVersion === servedApiVersion ? filled : { ...filled, apiVersion: servedApiVersion };
    },
    isAsServed: (entry) => isSame && entry.revision > definitionRevision,
  };
}

function servedResource(definition: Definition, version: DefinitionVersion, schema: CompiledSchema): ServedResource {
  const { group, scope } = definition.spec;
  const names = definition.status?.acceptedNames ?? definition.spec.names;
  const namespaced = scope === "Namespaced";
  const hasStatus = version.subresources?.status !== undefined;
  const { scale } = version.subresources ?? {};
  const shape = { namespaced, hasStatus, schema, ...(scale && { scale }) };
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind,
    plural: names.plural,
    singular: names.singular,
    namespaced,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: definition.metadata.deletionTimestamp === undefined ? allVerbs : terminatingVerbs,
    subresources: subresourcesOf(group, names.kind, version),
    ...(scale && { scale }),
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
    schema: version.schema?.openAPIV3Schema ?? {},
    definitions: {},
    strategy: customStrategy(shape),
    ...(hasStatus && { statusStrategy: customStatusStrategy(shape) }),
    columns: printerColumns(version),
  };
}

function subresourcesOf(
  group: string,
  kind: string,
  { name, subresources }: DefinitionVersion,
): readonly ServedSubresource[] {
  const verbs = ["get", "patch", "update"];
  return [
    ...(subresources?.status ? [{ name: "status", kind, group, version: name, verbs }] : []),
    ...(subresources?.scale ? [{ name: "scale", kind: "Scale", group: "autoscaling", version: "v1", verbs }] : []),
  ];
}

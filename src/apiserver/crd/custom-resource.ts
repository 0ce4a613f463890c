import { deepEqual } from "../../kube/equality.ts";
import type { KubeObject } from "../../kube/object.ts";
import { subdomainName } from "../builtin/names.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "../builtin/object-meta.ts";
import { Endpoint, type Shaped } from "../endpoint.ts";
import type { ServedResource, ServedSubresource, Strategy } from "../resource.ts";
import type { Definition, DefinitionVersion } from "./definition.ts";
import { printerColumns } from "./printer-columns.ts";

const allVerbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/** The endpoints of every served version of an established definition. */
export function endpointsOf(definition: Definition): readonly Endpoint[] {
  const storage = definition.spec.versions.find(({ storage }) => storage);
  return definition.spec.versions
    .filter(({ served }) => served)
    .map((version) => {
      const resource = servedResource(definition, version);
      return new Endpoint(resource, {
        isCustom: true,
        shape: (value) => shape(value),
        ...(storage && storage.name !== version.name && { storage: storedIn(definition, version.name, storage.name) }),
      });
    });
}

/** Conversion "None": versions differ in nothing but the apiVersion that they are served under. */
function storedIn({ spec }: Definition, served: string, stored: string) {
  return {
    toStored: (object: KubeObject): KubeObject => ({ ...object, apiVersion: `${spec.group}/${stored}` }),
    fromStored: (object: KubeObject): KubeObject => ({ ...object, apiVersion: `${spec.group}/${served}` }),
  };
}

function servedResource(definition: Definition, version: DefinitionVersion): ServedResource {
  const { group, scope } = definition.spec;
  const names = definition.status?.acceptedNames ?? definition.spec.names;
  const namespaced = scope === "Namespaced";
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
    verbs:
      definition.metadata.deletionTimestamp === undefined ? allVerbs : allVerbs.filter((verb) => verb !== "create"),
    subresources: subresourcesOf(group, names.kind, version),
    ...(version.subresources?.scale && { scale: version.subresources.scale }),
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
    schema: version.schema?.openAPIV3Schema ?? {},
    definitions: {},
    strategy: strategyOf(namespaced, version),
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

function shape(value: Readonly<Record<string, unknown>>): Shaped {
  const metadata = typeof value["metadata"] === "object" && value["metadata"] !== null ? value["metadata"] : {};
  return { kind: "Shaped", object: { ...value, metadata } as unknown as KubeObject, unknownFields: [] };
}

function strategyOf(namespaced: boolean, version: DefinitionVersion): Strategy {
  const hasStatus = version.subresources?.status !== undefined;
  const withoutStatus = (object: KubeObject): KubeObject => {
    if (!hasStatus || !("status" in object)) return object;
    const { status: _status, ...rest } = object;
    return rest as KubeObject;
  };
  return {
    default: (object) => object,
    prepareForCreate: (object) => ({
      ...withoutStatus(object),
      metadata: { ...object.metadata, generation: 1 },
    }),
    prepareForUpdate(object, old) {
      const next = hasStatus ? { ...withoutStatus(object), ...("status" in old && { status: old.status }) } : object;
      const generation = old.metadata.generation ?? 0;
      const isChanged = !deepEqual({ ...next, metadata: null }, { ...old, metadata: null });
      return { ...next, metadata: { ...object.metadata, generation: isChanged ? generation + 1 : generation } };
    },
    validate: (object) => validateObjectMeta({ ...object }, namespaced, subdomainName),
    validateUpdate: (object, old) => validateObjectMetaUpdate({ ...object }, { ...old }),
  };
}

import { createFieldManager, type FieldManager } from "../../kube/apply/field-manager.ts";
import { parentManagedFields, scaleManagedFields } from "../../kube/apply/scale-fields.ts";
import type { KubeObject } from "../../kube/object.ts";
import { emptyValue, isLeftOut } from "../builtin/empty.ts";
import { builtinDefinitions, builtinSchema } from "../builtin/index.ts";
import { type WireStruct, wireStructOf } from "../builtin/wire-types.ts";
import type { WriteOptions } from "../decode/write-options.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";

/** Who writes down in managedFields that these fields are now theirs. */
export interface Managers {
  created(object: KubeObject): KubeObject;
  updated(object: KubeObject, old: KubeObject): KubeObject;
}

export function managerOf({ env }: ServerParts, { endpoint, info }: ApiRequest, options: WriteOptions): Managers {
  const manager = options.fieldManager;
  const { subresource } = info;
  return {
    created: (object) => fieldManagerOf(endpoint).update({ updated: object, manager, now: env.now() }),
    updated: (object, old) =>
      subresource === "scale"
        ? scaledBy(endpoint, object, old, manager, env.now())
        : fieldManagerOf(endpoint).update({ live: old, updated: object, manager, subresource, now: env.now() }),
  };
}

const fieldManagers = new WeakMap<Endpoint, FieldManager>();

/** Made at the first write: most kinds are never written to in a given process. */
export function fieldManagerOf(endpoint: Endpoint): FieldManager {
  const known = fieldManagers.get(endpoint);
  if (known) return known;
  const { resource, apiVersion, isCustom } = endpoint;
  const hasStatus = endpoint.subresource("status") !== undefined;
  const made = createFieldManager({
    schema: resource.schema,
    definitions: resource.definitions,
    apiVersion,
    kind: resource.kind,
    otherVersions: endpoint.otherVersions,
    resetFields: {
      ...(hasStatus && { "": ["status"] }),
      status: isCustom ? ["metadata", "spec"] : ["spec"],
    },
    ...(!isCustom && { builtIn: { emptyObject: emptyBuiltin(apiVersion, resource.kind) } }),
  });
  fieldManagers.set(endpoint, made);
  return made;
}

/** The containers that are there before anybody sets anything: `spec: { strategy: {} }`. */
function emptyBuiltin(apiVersion: string, kind: string): Readonly<Record<string, unknown>> {
  const struct = wireStructOf(apiVersion, kind);
  return struct ? emptyStruct(struct) : {};
}

/** Unlike in JSON, no struct is ever left out here: owners are found in Go's own values. */
function emptyStruct(struct: WireStruct): Readonly<Record<string, unknown>> {
  const members = struct.fields.flatMap((field): [string, unknown][] => {
    if (!field.pointer && field.type.kind === "struct") return [[field.name, emptyStruct(field.type.struct())]];
    const value = field.pointer ? undefined : emptyValue(field.type);
    return isLeftOut(field, value) ? [] : [[field.name, value ?? null]];
  });
  return Object.fromEntries(members);
}

let scaleManager: FieldManager | undefined;

/** A Scale has managers of its own, which are kept with the object that is scaled. */
function scaledBy(endpoint: Endpoint, object: KubeObject, old: KubeObject, manager: string, now: Date): KubeObject {
  scaleManager ??= createFieldManager({
    schema: builtinSchema("autoscaling", "v1", "Scale"),
    definitions: builtinDefinitions(),
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    builtIn: { emptyObject: emptyBuiltin("autoscaling/v1", "Scale") },
  });
  const path = endpoint.resource.scale?.specReplicasPath ?? ".spec.replicas";
  const paths = { [endpoint.apiVersion]: path };
  const before = old.metadata.managedFields;
  const updated = scaleManager.update({
    live: scaleShape(old, path, scaleManagedFields(before, paths)),
    updated: scaleShape(object, path, undefined),
    manager,
    subresource: "scale",
    now,
  });
  const managedFields = parentManagedFields(before, updated.metadata.managedFields, endpoint.apiVersion, paths);
  return { ...object, metadata: { ...object.metadata, ...(managedFields && { managedFields }) } };
}

function scaleShape(
  object: KubeObject,
  path: string,
  managedFields: KubeObject["metadata"]["managedFields"],
): KubeObject {
  let replicas: unknown = object;
  for (const step of path.split(".").filter((each) => each !== "")) {
    replicas =
      typeof replicas === "object" && replicas !== null ? (replicas as Record<string, unknown>)[step] : undefined;
  }
  const { name, uid } = object.metadata;
  const metadata = { name, ...(uid !== undefined && { uid }), ...(managedFields && { managedFields }) };
  return { apiVersion: "autoscaling/v1", kind: "Scale", metadata, spec: { replicas } } as KubeObject;
}

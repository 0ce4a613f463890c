import { deepEqual } from "../../kube/equality.ts";
import { type FieldError, invalid } from "../../kube/field-error.ts";
import { findFirst, parseJsonPath } from "../../kube/json-path.ts";
import type { ScalePaths } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { CompiledSchema } from "../../kube/schema/compile.ts";
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from "../builtin/index.ts";
import type { StatusStrategy, Strategy } from "../resource.ts";

export interface CustomShape {
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  readonly schema: CompiledSchema;
  readonly scale?: ScalePaths;
}

/** What a definition says about the life of its objects. */
export function customStrategy(shape: CustomShape): Strategy {
  const { schema, namespaced, hasStatus } = shape;
  return {
    default: (object) => schema.default(object),
    prepareForCreate: (object) => ({
      ...(hasStatus ? withoutStatus(object) : object),
      metadata: { ...object.metadata, generation: 1 },
    }),
    prepareForUpdate(object, old) {
      const next = hasStatus ? { ...withoutStatus(object), ...("status" in old && { status: old.status }) } : object;
      const generation = old.metadata.generation ?? 0;
      const isChanged = !deepEqual({ ...next, metadata: null }, { ...old, metadata: null });
      return { ...next, metadata: { ...object.metadata, generation: isChanged ? generation + 1 : generation } };
    },
    validate: (object) => [
      ...schema.validate(object, { before: validateObjectMeta({ ...object }, namespaced, subdomainName) }),
      ...scaleErrors(shape, object),
    ],
    validateUpdate: (object, old) => [
      ...schema.validateUpdate(object, old, { before: validateObjectMetaUpdate({ ...object }, { ...old }) }),
      ...scaleErrors(shape, object),
    ],
    allowUnconditionalUpdate: false,
  };
}

export function customStatusStrategy({ schema }: CustomShape): StatusStrategy {
  return {
    prepareForUpdate(object, old) {
      const { managedFields } = object.metadata;
      const metadata = { ...old.metadata, ...(managedFields && { managedFields }) };
      return { ...withoutStatus(old), metadata, ...("status" in object && { status: object.status }) };
    },
    validateUpdate: (object, old) =>
      schema.validateStatusUpdate(object, old, { before: validateObjectMetaUpdate({ ...object }, { ...old }) }),
  };
}

function withoutStatus(object: KubeObject): KubeObject {
  if (!("status" in object)) return object;
  const { status: _status, ...rest } = object;
  return rest;
}

/** The numbers behind /scale must be numbers that /scale can show. */
function scaleErrors({ scale }: CustomShape, object: KubeObject): readonly FieldError[] {
  if (!scale) return [];
  return [scale.specReplicasPath, scale.statusReplicasPath].flatMap((path) => {
    const parsed = parseJsonPath(path);
    const value = parsed.ok ? findFirst(parsed.value, object) : undefined;
    if (value === undefined) return [];
    if (typeof value !== "number") {
      return [
        invalid(path, 0, `${path} accessor error: ${String(value)} is of the type ${typeof value}, expected int64`),
      ];
    }
    return value < 0 ? [invalid(path, value, "should be a non-negative integer")] : [];
  });
}

import { deepEqual } from "../../kube/equality.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { StatusStrategy, Strategy } from "../resource.ts";
import type { Behaviour, PartBehaviour } from "./behaviour.ts";
import { decodeJson } from "./decode.ts";
import { applyTypeDefaults } from "./defaults.ts";
import { type Draft, descend, draftOf, finished, partsOf } from "./draft.ts";
import { emptyValue } from "./empty.ts";
import { inFieldOrder } from "./field-order.ts";
import { subdomainName } from "./names.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts";
import { validateCoreFinalizers } from "./validation/core.ts";
import type { WireStruct } from "./wire-types.ts";

export interface KindShape {
  readonly struct: WireStruct;
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
}

export function strategyOf({ struct, namespaced, hasStatus }: KindShape, behaviour: Behaviour): Strategy {
  const rule = behaviour.name ?? subdomainName;
  const statusType = struct.byName.get("status")?.type;
  return {
    default(object) {
      const draft = decodeJson(struct, object).object as Draft;
      behaviour.fill?.(draft);
      applyTypeDefaults(struct, draft);
      return finished(inFieldOrder(struct, draft));
    },
    prepareForCreate(object) {
      const draft = behaviour.prepareCreate ? draftOf(object) : { ...partsOf(object) };
      if (behaviour.generationPaths) draft["metadata"] = withGeneration(object, 1);
      if (hasStatus && statusType && !behaviour.keepsStatusOnCreate) draft["status"] = emptyValue(statusType);
      behaviour.prepareCreate?.(draft);
      return finished(draft);
    },
    prepareForUpdate(object, old) {
      const draft = behaviour.prepareUpdate ? draftOf(object) : { ...partsOf(object) };
      if (hasStatus) putBack(draft, partsOf(old), "status");
      behaviour.prepareUpdate?.(draft, partsOf(old));
      draft["metadata"] = withGeneration(finished(draft), nextGeneration(draft, old, behaviour.generationPaths));
      return finished(draft);
    },
    validate(object) {
      const parts = partsOf(object);
      return [
        ...validateObjectMeta(parts, namespaced, rule),
        ...(behaviour.takesAnyFinalizer ? [] : validateCoreFinalizers(parts)),
        ...(behaviour.validate?.(parts) ?? []),
      ];
    },
    validateUpdate(object, old) {
      const parts = partsOf(object);
      return [
        ...validateObjectMetaUpdate(parts, partsOf(old)),
        ...(behaviour.takesAnyFinalizer ? [] : validateCoreFinalizers(parts)),
        ...(behaviour.updateSkipsValidate ? [] : (behaviour.validate?.(parts) ?? [])),
        ...(behaviour.validateUpdate?.(parts, partsOf(old)) ?? []),
      ];
    },
    ...(behaviour.warnings && {
      warnings: (object, old) => behaviour.warnings?.(partsOf(object), old && partsOf(old)) ?? [],
    }),
    allowCreateOnUpdate: behaviour.allowCreateOnUpdate ?? false,
    allowUnconditionalUpdate: !behaviour.refusesUnconditionalUpdate,
  };
}

export function statusStrategyOf({ struct }: KindShape, behaviour: Behaviour): StatusStrategy {
  return {
    prepareForUpdate(object, old) {
      const draft = { ...partsOf(object) };
      const before = partsOf(old);
      for (const { name } of struct.fields) if (!statusPathFields.has(name)) putBack(draft, before, name);
      behaviour.prepareStatus?.(draft, before);
      return finished(draft);
    },
    validateUpdate(object, old) {
      const parts = partsOf(object);
      return [
        ...validateObjectMetaUpdate(parts, partsOf(old)),
        ...(behaviour.validateStatus?.(parts, partsOf(old)) ?? []),
      ];
    },
  };
}

/** Everything stays but the part of the spec; managedFields record the writer. */
export function partStrategyOf(part: PartBehaviour, behaviour: Behaviour): StatusStrategy {
  return {
    prepareForUpdate(object, old) {
      const spec = part.spec(descend(partsOf(object), "spec") ?? {}, descend(partsOf(old), "spec") ?? {});
      const { resourceVersion, managedFields } = object.metadata;
      const metadata = { ...old.metadata, resourceVersion, ...(managedFields && { managedFields }) };
      const draft = { ...partsOf(old), metadata, spec };
      draft.metadata = withGeneration(
        finished(draft),
        nextGeneration(draft, old, behaviour.generationPaths),
      ) as typeof metadata;
      return finished(draft);
    },
    validateUpdate: (object, old) => part.validate(partsOf(object), partsOf(old)),
  };
}

function withGeneration({ metadata }: KubeObject, generation: number | undefined): unknown {
  if (metadata?.generation === generation) return metadata;
  const { generation: _, name, generateName, namespace, uid, resourceVersion, ...rest } = metadata ?? {};
  const members = { name, generateName, namespace, uid, resourceVersion, generation, ...rest };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** One more than before when anything that counts has changed. */
function nextGeneration(draft: Draft, old: KubeObject, paths: readonly string[] | undefined): number | undefined {
  const before = old.metadata.generation;
  const changed = paths?.some((path) => !deepEqual(valueAt(draft, path), valueAt(partsOf(old), path)));
  return changed ? (before ?? 0) + 1 : before;
}

const valueAt = (object: Draft, path: string): unknown => {
  const fields = path.split(".");
  return descend(object, ...fields.slice(0, -1))?.[fields.at(-1) ?? ""];
};

const statusPathFields = new Set(["kind", "apiVersion", "metadata", "status"]);

function putBack(draft: Draft, old: Draft, field: string): void {
  if (old[field] === undefined) delete draft[field];
  else draft[field] = old[field];
}

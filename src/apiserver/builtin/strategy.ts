import type { FieldError } from "../../kube/field-error.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Strategy } from "../resource.ts";
import type { Behaviour } from "./behaviour.ts";
import { decodeJson } from "./decode.ts";
import { applyTypeDefaults } from "./defaults.ts";
import { copy, type Draft, draftOf, finished, partsOf } from "./draft.ts";
import { emptyValue } from "./empty.ts";
import { subdomainName } from "./names.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts";
import type { WireStruct } from "./wire-types.ts";

/** A write to the /status sub-resource of a built-in kind. */
export interface StatusStrategy {
  /** Keeps everything of the old object but its status and what else this path may change. */
  prepareForUpdate(object: KubeObject, old: KubeObject): KubeObject;
  validateUpdate(object: KubeObject, old: KubeObject): readonly FieldError[];
}

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
      return finished(draft);
    },
    prepareForCreate(object) {
      if (!behaviour.prepareCreate && !hasStatus) return object;
      const draft = behaviour.prepareCreate ? draftOf(object) : { ...partsOf(object) };
      if (hasStatus && statusType && !behaviour.keepsStatusOnCreate) draft["status"] = emptyValue(statusType);
      behaviour.prepareCreate?.(draft);
      return finished(draft);
    },
    prepareForUpdate(object, old) {
      if (!behaviour.prepareUpdate && !hasStatus) return object;
      const draft = behaviour.prepareUpdate ? draftOf(object) : { ...partsOf(object) };
      if (hasStatus) putBack(draft, partsOf(old), "status");
      behaviour.prepareUpdate?.(draft, copy(old) as Draft);
      return finished(draft);
    },
    validate(object) {
      const parts = partsOf(object);
      return [...validateObjectMeta(parts, namespaced, rule), ...(behaviour.validate?.(parts) ?? [])];
    },
    validateUpdate(object, old) {
      const parts = partsOf(object);
      return [
        ...validateObjectMetaUpdate(parts, partsOf(old)),
        ...(behaviour.updateSkipsValidate ? [] : (behaviour.validate?.(parts) ?? [])),
        ...(behaviour.validateUpdate?.(parts, partsOf(old)) ?? []),
      ];
    },
    ...(behaviour.warnings && { warnings: (object) => behaviour.warnings?.(partsOf(object)) ?? [] }),
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

const statusPathFields = new Set(["kind", "apiVersion", "metadata", "status"]);

function putBack(draft: Draft, old: Draft, field: string): void {
  if (old[field] === undefined) delete draft[field];
  else draft[field] = old[field];
}

import type { KubeObject } from "../../kube/object.ts";
import type { ServedResource } from "../resource.ts";
import type { Behaviour } from "./behaviour.ts";
import { ageColumn, nameColumn } from "./columns.ts";
import { builtinDefinitions, builtinSchema } from "./definitions.ts";
import discovery from "./discovery.generated.json" with { type: "json" };
import { partsOf } from "./draft.ts";
import { behaviours } from "./kinds/index.ts";
import { partStrategyOf, statusStrategyOf, strategyOf } from "./strategy.ts";
import { wireStructOf } from "./wire-types.ts";

/** A built-in resource may be on its way out. */
export interface BuiltinResource extends ServedResource {
  /** Sent with every answer about this resource, reads included. */
  readonly deprecation?: string;
}

let resources: readonly BuiltinResource[] | undefined;

/**
 * Every built-in resource, stored ones and reviews; a review has the verb `create` only and is answered, never stored.
 */
export function builtinResources(): readonly BuiltinResource[] {
  resources ??= discovery.map(resourceOf);
  return resources;
}

const plain: Behaviour = { columns: [nameColumn, ageColumn] };

function resourceOf(found: (typeof discovery)[number]): BuiltinResource {
  const { group, version, kind } = found;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const struct = wireStructOf(apiVersion, kind);
  if (!struct) throw new Error(`wire-types.generated.json lacks ${apiVersion} ${kind}`);
  const behaviour = behaviours.get(`${apiVersion}/${kind}`) ?? plain;
  const hasStatus = found.subresources.some(({ name }) => name === "status");
  const shape = { struct, namespaced: found.namespaced, hasStatus };
  return {
    ...found,
    listKind: `${kind}List`,
    ...(behaviour.scale && { scale: behaviour.scale }),
    selectableFields: behaviour.selectableFields ?? [],
    get schema() {
      return builtinSchema(group, version, kind);
    },
    get definitions() {
      return builtinDefinitions();
    },
    strategy: strategyOf(shape, behaviour),
    ...(hasStatus && { statusStrategy: statusStrategyOf(shape, behaviour) }),
    ...(behaviour.parts && {
      partStrategies: Object.fromEntries(
        Object.entries(behaviour.parts).map(([name, part]) => [name, partStrategyOf(part, behaviour)]),
      ),
    }),
    ...(behaviour.storedAs && { storedAs: behaviour.storedAs }),
    ...(behaviour.deprecation !== undefined && { deprecation: behaviour.deprecation }),
    ...(behaviour.fieldValues && {
      fieldValue: (object: KubeObject, field: string) => behaviour.fieldValues?.[field]?.(partsOf(object)),
    }),
    ...(behaviour.unknownFieldMessage && { unknownFieldMessage: behaviour.unknownFieldMessage }),
    columns: behaviour.columns,
  };
}

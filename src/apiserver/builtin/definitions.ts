import type { Definitions, Schema } from "../../kube/schema/schema.ts";
import packed from "./definitions.generated.json" with { type: "json" };
import { wireKinds, wireStructOf } from "./wire-types.ts";

/** The schemas of the built-in kinds and of all that they refer to, named as OpenAPI documents name them. */
export function builtinDefinitions(): Definitions {
  definitions ??= JSON.parse(packed) as Definitions;
  return definitions;
}

/** Parsed when somebody asks: a server that only stores and reads never does. */
let definitions: Definitions | undefined;

/** The name of a kind's definition, `io.k8s.api.core.v1.Pod`; nothing when the kind is not built in. */
export function definitionNameOf(group: string, version: string, kind: string): string | undefined {
  return wireStructOf(group === "" ? version : `${group}/${version}`, kind)?.name;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Which kind a definition describes, for `x-kubernetes-group-version-kind`; lists are included. */
export function definitionKinds(): ReadonlyMap<string, GroupVersionKind> {
  const definitions = builtinDefinitions();
  const result = new Map<string, GroupVersionKind>();
  for (const key of wireKinds()) {
    const parts = key.split("/");
    const kind = parts.at(-1) ?? "";
    const version = parts.at(-2) ?? "";
    const group = parts.length === 3 ? (parts[0] ?? "") : "";
    const name = definitionNameOf(group, version, kind);
    if (name === undefined) continue;
    result.set(name, { group, version, kind });
    if (`${name}List` in definitions) result.set(`${name}List`, { group, version, kind: `${kind}List` });
  }
  return result;
}

export function builtinSchema(group: string, version: string, kind: string): Schema {
  const name = definitionNameOf(group, version, kind);
  const schema = name === undefined ? undefined : builtinDefinitions()[name];
  if (!schema) throw new Error(`no schema for the built-in kind ${group}/${version} ${kind}`);
  return schema;
}

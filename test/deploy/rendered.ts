import type { KubeObject } from "../../src/kube/object.ts";
import { parseYaml } from "../../src/kube/yaml.ts";

/** Objects by what they are, so that two renderings compare whatever their order. */
export function byIdentity(objects: readonly KubeObject[]): Readonly<Record<string, KubeObject>> {
  const found: Record<string, KubeObject> = {};
  for (const object of objects) {
    const { namespace = "", name } = object.metadata;
    const id = `${object.apiVersion} ${object.kind} ${namespace}/${name}`;
    if (found[id]) throw new Error(`${id} is rendered twice`);
    found[id] = object;
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Reading the definitions takes a while, and they are the same in every rendering. */
const known = new Map<string, readonly KubeObject[]>();

export function objectsIn(text: string): readonly KubeObject[] {
  const objects = known.get(text) ?? parsedObjects(text);
  known.set(text, objects);
  return objects;
}

function parsedObjects(text: string): readonly KubeObject[] {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join("\n"));
  return parsed.documents.flatMap(({ value }) => (value === null ? [] : [value as KubeObject]));
}

/** Helm alone is told to keep the definitions when the release goes. */
export function withoutHelmsWord(object: KubeObject): KubeObject {
  const { "helm.sh/resource-policy": policy, ...annotations } = object.metadata.annotations ?? {};
  if (policy === undefined) return object;
  const { annotations: _, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
  };
}

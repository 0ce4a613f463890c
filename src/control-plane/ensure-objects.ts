import { Namespace } from "../api/builtin/cluster.ts";
import { ConfigMap } from "../api/builtin/configuration.ts";
import { builtinKinds } from "../api/builtin/kinds.ts";
import { labels } from "../api/well-known.ts";
import { ApiError } from "../client/api-error.ts";
import type { Client } from "../client/client.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";

/**
 * Puts right what an installation of ours consists of; what is right already is only looked at. ConfigMaps are made once
 * and then belong to the user. Namespaces come first, the last object last, and the rest at once.
 */
export async function ensureObjects(
  client: Client,
  objects: readonly KubeObject[],
  around: (object: KubeObject, write: () => Promise<void>) => Promise<void> = (_object, write) => write(),
): Promise<void> {
  const existing = await existingLike(client, objects);
  const wrong = objects.filter((object) => {
    const found = existing.get(idOf(object));
    return found === undefined || (object.kind !== ConfigMap.kind && !isContained(object, found));
  });
  const last = objects.at(-1);
  const isFirst = ({ kind }: KubeObject): boolean => kind === Namespace.kind;
  const ensure = (object: KubeObject): Promise<void> => around(object, () => put(client, object));
  await Promise.all(wrong.filter(isFirst).map(ensure));
  await Promise.all(wrong.filter((object) => !isFirst(object) && object !== last).map(ensure));
  if (last && wrong.includes(last)) await ensure(last);
}

async function existingLike(client: Client, objects: readonly KubeObject[]): Promise<ReadonlyMap<string, KubeObject>> {
  const kinds = new Set(objects.map(kindOf));
  const lists = await Promise.all(
    [...kinds].map(async (kind) => {
      const { items } = await client.list(kind, { labelSelector: labels.controller });
      return items.map((item) => [idOf({ ...item, kind: kind.kind }), item] as const);
    }),
  );
  return new Map(lists.flat());
}

async function put(client: Client, object: KubeObject): Promise<void> {
  const fieldManager = "capstan-install";
  if (object.kind !== ConfigMap.kind) {
    await client.apply(kindOf(object), object, { fieldManager, force: true });
    return;
  }
  await client.create(kindOf(object), object, { fieldManager }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
  });
}

function kindOf({ apiVersion, kind: name, metadata }: KubeObject): KindRef {
  const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
  const kind = builtinKinds.find((known) => known.group === group && known.kind === name);
  if (!kind) throw new Error(`${name} ${metadata.name}: ${apiVersion} is not built in`);
  return kind;
}

const idOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

/** Whether everything that is wanted stands there; the server may have added defaults. Lists must be the same. */
export function isContained(wanted: unknown, found: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) &&
      wanted.length === found.length &&
      wanted.every((item, index) => isContained(item, found[index]))
    );
  if (typeof wanted !== "object" || wanted === null) return wanted === found;
  if (typeof found !== "object" || found === null) return false;
  const there = found as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([key, value]) => value === undefined || isContained(value, there[key]));
}

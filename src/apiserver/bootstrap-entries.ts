import type { Env } from "../env/env.ts";
import type { KubeObject, ObjectMeta } from "../kube/object.ts";
import packed from "./bootstrap.generated.json" with { type: "json" };
import { storageKey } from "./storage/entry.ts";
import type { Store } from "./storage/store.ts";
import { timestamp } from "./writes/metadata.ts";

/** An object that every server has, as its whole pipeline makes it of `bootstrapObjects`, but for its uid and its times. */
export interface BootstrapEntry {
  readonly collection: string;
  readonly object: KubeObject;
}

/** A text inside of JSON: parsed by the one start that needs it. */
export const bootstrapEntries = (): readonly BootstrapEntry[] => JSON.parse(packed) as readonly BootstrapEntry[];

/**
 * Writes those that are missing straight into the store. They went through the pipeline when they were generated; to do
 * it again would take longer than all the rest of a start. Objects that exist are left as they are.
 */
export async function ensureBootstrapEntries(env: Env, store: Store): Promise<void> {
  const now = timestamp(env.now());
  const missing = bootstrapEntries().filter(({ collection, object }) => !store.get(collection, keyOf(object)));
  await Promise.all(
    missing.map(({ collection, object }) =>
      store.write(collection, keyOf(object), undefined, stamped(object, env.uuid(), now)),
    ),
  );
}

const keyOf = ({ metadata }: KubeObject): string => storageKey(metadata.namespace, metadata.name);

function stamped(object: KubeObject, uid: string, now: string): KubeObject {
  const { managedFields, ...metadata } = object.metadata;
  const made: ObjectMeta = {
    ...metadata,
    uid,
    creationTimestamp: now,
    ...(managedFields && { managedFields: managedFields.map((entry) => ({ ...entry, time: now })) }),
  };
  return { ...object, metadata: made };
}

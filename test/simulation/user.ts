import { isNotFound } from "../../src/client/api-error.ts";
import type { Client } from "../../src/client/client.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import type { KubeObject } from "../../src/kube/object.ts";

/** The user of every story lives here. */
export const namespace = "default";

/** An example as a user would send it: without what only a server sets. */
export const here = <T extends KubeObject>({ apiVersion, kind, metadata, ...rest }: T): T => {
  const { name, annotations, labels } = metadata;
  const kept = { name, namespace, ...(annotations && { annotations }), ...(labels && { labels }) };
  return { apiVersion, kind, metadata: kept, ...rest } as unknown as T;
};

/** Leaves alone what is there already, so that steps may come in any order. */
export const put = async <T extends KubeObject>(client: Client, kind: KindRef<T>, object: T): Promise<void> => {
  if (!(await exists(client, kind, object.metadata.name))) await client.create(kind, here(object) as never);
};

export const change = async (client: Client, kind: KindRef, name: string, value: object): Promise<void> => {
  if (await exists(client, kind, name)) await client.patch(kind, { namespace, name }, { type: "merge", value });
};

export const remove = async (client: Client, kind: KindRef, name: string): Promise<void> => {
  if (await exists(client, kind, name)) await client.delete(kind, { namespace, name });
};

async function exists(client: Client, kind: KindRef, name: string): Promise<boolean> {
  try {
    await client.get(kind, { namespace, name });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

import { isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { AnyAction } from "./actions/catalogue.ts";
import type { Target, TargetState } from "./actions/definition.ts";

/** Reads the target, and what else the action depends on, fresh from the server: a decision on an old copy would be about the past. */
export async function readState(
  definition: AnyAction,
  { kind, ...key }: Target,
  parameters: unknown,
  { client, signal }: { readonly client: Pick<Client, "get" | "list">; readonly signal: AbortSignal },
): Promise<TargetState> {
  const object: KubeObject | undefined = await client.get(kind, key, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (object === undefined) return { related: [] };
  const wanted = definition.related?.(parameters, object);
  if (wanted === undefined) return { object, related: [] };
  const { kind: relatedKind, ...options } = wanted;
  const { items } = await client.list(relatedKind, { ...options, signal });
  return { object, related: items };
}

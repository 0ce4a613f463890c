import { Pod } from "../../api/builtin/pod.ts";
import { ApiError, isNotFound } from "../../client/api-error.ts";
import { sleep } from "../../env/env.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Effect } from "./actions/definition.ts";
import type { Hands } from "./carry-out.ts";

/** All at once, as kubectl does: how long a pod takes to go must not add up. The first trouble ends it for all. */
export async function evictAll(
  { pods, gracePeriodSeconds }: Extract<Effect, { kind: "Evict" }>,
  dryRun: { readonly dryRun?: boolean },
  hands: Hands,
  warnings: string[],
): Promise<void> {
  const trouble = new AbortController();
  const signal = AbortSignal.any([hands.signal, trouble.signal]);
  const going = pods.map((pod) =>
    evict(pod, gracePeriodSeconds, dryRun, { ...hands, signal }, warnings).catch((error: unknown) => {
      trouble.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(going);
  trouble.signal.throwIfAborted();
}

/** A disruption budget says no with 429 until the pod may go; how long we wait is the Job's deadline. */
async function evict(
  pod: KubeObject,
  gracePeriodSeconds: number | undefined,
  dryRun: { readonly dryRun?: boolean },
  { client, env, signal }: Hands,
  warnings: string[],
): Promise<void> {
  const { uid } = pod.metadata;
  const key = { namespace: pod.metadata.namespace ?? "", name: pod.metadata.name };
  const options = {
    signal,
    ...dryRun,
    ...(uid !== undefined && { preconditions: { uid } }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  };
  for (;;) {
    try {
      await client.evict(key, options);
      break;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Gone, or another pod of that name: this one is not on the node any more.
      if (error.status === 404 || error.status === 409) return;
      if (error.status !== 429) throw error;
      if (dryRun.dryRun) {
        warnings.push(`${key.namespace}/${key.name} could not be evicted now: a disruption budget needs it`);
        return;
      }
      await sleep(env, evictionRetryMs, signal);
    }
  }
  if (!dryRun.dryRun) await waitUntilGone(key, uid, { client, env, signal });
}

async function waitUntilGone(
  key: { readonly namespace: string; readonly name: string },
  uid: string | undefined,
  { client, env, signal }: Hands,
): Promise<void> {
  for (;;) {
    try {
      const found = await client.get(Pod, key, { signal });
      if (found.metadata.uid !== uid) return;
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    await sleep(env, goneLookMs, signal);
  }
}

const evictionRetryMs = 5_000;
const goneLookMs = 500;

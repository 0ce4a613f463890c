import { Pod } from "../../api/builtin/pod.ts";
import type { NewObject } from "../../client/client.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import type { Refusal } from "../../runtime/refusal.ts";

/** Why pods could not be made or removed; none when all went well. */
export type PodsManaged =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: "FailedCreate" | "FailedDelete"; readonly message: string };

/** An own deletion comes back as no news, and a pod that nobody runs goes with it: its owner looks again by itself. */
export const lookAfterDeletionMs = 10;

/** How an owner tells of its pods; people search for these sentences. */
export interface PodWords {
  created(pod: string): string;
  deleted(pod: string): string;
}

const usualWords: PodWords = {
  created: (pod) => `Created pod: ${pod}`,
  deleted: (pod) => `Deleted pod: ${pod}`,
};

/** At most so many pods at once, so that one set cannot keep everybody else waiting. */
export const burst = 500;

/**
 * Makes pods in growing batches: when the first is refused (a quota, a policy), the other thousand are not even tried.
 * Every pod is told as an event of its owner.
 */
export async function createPods(
  { write, events }: ReconcileContext,
  owner: KubeObject,
  pods: readonly NewObject<Pod>[],
  words: PodWords = usualWords,
): Promise<PodsManaged> {
  let batch = 1;
  for (let at = 0; at < pods.length; at += batch, batch *= 2) {
    const made = await Promise.all(pods.slice(at, at + batch).map((pod) => write.create(Pod, pod)));
    // Nothing new may come into a namespace that is on its way out, and nobody needs to hear of it.
    if (made.some((answer) => !answer.ok && isNamespaceLeaving(answer))) return { ok: true };
    for (const answer of made) {
      if (answer.ok) events.record(owner, normal("SuccessfulCreate", words.created(answer.object.metadata.name)));
      else
        events.record(owner, { type: "Warning", reason: "FailedCreate", message: `Error creating: ${answer.message}` });
    }
    const refused = made.find((answer) => !answer.ok);
    if (refused !== undefined && !refused.ok) return { ok: false, reason: "FailedCreate", message: refused.message };
  }
  return { ok: true };
}

export async function deletePods(
  { write, events }: ReconcileContext,
  owner: KubeObject,
  pods: readonly Pod[],
  words: PodWords = usualWords,
): Promise<PodsManaged> {
  const gone = await Promise.all(pods.map((pod) => write.delete(Pod, pod)));
  for (const [index, pod] of pods.entries()) {
    const answer = gone[index];
    if (answer?.ok) events.record(owner, normal("SuccessfulDelete", words.deleted(pod.metadata.name)));
  }
  const refused = gone.find((answer) => !answer.ok && answer.reason !== "Conflict");
  if (refused !== undefined && !refused.ok) return { ok: false, reason: "FailedDelete", message: refused.message };
  return { ok: true };
}

export const isNamespaceLeaving = ({ causes }: Refusal): boolean =>
  causes.some(({ reason }) => reason === "NamespaceTerminating");

const normal = (reason: string, message: string) => ({ type: "Normal", reason, message }) as const;

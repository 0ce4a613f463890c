import { ClassRuntime } from "../../api/class-runtime.ts";
import { finalizers, labels } from "../../api/well-known.ts";
import { setCondition } from "../../kube/condition.ts";
import type { KubeObject } from "../../kube/object.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { formatTime } from "../../kube/time.ts";
import type { ActContext } from "../../runtime/controller.ts";
import type { CleanUp, Finalizer } from "../../runtime/finalizer.ts";
import { refusalOf } from "../../runtime/refusal.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { type ChildKind, childKindRef, childKinds } from "./child-kinds.ts";
import { ownerLabel } from "./labels.ts";
import { phaseConditions } from "./reduce.ts";
import { withoutNulls } from "./without-nulls.ts";

/**
 * Deletes everything with our label before the class runtime may go. The server is asked, not a cache: what a crash left
 * behind a moment ago counts too. What another owner controls is a namesake's and stays.
 */
export const cleanUp: Finalizer<ClassRuntime> = {
  name: finalizers.classRuntime,
  async cleanUp(object, context): Promise<CleanUp> {
    await showDeleting(object, context);
    let left = 0;
    for (const kind of Object.keys(childKinds) as ChildKind[]) {
      for (const child of await labelled(kind, object, context)) {
        if (!isOurs(child, object)) continue;
        left++;
        if (child.metadata.deletionTimestamp !== undefined) continue;
        const answer = await context.write.delete(childKindRef(kind), child, { propagationPolicy: "Background" });
        if (!answer.ok && answer.reason !== "Conflict") {
          throw new Error(`cannot delete ${kind} ${child.metadata.name}: ${answer.reason}: ${answer.message}`);
        }
        if (answer.ok && answer.gone) left--;
      }
    }
    return left === 0 ? { kind: "Finished" } : { kind: "Waiting", lookAgainMs };
  },
};

const lookAgainMs = 1_000;

function isOurs(child: KubeObject, { metadata }: ClassRuntime): boolean {
  const controller = controllerOf(child);
  return controller === undefined || controller.uid === metadata.uid;
}

/** A kind that is not served has no objects. */
async function labelled(
  kind: ChildKind,
  { metadata }: ClassRuntime,
  { live, signal }: ActContext<ClassRuntime>,
): Promise<readonly KubeObject[]> {
  const labelSelector = `${labels.classOwner}=${ownerLabel(metadata.name)}`;
  try {
    const list = await live.list(childKindRef(kind), { namespace: metadata.namespace ?? "", labelSelector, signal });
    return list.items;
  } catch (error) {
    if (refusalOf(error)?.reason === "NotFound") return [];
    throw error;
  }
}

async function showDeleting(object: ClassRuntime, context: ActContext<ClassRuntime>): Promise<void> {
  const old = withoutNulls(object.status ?? {});
  if (old.phase === "deleting") return;
  const message = "Its objects are being deleted";
  const conditions = phaseConditions({ phase: "deleting", message }).reduce<typeof old.conditions>(
    (list, state) => setCondition(list, state, context.now),
    old.conditions,
  );
  const now = formatTime(context.now);
  const status = { ...old, phase: "deleting", message, phase_since: now, last_updated: now, conditions };
  await writeStatus(ClassRuntime, object, status, context);
}

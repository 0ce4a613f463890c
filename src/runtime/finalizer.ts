import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import type { ActContext } from "./controller.ts";
import { done, type Result, requeue, requeueAfter } from "./result.ts";
import type { Write } from "./write.ts";

/** Clean-up before an object may go. The name is added before any work is done, and removed last. */
export interface Finalizer<T extends KubeObject> {
  /** `example.com/clean-up` */
  readonly name: string;
  /** May be called again after a crash at any point, so it must not mind being done already. */
  cleanUp(object: T, context: ActContext<T>): Promise<CleanUp>;
}

export type CleanUp = { readonly kind: "Finished" } | { readonly kind: "Waiting"; readonly lookAgainMs: number };

export type Finalized<T> =
  | { readonly kind: "Proceed"; readonly object: T }
  | { readonly kind: "Stop"; readonly result: Result };

/** Decides whether work may go on with this object, after adding or removing the finalizer as its state demands. */
export async function handleFinalizer<T extends KubeObject>(
  kind: KindRef<T>,
  finalizer: Finalizer<T>,
  object: T,
  context: Omit<ActContext<T>, "object">,
): Promise<Finalized<T>> {
  const present = object.metadata.finalizers?.includes(finalizer.name) ?? false;
  if (object.metadata.deletionTimestamp === undefined) {
    if (present) return { kind: "Proceed", object };
    const added = await setFinalizers(
      kind,
      object,
      [...(object.metadata.finalizers ?? []), finalizer.name],
      context.write,
    );
    return added === undefined ? { kind: "Stop", result: requeue } : { kind: "Proceed", object: added };
  }
  if (!present) return { kind: "Stop", result: done };
  const cleanUp = await finalizer.cleanUp(object, { ...context, object });
  if (cleanUp.kind === "Waiting") return { kind: "Stop", result: requeueAfter(cleanUp.lookAgainMs) };
  // The clean-up may have changed the object itself; its latest version is the one to continue from.
  const latest = context.read.get(kind, object.metadata);
  if (latest === undefined || latest.metadata.uid !== object.metadata.uid) return { kind: "Stop", result: done };
  const left = latest.metadata.finalizers?.filter((name) => name !== finalizer.name) ?? [];
  const removed = await setFinalizers(kind, latest, left, context.write);
  return { kind: "Stop", result: removed === undefined ? requeue : done };
}

/** Undefined when somebody else was faster; the reconcile looks again then. */
async function setFinalizers<T extends KubeObject>(
  kind: KindRef<T>,
  object: T,
  finalizers: readonly string[],
  write: Write,
): Promise<T | undefined> {
  const { uid, resourceVersion } = object.metadata;
  const value = { metadata: { uid, resourceVersion, finalizers: finalizers.length > 0 ? finalizers : null } };
  const written = await write.patch(kind, object.metadata, { type: "merge", value });
  if (written.ok) return written.object;
  if (written.reason === "Conflict" || written.reason === "NotFound") return undefined;
  throw new Error(
    `cannot set the finalizers of ${kind.kind} ${object.metadata.name}: ${written.reason}: ${written.message}`,
  );
}

import type { KubeObject } from "../kube/object.ts";
import type { ControllerDefinition, ReconcileContext, ReconcileRequest, Reduced } from "./controller.ts";
import { handleFinalizer } from "./finalizer.ts";
import { done, failed, type Result, requeue, requeueAfter } from "./result.ts";
import { writeStatus } from "./status-write.ts";

/** One reconcile of a controller made of observe, evaluate, act and reduce. */
export async function runPipeline<T extends KubeObject, S, D, O>(
  definition: ControllerDefinition<T, S, D, O>,
  request: ReconcileRequest,
  context: ReconcileContext,
): Promise<Result> {
  const kind = definition.reconciles;
  const found = context.read.get(kind, request.key);
  if (found === undefined) return done;
  const begun = await begin(definition, found, context);
  if (begun.kind === "Stop") return begun.result;
  const { object } = begun;
  try {
    const snapshot = definition.observe(object, context);
    const decision = definition.evaluate(snapshot);
    const outcome = (await definition.act?.(decision, { ...context, object })) as O;
    context.signal.throwIfAborted();
    const reduced = definition.reduce({ object, snapshot, decision, outcome, now: context.now });
    return await finish(definition, object, reduced, context);
  } catch (error) {
    if (!context.signal.aborted) await showFault(definition, object, error, request, context);
    throw error;
  }
}

type Begun<T> = { readonly kind: "Proceed"; readonly object: T } | { readonly kind: "Stop"; readonly result: Result };

async function begin<T extends KubeObject, S, D, O>(
  definition: ControllerDefinition<T, S, D, O>,
  object: T,
  context: ReconcileContext,
): Promise<Begun<T>> {
  const { finalizer, reconciles, whileDeleting } = definition;
  if (finalizer !== undefined) return handleFinalizer(reconciles, finalizer, object, context);
  const deleting = object.metadata.deletionTimestamp !== undefined;
  if (deleting && whileDeleting !== "reconcile") return { kind: "Stop", result: done };
  return { kind: "Proceed", object };
}

async function finish<T extends KubeObject, S, D, O>(
  definition: ControllerDefinition<T, S, D, O>,
  object: T,
  reduced: Reduced<T>,
  context: ReconcileContext,
): Promise<Result> {
  if (reduced.status !== undefined) {
    const written = await writeStatus(definition.reconciles, object, reduced.status, context);
    if (written === "Outdated") return requeue;
    if (written === "Gone") return done;
  }
  reduced.afterWrite?.();
  for (const event of reduced.events ?? []) {
    if (event.isLogged) context.log.warn(event.message, { reason: event.reason });
    context.events.record(object, event);
  }
  if (reduced.failure !== undefined) return failed(reduced.failure.reason, reduced.failure.message);
  return reduced.requeueAfterMs === undefined ? done : requeueAfter(reduced.requeueAfterMs);
}

/** The fault itself is what the runtime must learn, so trouble with showing it is only logged. */
async function showFault<T extends KubeObject, S, D, O>(
  definition: ControllerDefinition<T, S, D, O>,
  object: T,
  error: unknown,
  request: ReconcileRequest,
  context: ReconcileContext,
): Promise<void> {
  if (definition.reduceFault === undefined) return;
  try {
    const status = definition.reduceFault({ object, error, failures: request.failures + 1, now: context.now });
    await writeStatus(definition.reconciles, object, status, context);
  } catch (second) {
    context.log.warn("the status could not show the fault", { error: second });
  }
}

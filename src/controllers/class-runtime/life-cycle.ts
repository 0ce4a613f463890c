import type { ClassRuntimePhase } from "../../api/class-runtime.ts";

/**
 * The life cycle as one table that can be read aloud. An edge that is not here cannot be taken; from degraded, recovery
 * always passes through progressing.
 */
export const edges: readonly (readonly [from: ClassRuntimePhase, to: ClassRuntimePhase, when: string])[] = [
  ["pending", "applying", "the finalizer is on the object"],
  ["applying", "progressing", "every child has been applied"],
  ["applying", "degraded", "a child could not be applied"],
  ["progressing", "available", "every function and the data store are ready"],
  ["progressing", "degraded", "readiness took too long, a pod crashes, a field belongs to somebody else"],
  ["available", "progressing", "the spec has changed, or a child is missing or not ready"],
  ["available", "degraded", "a pod crashes, a child stays missing, enforcement failed"],
  ["degraded", "progressing", "the cause is gone, or the spec has changed"],
  ["pending", "deleting", "deletion was asked for"],
  ["applying", "deleting", "deletion was asked for"],
  ["progressing", "deleting", "deletion was asked for"],
  ["available", "deleting", "deletion was asked for"],
  ["degraded", "deleting", "deletion was asked for"],
];

export const mayGo = (from: ClassRuntimePhase, to: ClassRuntimePhase): boolean =>
  from === to || edges.some(([start, end]) => start === from && end === to);

/** The next phase on the way to the wanted one: itself if there is an edge, otherwise the first step of the shortest way. */
export function nextPhase(from: ClassRuntimePhase, wanted: ClassRuntimePhase): ClassRuntimePhase {
  if (mayGo(from, wanted)) return wanted;
  const firstSteps = new Map<ClassRuntimePhase, ClassRuntimePhase>();
  const queue: ClassRuntimePhase[] = [from];
  for (const phase of queue) {
    for (const [start, end] of edges) {
      if (start !== phase || end === from || firstSteps.has(end)) continue;
      firstSteps.set(end, phase === from ? end : (firstSteps.get(phase) ?? end));
      queue.push(end);
    }
  }
  return firstSteps.get(wanted) ?? from;
}

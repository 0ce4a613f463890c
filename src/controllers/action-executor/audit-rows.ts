import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import { annotations } from "../../api/well-known.ts";
import type { AuditRecord } from "../../audit/entry.ts";
import type { AuditNote, Change } from "./change.ts";
import { pathBetween } from "./phases.ts";

export const executorActor = "capstan-action-executor";

/** One row for every phase that a change enters, and for what else it has to tell; ids make each of them unique (P11). */
export function rowsOf(execution: KubernetesExecution, change: Change, now: Date): readonly AuditRecord[] {
  const from = execution.status?.phase;
  const path = change.phase === undefined || change.phase === from ? [] : pathBetween(from, change.phase);
  const { [annotations.requestedBy]: requestedBy, [annotations.plannedBy]: plannedBy } =
    execution.metadata.annotations ?? {};
  const moved = path.map((phase, index): AuditNote => {
    const isLast = index === path.length - 1;
    return {
      key: `phase/${phase}`,
      verb: "transition",
      result: phase,
      details: {
        from: (index === 0 ? from : path[index - 1]) ?? "new",
        action: execution.spec.action,
        ...(requestedBy !== undefined && { requestedBy }),
        ...(plannedBy !== undefined && { plannedBy }),
        ...(isLast && change.reason !== undefined && { reason: change.reason }),
        ...(isLast && change.message !== undefined && { message: change.message }),
      },
    };
  });
  return [...(change.audit ?? []), ...moved].map((note) => rowOf(execution, note, now));
}

export function rowOf(execution: KubernetesExecution, { key, actor, ...note }: AuditNote, now: Date): AuditRecord {
  const { name, namespace, uid } = execution.metadata;
  return {
    ...note,
    id: `${uid}/${key}`,
    time: now,
    actor: actor ?? executorActor,
    object: {
      kind: execution.kind,
      ...(namespace !== undefined && { namespace }),
      name,
      ...(uid !== undefined && { uid }),
    },
  };
}

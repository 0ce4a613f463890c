import { Job } from "../../src/api/builtin/job.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import type { Approval, ExecutionPhase } from "../../src/api/kubernetes-execution-status.ts";
import { annotations } from "../../src/api/well-known.ts";
import { demandAnnotations, executionAnnotations } from "../../src/controllers/action-executor/names.ts";
import { pathBetween } from "../../src/controllers/action-executor/phases.ts";
import { specHashOf } from "../../src/controllers/action-executor/spec-hash.ts";
import type { Write } from "./journal.ts";
import type { MemoryTrail } from "./memory-trail.ts";
import type { Look } from "./story.ts";

/** Whoever gives or refuses the word that an action waits for. */
export const approver = "approver";

type Promise = (write: Write) => string | undefined;

/** P8 to P13 of actions, judged at every write: the first one that is broken is the objection. */
export function actionPromises(look: Look, trail: MemoryTrail): Promise {
  const all = [
    oneJob(),
    announced(trail),
    approved(look),
    oneEffect(),
    wayBack(look),
    toldInTime(trail),
    legalPhases(),
  ];
  return (write) => {
    for (const promise of all) {
      const objection = promise(write);
      if (objection !== undefined) return objection;
    }
    return undefined;
  };
}

const isNewJob = ({ resource, method }: Write): boolean => resource === Job.plural && method === "POST";
const isDry = ({ answer }: Write): boolean => answer.metadata.name.endsWith("-dryrun");
const uidOfJob = ({ answer }: Write): string => answer.metadata.annotations?.[executionAnnotations.uid] ?? "";
const isStatus = ({ resource, subresource }: Write): boolean =>
  resource === KubernetesExecution.plural && subresource === "status";

function oneJob(): Promise {
  const jobs = new Map<string, number>();
  return (write) => {
    if (!isNewJob(write)) return undefined;
    const key = `${uidOfJob(write)}${isDry(write)}`;
    const count = (jobs.get(key) ?? 0) + 1;
    jobs.set(key, count);
    return count > 1 ? `P8 ${count} Jobs for execution ${uidOfJob(write)}` : undefined;
  };
}

const announced =
  ({ rows }: MemoryTrail): Promise =>
  (write) => {
    if (!isNewJob(write)) return undefined;
    const id = isDry(write) ? undefined : `${uidOfJob(write)}/intent`;
    const isAnnounced = rows.some((row) => (id === undefined ? row.object.uid === uidOfJob(write) : row.id === id));
    return isAnnounced ? undefined : "P11 a Job was made that no row of the trail announces";
  };

/** P10: what runs is what was asked for, and where a word is needed, somebody else has given it about exactly that. */
function approved(look: Look): Promise {
  const words = new Map<string, Approval>();
  return (write) => {
    if (isStatus(write) && write.who === approver) {
      const { metadata, status } = write.answer as KubernetesExecution;
      if (status?.approval) words.set(metadata.uid ?? "", status.approval);
    }
    if (!isNewJob(write) || isDry(write)) return undefined;
    const { [executionAnnotations.namespace]: namespace = "", [executionAnnotations.name]: name = "" } =
      write.answer.metadata.annotations ?? {};
    const execution = look.get(KubernetesExecution.plural, namespace, name) as KubernetesExecution | undefined;
    // A dead execution may leave a Job behind for a moment; whose it is, its uid tells.
    if (execution === undefined || execution.metadata.uid !== uidOfJob(write)) return undefined;
    const hash = specHashOf(execution.spec);
    if (write.answer.metadata.annotations?.[executionAnnotations.specHash] !== hash)
      return "P10 a Job was made for another spec than the execution has";
    if (execution.metadata.annotations?.[demandAnnotations.approval] !== "true") return undefined;
    const word = words.get(uidOfJob(write));
    if (word?.decision !== "Approved") return "P10 it runs, and nobody has approved it";
    if (word.by === execution.metadata.annotations[annotations.requestedBy]) return "P10 it was approved by who asked";
    return word.specHash === hash ? undefined : "P10 what was approved is not what runs";
  };
}

/** One order acts once, however often its pod starts. */
function oneEffect(): Promise {
  const effects = new Map<string, number>();
  return ({ who }) => {
    if (!who.startsWith("hands#")) return undefined;
    const count = (effects.get(who) ?? 0) + 1;
    effects.set(who, count);
    return count > 1 ? `P9 one order had ${count} effects` : undefined;
  };
}

/**
 * P12: the way back leads to how the target was between the wish and the effect, and never to the effect itself. Two actions
 * on one target at once may both keep what was before either. H1: what came of an effect is not lost.
 */
function wayBack(look: Look): Promise {
  const replicas = new Map<string, readonly Since[]>();
  const before = new Map<string, readonly Since[]>();
  return (write) => {
    if (write.resource === Deployment.plural && write.subresource === "") {
      const history = replicas.get(write.name) ?? [{ fromMs: 0, count: countOf(look, write) }];
      if (write.who.startsWith("hands#")) before.set(write.who.slice("hands#".length), history);
      const { spec } = write.answer as Deployment;
      replicas.set(write.name, [...history, { fromMs: write.atMs, count: spec?.replicas ?? 1 }]);
    }
    if (!isStatus(write)) return undefined;
    const { metadata, status } = write.answer as KubernetesExecution;
    const history = before.get(metadata.uid ?? "");
    if (history === undefined) return undefined;
    const way = (status?.rollbackInformation?.rollbackParameters ?? {}) as { readonly replicas?: number };
    const possible = history.slice(
      Math.max(
        0,
        history.findLastIndex(({ fromMs }) => fromMs < write.atMs - capturedMs),
      ),
    );
    if (!possible.some(({ count }) => count === way.replicas))
      return `P12 the way back leads to ${way.replicas}, where it was not before the effect`;
    return status?.message?.includes("before its result was read") ? "P9 what came of an effect is lost" : undefined;
  };
}

interface Since {
  readonly fromMs: number;
  readonly count: number;
}

const countOf = (look: Look, { resource, namespace, name }: Write): number =>
  (look.get(resource, namespace, name) as Deployment | undefined)?.spec.replicas ?? 1;

/** Longer than from any validation to its effect in one run. */
const capturedMs = 120_000;

/** P11: a phase, and a word, is in the trail before anybody is told. */
const toldInTime =
  ({ rows }: MemoryTrail): Promise =>
  (write) => {
    if (!isStatus(write) || write.who === approver) return undefined;
    const { metadata, status } = write.answer as KubernetesExecution;
    const wanted = [`phase/${status?.phase}`, ...(status?.phase === "executing" ? ["job", "intent"] : [])];
    const missing = wanted.find((key) => !rows.some(({ id }) => id === `${metadata.uid}/${key}`));
    return missing && `P11 ${metadata.name} is told to be ${status?.phase}, and the trail has no row ${missing}`;
  };

/** Along declared edges, several at once where they were passed in one step. */
function isWay(from: string | undefined, to: string): boolean {
  if (from === undefined || from === "" || from === to) return true;
  try {
    return pathBetween(from as ExecutionPhase, to as ExecutionPhase).length > 0;
  } catch {
    return false;
  }
}

function legalPhases(): Promise {
  const phases = new Map<string, string>();
  return (write) => {
    if (!isStatus(write)) return undefined;
    const { uid = "" } = write.answer.metadata;
    const before = phases.get(uid);
    const { phase = "" } = (write.answer as KubernetesExecution).status ?? {};
    phases.set(uid, phase);
    return isWay(before, phase) ? undefined : `P13 ${before} was left for ${phase}`;
  };
}

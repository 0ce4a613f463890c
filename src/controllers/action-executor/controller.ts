import { actions } from "../../api/action.ts";
import { SubjectAccessReview } from "../../api/builtin/access-review.ts";
import { Namespace, Node } from "../../api/builtin/cluster.ts";
import { ConfigMap, Secret, ServiceAccount } from "../../api/builtin/configuration.ts";
import { Job } from "../../api/builtin/job.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { DaemonSet, Deployment, StatefulSet } from "../../api/builtin/workloads.ts";
import { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { ExecutionStatus } from "../../api/kubernetes-execution-status.ts";
import { finalizers } from "../../api/well-known.ts";
import type { AuditTrail } from "../../audit/trail.ts";
import type { Env } from "../../env/env.ts";
import type { KindRef } from "../../kube/kind.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import {
  type ActContext,
  type Controller,
  defineController,
  index,
  type Watch,
  watch,
} from "../../runtime/controller.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";
import { allow, type Permission } from "../../runtime/permission.ts";
import { resourceVersionChanged } from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";
import { createAccessCheck } from "./access.ts";
import { act } from "./act.ts";
import { actionDefinition } from "./actions/catalogue.ts";
import { createAskersCheck } from "./askers.ts";
import { rowOf, rowsOf } from "./audit-rows.ts";
import { type AuditNote, type Change, nothing } from "./change.ts";
import { evaluate, type Observation, type Settings } from "./evaluate.ts";
import { isFrozen } from "./freeze-switch.ts";
import { tell } from "./log-lines.ts";
import { type ExecutorMetrics, executorMetrics } from "./metrics.ts";
import {
  controllerName,
  executionAnnotations,
  jobNameOf,
  jobNamespace,
  policyConfigMap,
  switchConfigMap,
  systemNamespace,
} from "./names.ts";
import { isTerminal } from "./phases.ts";
import { createConditions, type EvaluateCondition } from "./policy/condition.ts";
import { createPolicyKeeper, type PolicyKeeper } from "./policy/policy-keeper.ts";
import { eventsOf, reduce } from "./reduce.ts";
import { removeJob } from "./run-job.ts";
import { activeIndex, targetIndex, targetKeysOf } from "./validate.ts";

export interface ActionExecutorOptions {
  readonly env: Env;
  readonly metrics: MetricsRegistry;
  readonly audit: AuditTrail;
  readonly settings: Settings;
  /** Where somebody else asks it too; one of our own otherwise. */
  readonly policies?: PolicyKeeper;
}

/** Runs one change to a cluster: the controller of spec/kubernetes-execution.md. */
export function actionExecutor(options: ActionExecutorOptions): Controller {
  const { env, metrics: registry, audit, settings } = options;
  const metrics = executorMetrics(registry);
  const policies = options.policies ?? createPolicyKeeper(env, registry);
  const tools = {
    checkAccess: createAccessCheck(),
    checkAskers: createAskersCheck(),
    policies,
    evaluateCondition: counted(createConditions(env), metrics),
    monotonicMs: () => env.monotonicMs(),
    metrics,
    intend: async (execution: KubernetesExecution, notes: readonly AuditNote[], now: Date) => {
      await audit.append(notes.map((note) => rowOf(execution, note, now)));
    },
  };
  return defineController<
    KubernetesExecution,
    Observation,
    Observation & { readonly step: ReturnType<typeof evaluate> },
    Change
  >({
    name: controllerName,
    reconciles: KubernetesExecution,
    finalizer: {
      name: finalizers.execution,
      async cleanUp(execution, context) {
        const cleaned = await cleanUp(execution, context, audit);
        metrics.active(activeWith(execution, "failed", context.read));
        return cleaned;
      },
    },
    watches: [
      watch(Job, { scope: { namespace: jobNamespace }, map: executionOfJob, predicates: [resourceVersionChanged] }),
      watch(ConfigMap, {
        scope: { namespace: systemNamespace },
        map(configMap, read) {
          // Read at once, and not when the next execution asks: what is good now is what stays in force when it breaks.
          const { name } = configMap.metadata;
          if (name === policyConfigMap) policies(read.get(ConfigMap, { namespace: systemNamespace, name }));
          return heldExecutions(read);
        },
        predicates: [resourceVersionChanged],
      }),
      ...[Deployment, StatefulSet, DaemonSet, Node].map(watchTarget),
    ],
    reads: [Namespace],
    indexes: [
      index(KubernetesExecution, targetIndex, targetKeysOf),
      index(KubernetesExecution, "held", ({ status }) =>
        status?.phase === "validated" || status?.phase === "waiting_approval" ? ["yes"] : [],
      ),
      index(KubernetesExecution, activeIndex, ({ status }) => (status?.phase === "executing" ? ["yes"] : [])),
    ],
    permissions: executorPermissions,
    observe: (execution, { read, now }) => observe(execution, read, now, settings),
    evaluate: (observation) => ({ ...observation, step: evaluate(observation) }),
    async act({ step, ...observation }, context) {
      const change = await act(step, observation, context, tools);
      metrics.active(activeWith(observation.execution, change.phase, context.read));
      // On disk before the status tells anybody: a row may come early, but never be missing (H9).
      await audit.append(rowsOf(observation.execution, change, observation.now));
      tell(observation.execution, change, context.log);
      return change;
    },
    reduce({ object, outcome = nothing, now }) {
      const status = reduce(object, outcome, now);
      return {
        status,
        events: eventsOf(object, outcome),
        ...(outcome.lookAgainMs !== undefined && { requeueAfterMs: Math.max(1, outcome.lookAgainMs) }),
        ...(hasEnded(status.phase) &&
          !hasEnded(object.status?.phase) && { afterWrite: () => countEnd(object, status, now, metrics) }),
      };
    },
  });
}

/** How many have a Job under way once this one is in its next phase, which the cache does not know yet. */
function activeWith({ metadata, status }: KubernetesExecution, next: ExecutionStatus["phase"], read: Read): number {
  const others = read
    .byIndex(KubernetesExecution, activeIndex, "yes")
    .filter((one) => one.metadata.uid !== metadata.uid);
  return others.length + ((next ?? status?.phase) === "executing" ? 1 : 0);
}

function observe(execution: KubernetesExecution, read: Read, now: Date, settings: Settings): Observation {
  const { name, uid = "" } = execution.metadata;
  const jobOf = (dryRun: boolean): Job | undefined =>
    read.get(Job, { namespace: jobNamespace, name: jobNameOf({ name, uid }, execution.spec.action, dryRun) });
  const job = jobOf(false);
  const dryRunJob = jobOf(true);
  const frozen = isFrozen(read.get(ConfigMap, { namespace: systemNamespace, name: switchConfigMap }));
  return { execution, frozen, now, settings, ...(job && { job }), ...(dryRunJob && { dryRunJob }) };
}

/** What comes after `rollback_ready` is only about keeping the way back. */
const hasEnded = (phase: ExecutionStatus["phase"]): boolean => phase === "rollback_ready" || isTerminal(phase);

function countEnd(
  { metadata, spec }: KubernetesExecution,
  { phase, executionResults }: ExecutionStatus,
  now: Date,
  metrics: ExecutorMetrics,
): void {
  const { startTime, endTime, success } = executionResults ?? {};
  const askedMs = new Date(metadata.creationTimestamp ?? now).getTime();
  metrics.finished(spec.action, phase !== "failed" && success !== false, {
    executionSeconds: Math.max(0, now.getTime() - askedMs) / 1000,
    ...(startTime && endTime && { jobSeconds: (new Date(endTime).getTime() - new Date(startTime).getTime()) / 1000 }),
  });
}

const counted =
  (evaluateCondition: EvaluateCondition, metrics: ExecutorMetrics): EvaluateCondition =>
  (kind, condition, input) => {
    const verdict = evaluateCondition(kind, condition, input);
    metrics.condition(kind, verdict);
    return verdict;
  };

/** Nothing of an execution outlives it: its Jobs are ended and its orders removed before it may go. */
async function cleanUp(
  execution: KubernetesExecution,
  context: ActContext<KubernetesExecution>,
  audit: AuditTrail,
): Promise<{ readonly kind: "Finished" }> {
  const { name, uid = "" } = execution.metadata;
  for (const dryRun of [false, true]) {
    const key = { namespace: jobNamespace, name: jobNameOf({ name, uid }, execution.spec.action, dryRun) };
    const job = context.read.get(Job, key);
    if (job) await removeJob(job, context);
    await context.write.delete(Secret, key);
  }
  await audit.append([
    rowOf(execution, { key: "deleted", verb: "delete", result: execution.status?.phase ?? "new" }, context.now),
  ]);
  context.events.record(execution, {
    type: "Normal",
    reason: "KubernetesExecutionDeleted",
    message: "Its Jobs and orders were removed",
  });
  return { kind: "Finished" };
}

const executionOfJob = ({ metadata }: Job): readonly ObjectKey[] => {
  const { [executionAnnotations.namespace]: namespace, [executionAnnotations.name]: name } = metadata.annotations ?? {};
  return namespace && name ? [{ namespace, name }] : [];
};

/** The switch was thrown, or the policies changed: whatever has not started may decide anew. */
const heldExecutions = (read: Read): readonly ObjectKey[] =>
  read
    .byIndex(KubernetesExecution, "held", "yes")
    .map(({ metadata }) => ({ namespace: metadata.namespace ?? "", name: metadata.name }));

/** A target that changes may meet the condition that its execution waits for. */
function watchTarget(kind: KindRef): Watch {
  return watch(kind, {
    map: (object: KubeObject, read: Read) =>
      read
        .byIndex(
          KubernetesExecution,
          targetIndex,
          `${kind.kind}/${object.metadata.namespace ?? ""}/${object.metadata.name}`,
        )
        .filter(({ status, spec }) => waitsForTarget(status?.phase, spec))
        .map(({ metadata }) => ({ namespace: metadata.namespace ?? "", name: metadata.name })),
    predicates: [resourceVersionChanged],
  });
}

const waitsForTarget = (phase: string | undefined, spec: KubernetesExecution["spec"]): boolean =>
  (phase === "validating" && (spec.preConditions?.length ?? 0) > 0) ||
  (phase === "executing" && (spec.postConditions?.length ?? 0) > 0);

/** Reading targets is all that the executor itself does to them; Secrets it never reads outside its own namespace. */
const targetReads: readonly Permission[] = actions
  .map(actionDefinition)
  .filter(({ seenBy }) => seenBy === "Read")
  .flatMap(({ permissions }) => permissions)
  .flatMap(({ group, resource, verbs }) => {
    const reads = verbs.filter((verb) => verb === "get" || verb === "list");
    return reads.length > 0 ? [{ group, resource, verbs: reads }] : [];
  });

export const executorPermissions: readonly Permission[] = [
  allow(SubjectAccessReview, ["create"]),
  allow(ServiceAccount, ["get"]),
  allow(Pod, ["list"]),
  allow(Job, ["get", "create", "patch", "delete"]),
  allow(Secret, ["create", "delete"]),
  ...targetReads,
];

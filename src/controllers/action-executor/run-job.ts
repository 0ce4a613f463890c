import { Secret } from "../../api/builtin/configuration.ts";
import { Job } from "../../api/builtin/job.ts";
import { Pod } from "../../api/builtin/pod.ts";
import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import { labels } from "../../api/well-known.ts";
import { safeLabelValue } from "../../kube/names.ts";
import { formatTime } from "../../kube/time.ts";
import type { ActContext, ReconcileContext } from "../../runtime/controller.ts";
import type { Observation } from "./evaluate.ts";
import { renderJob, renderSecret } from "./job.ts";
import { belongsTo, resultOf } from "./job-state.ts";
import type { ExecutorMetrics } from "./metrics.ts";
import { jobFinalizer } from "./names.ts";
import type { Order, OrderResult } from "./order.ts";
import type { CheckedParameters } from "./parameters.ts";

export interface RunOptions {
  readonly dryRun: boolean;
  readonly targetUid: string | undefined;
  readonly timeoutMs: number;
}

export type CreatedRun =
  | { readonly kind: "Created"; readonly job: Job }
  | { readonly kind: "Refused"; readonly message: string };

export interface RunTools {
  readonly metrics: Pick<ExecutorMetrics, "jobCreated">;
  readonly monotonicMs: () => number;
}

/** Makes the Secret and the Job, or finds the ones that we made before we were interrupted (F20). */
export async function createRun(
  observation: Observation,
  checked: Extract<CheckedParameters, { ok: true }>,
  options: RunOptions,
  context: ActContext<KubernetesExecution>,
  { metrics, monotonicMs }: RunTools,
): Promise<CreatedRun> {
  const startedMs = monotonicMs();
  const run = await create(observation, checked, options, context);
  metrics.jobCreated(run.kind === "Created", (monotonicMs() - startedMs) / 1000);
  return run;
}

async function create(
  { execution, settings, now }: Observation,
  { action, parameters }: Extract<CheckedParameters, { ok: true }>,
  { dryRun, targetUid, timeoutMs }: RunOptions,
  { write, live, signal }: ActContext<KubernetesExecution>,
): Promise<CreatedRun> {
  const { name, namespace = "", uid = "" } = execution.metadata;
  const order: Order = {
    version: 1,
    token: uid,
    execution: { namespace, name, uid },
    action,
    parameters,
    ...(targetUid !== undefined && { targetUid }),
    startedAt: formatTime(now),
    dryRun,
  };
  const secret = await write.create(Secret, renderSecret(execution, order));
  // One that is there is ours from before: its name has our uid in it, and it cannot be changed.
  if (!secret.ok && secret.reason !== "AlreadyExists")
    return { kind: "Refused", message: `the order was refused: ${secret.message}` };
  const timeoutSeconds = Math.max(1, Math.ceil(timeoutMs / 1000));
  const wanted = renderJob({ execution, action, dryRun, image: settings.image, timeoutSeconds });
  const created = await write.create(Job, wanted);
  if (created.ok) return { kind: "Created", job: created.object };
  if (created.reason !== "AlreadyExists")
    return { kind: "Refused", message: `the Job was refused: ${created.message}` };
  const found = await live.get(
    Job,
    { namespace: wanted.metadata.namespace ?? "", name: wanted.metadata.name ?? "" },
    { signal },
  );
  if (belongsTo(found, uid)) return { kind: "Created", job: found };
  return { kind: "Refused", message: `Job ${found.metadata.name} belongs to somebody else` };
}

/** The answer of a Job that has ended, read from its pods as the server has them. */
export async function readResult(
  job: Job,
  token: string,
  { live, signal }: Pick<ReconcileContext, "live" | "signal">,
): Promise<OrderResult | undefined> {
  const { namespace = "", uid, labels: own } = job.metadata;
  const labelSelector = `${labels.executionId}=${own?.[labels.executionId] ?? safeLabelValue(job.metadata.name)}`;
  const { items } = await live.list(Pod, { namespace, labelSelector, signal });
  return resultOf(
    items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid)),
    token,
  );
}

/** Lets go of a Job: what it had to tell has been written down. */
export async function releaseJob(job: Job, { write }: Pick<ReconcileContext, "write">): Promise<void> {
  const finalizers = (job.metadata.finalizers ?? []).filter((name) => name !== jobFinalizer);
  const { uid } = job.metadata;
  await write.patch(Job, job.metadata, {
    type: "merge",
    value: { metadata: { uid, finalizers: finalizers.length > 0 ? finalizers : null } },
  });
}

export async function removeJob(job: Job, context: Pick<ReconcileContext, "write">): Promise<void> {
  await context.write.delete(Job, job, { propagationPolicy: "Background" });
  if (job.metadata.finalizers?.includes(jobFinalizer)) await releaseJob(job, context);
}

import { Job } from "../../api/builtin/job.ts";
import { controllerReference, isControlledBy } from "../../kube/owner-reference.ts";
import { formatTime } from "../../kube/time.ts";
import { type Controller, defineReconciler, type ReconcileContext } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, type Result, requeue, requeueAfter } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { isNamespaceLeaving } from "../workloads/manage-pods.ts";
import { type CronDecision, evaluate } from "./evaluate.ts";
import { CronJob, type JobReference } from "./kind.ts";
import { parseSchedule } from "./schedule.ts";

/** CronJobs: a Job for every moment of a schedule. */
export const cronJobController: Controller = defineReconciler({
  name: "cronjob-controller",
  reconciles: CronJob,
  owns: [Job],
  fieldManager: controllerManager,
  permissions: [allow(Job, ["create", "delete"])],
  async reconcile(key, context) {
    const cronJob = context.read.get(CronJob, key);
    if (cronJob === undefined) return done;
    const { schedule: text, timeZone } = cronJob.spec;
    const schedule = parseSchedule(text, timeZone);
    if (!schedule.ok) {
      context.events.record(cronJob, { type: "Warning", reason: "UnparseableSchedule", message: schedule.message });
      return done;
    }
    const jobs = context.read.owned(Job, cronJob).filter((job) => isControlledBy(job, cronJob));
    const decision = evaluate({ cronJob, jobs, schedule: schedule.value, now: context.now });
    return carryOut(cronJob, decision, context);
  },
});

async function carryOut(cronJob: CronJob, decision: CronDecision, context: ReconcileContext): Promise<Result> {
  const { write, events } = context;
  for (const job of [...decision.forget, ...decision.replace]) {
    await write.delete(Job, job, { propagationPolicy: "Background" });
  }
  for (const { metadata } of decision.replace) {
    events.record(cronJob, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted job ${metadata.name}` });
  }
  if (decision.skipped === "StillRunning") {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    events.record(cronJob, { type: "Normal", reason: "JobAlreadyActive", message });
  }
  const started = decision.start === undefined ? undefined : await start(cronJob, decision.start, context);
  const active = [...decision.active.filter((job) => !decision.replace.includes(job)), ...(started ? [started] : [])];
  const { lastScheduleTime } = cronJob.status ?? {};
  const status = {
    ...(active.length > 0 && { active: active.map((job) => known(cronJob, job) ?? referenceTo(job)) }),
    ...(started && decision.start
      ? { lastScheduleTime: formatTime(decision.start) }
      : lastScheduleTime && { lastScheduleTime }),
    ...(decision.lastSuccessfulTime && { lastSuccessfulTime: decision.lastSuccessfulTime }),
  };
  const written = await writeStatus(CronJob, cronJob, status, context);
  if (written === "Outdated") return requeue;
  return decision.lookAgainMs === undefined ? done : requeueAfter(decision.lookAgainMs);
}

/** The name tells the moment, so that no moment can ever have two Jobs. */
async function start(cronJob: CronJob, at: Date, { write, events, live }: ReconcileContext): Promise<Job | undefined> {
  const { jobTemplate } = cronJob.spec;
  const { namespace } = cronJob.metadata;
  const name = `${cronJob.metadata.name}-${Math.floor(at.getTime() / 60_000)}`;
  const made = await write.create(Job, {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { ...jobTemplate.metadata?.labels },
      annotations: {
        ...jobTemplate.metadata?.annotations,
        "batch.kubernetes.io/cronjob-scheduled-timestamp": formatTime(at),
      },
      ownerReferences: [controllerReference(CronJob, cronJob)],
    },
    spec: jobTemplate.spec,
  });
  if (made.ok) {
    events.record(cronJob, { type: "Normal", reason: "SuccessfulCreate", message: `Created job ${name}` });
    return made.object;
  }
  if (made.reason === "AlreadyExists") {
    const found = await live.get(Job, { ...(namespace !== undefined && { namespace }), name });
    return isControlledBy(found, cronJob) ? found : undefined;
  }
  if (isNamespaceLeaving(made)) return undefined;
  events.record(cronJob, { type: "Warning", reason: "FailedCreate", message: `Error creating job: ${made.message}` });
  throw new Error(`cannot create Job ${name}: ${made.reason}: ${made.message}`);
}

/** A reference is written once; a Job that merely goes on is no reason to write it again. */
const known = ({ status }: CronJob, { metadata }: Job): JobReference | undefined =>
  status?.active?.find(({ uid }) => uid === metadata.uid);

const referenceTo = ({ metadata: { namespace, name, uid, resourceVersion } }: Job) => ({
  kind: "Job",
  ...(namespace !== undefined && { namespace }),
  name,
  ...(uid !== undefined && { uid }),
  apiVersion: "batch/v1",
  ...(resourceVersion !== undefined && { resourceVersion }),
});

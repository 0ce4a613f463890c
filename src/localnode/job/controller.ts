import { Job } from "../../api/builtin/job.ts";
import { Pod } from "../../api/builtin/pod.ts";
import type { NewObject } from "../../client/client.ts";
import { findCondition } from "../../kube/condition.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { type BackoffOptions, backoffMs } from "../../runtime/backoff.ts";
import { type Controller, defineReconciler, type ReconcileContext, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, type Result, requeue, requeueAfter } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { calmly } from "../workloads/calmly.ts";
import { createPods, deletePods } from "../workloads/manage-pods.ts";
import { newPod } from "../workloads/new-pod.ts";
import { timeMs } from "../workloads/pod-facts.ts";
import { roomInQuotas } from "../workloads/quota-room.ts";
import { isFinished } from "./conditions.ts";
import { evaluate, type JobDecision } from "./evaluate.ts";
import { failureCountAnnotation, hasLimitPerIndex, ignoredCountAnnotation, triesOf } from "./per-index.ts";
import { indexAnnotation, isTracked, jobNameLabel, trackingFinalizer } from "./pod-facts.ts";

export const defaultJobBackoff: BackoffOptions = { baseMs: 10_000, maxMs: 600_000 };

/** Jobs: pods that run to their end, as often as it takes and no more often than allowed. */
export function jobController(backoff: BackoffOptions = defaultJobBackoff): Controller {
  const failures = new Map<string, Failures>();
  return defineReconciler({
    name: "job-controller",
    reconciles: Job,
    owns: [Pod],
    watches: [
      roomInQuotas(Job),
      // A pod that has lost its Job still waits to be counted, and nobody will count it.
      watch(Pod, { map: (pod) => (controllerOf(pod) === undefined && isTracked(pod) ? formerJob(pod) : []) }),
    ],
    objectRate: calmly,
    fieldManager: controllerManager,
    permissions: [allow(Job, ["delete"]), allow(Pod, ["create", "patch", "delete"])],
    async reconcile(key, context) {
      const job = context.read.get(Job, key);
      const pods = podsNamed(context, key);
      if (job === undefined) {
        failures.delete(`${key.namespace}/${key.name}`);
        return releaseAll(
          pods.filter((pod) => isTracked(pod)),
          context,
        );
      }
      const { managedBy } = job.spec;
      if (managedBy !== undefined && managedBy !== ownManager) return done;
      const own = pods.filter((pod) => controllerOf(pod)?.uid === job.metadata.uid);
      const strangers = pods.filter(
        (pod) => isTracked(pod) && controllerOf(pod)?.uid !== job.metadata.uid && isOrphanOf(pod, job),
      );
      await releaseAll(strangers, context);
      if (isFinished(job)) {
        failures.delete(`${key.namespace}/${key.name}`);
        return finished(job, own, context);
      }
      return run(job, own, failures, backoff, context);
    },
  });
}

const ownManager = "kubernetes.io/job-controller";

interface Failures {
  readonly uid: string | undefined;
  readonly inRow: number;
  readonly lastMs: number;
}

async function run(
  job: Job,
  pods: readonly Pod[],
  failures: Map<string, Failures>,
  backoff: BackoffOptions,
  context: ReconcileContext,
): Promise<Result> {
  const id = `${job.metadata.namespace}/${job.metadata.name}`;
  const { now } = context;
  const known = failures.get(id);
  const record = known?.uid === job.metadata.uid ? known : undefined;
  const notBefore = (failed: Failures | undefined): number =>
    failed === undefined || failed.inRow === 0 ? 0 : failed.lastMs + backoffMs(backoff, failed.inRow, () => 0);
  const indexDelayMs = (failures: number): number => backoffMs(backoff, failures, () => 0);
  let decision = evaluate({ job, pods, now, notBeforeMs: notBefore(record), indexDelayMs });
  if (decision.newFailures > 0) {
    const inRow = (decision.newSuccesses > 0 ? 0 : (record?.inRow ?? 0)) + decision.newFailures;
    const failed: Failures = { uid: job.metadata.uid, inRow, lastMs: now.getTime() };
    failures.set(id, failed);
    // The failures that were just seen delay the next try already.
    decision = evaluate({ job, pods, now, notBeforeMs: notBefore(failed), indexDelayMs });
  } else if (decision.newSuccesses > 0) failures.delete(id);
  return carryOut(job, pods, decision, context);
}

async function carryOut(
  job: Job,
  known: readonly Pod[],
  decision: JobDecision,
  context: ReconcileContext,
): Promise<Result> {
  let current = job;
  if (decision.announced !== undefined) {
    const announced = await writeStatus(Job, current, decision.announced, context);
    if (announced === "Outdated") return requeue;
    if (announced === "Gone") return done;
    current = context.read.get(Job, job.metadata) ?? current;
  }
  const released = await releaseAll(decision.release, context);
  if (released !== done) return released;
  const removed = await deletePods(context, job, decision.remove);
  const pods = decision.create.map((index) => podOf(job, known, index));
  const made = pods.length > 0 ? await createPods(context, job, pods) : ({ ok: true } as const);
  const written = await writeStatus(Job, current, decision.status, context);
  if (written === "Outdated" || !removed.ok || !made.ok) return requeue;
  for (const event of decision.events) context.events.record(job, event);
  const latest = context.read.get(Job, job.metadata);
  if (latest !== undefined && isFinished(latest)) return finished(latest, [], context);
  return decision.lookAgainMs === undefined ? done : requeueAfter(decision.lookAgainMs);
}

function podOf(job: Job, known: readonly Pod[], index: number | undefined): NewObject<Pod> {
  const { template } = job.spec;
  if (index === undefined) return newPod(Job, job, template, { finalizers: [trackingFinalizer] });
  const variable = {
    name: "JOB_COMPLETION_INDEX",
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexAnnotation}']` } },
  };
  const withIndex = <C extends { readonly env?: readonly { readonly name: string }[] }>(container: C): C =>
    container.env?.some(({ name }) => name === variable.name)
      ? container
      : { ...container, env: [...(container.env ?? []), variable] };
  const { spec } = template;
  const made = newPod(
    Job,
    job,
    {
      ...template,
      spec: {
        ...spec,
        hostname: spec.hostname ?? `${job.metadata.name}-${index}`,
        containers: spec.containers.map(withIndex),
        ...(spec.initContainers && { initContainers: spec.initContainers.map(withIndex) }),
      },
    },
    {
      finalizers: [trackingFinalizer],
      labels: { [indexAnnotation]: String(index) },
      annotations: { [indexAnnotation]: String(index), ...triesAnnotations(job, known, index) },
    },
  );
  return { ...made, metadata: { ...made.metadata, generateName: `${job.metadata.name}-${index}-` } };
}

/** A pod carries what its index has used up of its tries. */
function triesAnnotations(job: Job, known: readonly Pod[], index: number): Readonly<Record<string, string>> {
  if (!hasLimitPerIndex(job)) return {};
  const { failures, ignored } = triesOf(job, known, index);
  return {
    [failureCountAnnotation]: String(failures),
    ...(ignored > 0 && { [ignoredCountAnnotation]: String(ignored) }),
  };
}

/** Nothing runs any more: what is left is to let the pods go, and after a while the Job itself. */
async function finished(job: Job, pods: readonly Pod[], context: ReconcileContext): Promise<Result> {
  const released = await releaseAll(
    pods.filter((pod) => isTracked(pod)),
    context,
  );
  if (released !== done) return released;
  const { ttlSecondsAfterFinished } = job.spec;
  if (ttlSecondsAfterFinished === undefined || job.metadata.deletionTimestamp !== undefined) return done;
  const { conditions } = job.status ?? {};
  const end = [findCondition(conditions, "Complete"), findCondition(conditions, "Failed")].find(
    (one) => one?.status === "True",
  );
  const leftMs =
    (timeMs(end?.lastTransitionTime) ?? context.now.getTime()) + ttlSecondsAfterFinished * 1000 - context.now.getTime();
  if (leftMs > 0) return requeueAfter(leftMs);
  const gone = await context.write.delete(Job, job, { propagationPolicy: "Foreground" });
  return gone.ok ? done : requeue;
}

async function releaseAll(pods: readonly Pod[], { write }: ReconcileContext): Promise<Result> {
  const released = await Promise.all(
    pods.map((pod) => {
      const { uid, resourceVersion } = pod.metadata;
      const left = (pod.metadata.finalizers ?? []).filter((name) => name !== trackingFinalizer);
      const value = { metadata: { uid, resourceVersion, finalizers: left.length > 0 ? left : null } };
      return write.patch(Pod, keyOf(pod), { type: "merge", value });
    }),
  );
  const isOpen = released.some((answer) => !answer.ok && answer.reason !== "NotFound");
  return isOpen ? requeue : done;
}

const podsNamed = ({ read }: ReconcileContext, { namespace, name }: ObjectKey): readonly Pod[] =>
  read
    .list(Pod, namespace === undefined ? {} : { namespace })
    .filter((pod) => pod.metadata.labels?.[jobNameLabel] === name || isNamedBy(pod, name));

const isNamedBy = (pod: Pod, name: string): boolean => {
  const owner = controllerOf(pod);
  return owner?.kind === "Job" && owner.name === name;
};

/** Left behind by a Job of the same name: by its deletion with orphans, or by a namesake that is gone. */
const isOrphanOf = (pod: Pod, job: Job): boolean => {
  const owner = controllerOf(pod);
  return owner === undefined || (owner.kind === "Job" && owner.name === job.metadata.name);
};

function formerJob(pod: Pod): readonly ObjectKey[] {
  const name = pod.metadata.labels?.[jobNameLabel];
  const { namespace } = pod.metadata;
  return name === undefined || namespace === undefined ? [] : [{ namespace, name }];
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };

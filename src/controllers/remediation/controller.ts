import { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import { RemediationRequest } from "../../api/remediation-request.ts";
import { annotations, labels } from "../../api/well-known.ts";
import { WorkflowExecution } from "../../api/workflow-execution.ts";
import { redactText } from "../../audit/redact.ts";
import type { NewObject } from "../../client/client.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { controllerReference, isControlledBy } from "../../kube/owner-reference.ts";
import type { Change } from "../../runtime/change.ts";
import { type ActContext, type Controller, defineController, index, watch } from "../../runtime/controller.ts";
import type { Logger } from "../../runtime/log.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";
import { allow } from "../../runtime/permission.ts";
import { generationChanged, resourceVersionChanged } from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { type Decision, evaluate, isOver, type Observation, type WantedExecution } from "./evaluate.ts";
import { workflowMetrics } from "./metrics.ts";
import { eventsOf, reduce, workflowStatus } from "./reduce.ts";
import { declaredTarget, targetsOf, workflowTargets } from "./targets.ts";

export interface RemediationOptions {
  readonly metrics: MetricsRegistry;
  /** How long a target rests after a remediation. */
  readonly coolDownMs?: number;
}

const controllerName = "remediation";
const defaultCoolDownMs = 60_000;

/** Runs the steps of remediations as executions, in their order, and decides what becomes of them. */
export function remediationController({
  metrics: registry,
  coolDownMs = defaultCoolDownMs,
}: RemediationOptions): Controller {
  const metrics = workflowMetrics(registry);
  return defineController<RemediationRequest, Observation, Observation & { readonly decision: Decision }, Outcome>({
    name: controllerName,
    reconciles: RemediationRequest,
    owns: [watch(KubernetesExecution, { predicates: [resourceVersionChanged] })],
    watches: [
      watch(WorkflowExecution, { map: remediationOfWorkflow, predicates: [generationChanged] }),
      watch(RemediationRequest, { map: waitingFor, predicates: [isDeletion] }),
    ],
    indexes: [
      index(RemediationRequest, targetIndex, targetsOf),
      index(WorkflowExecution, targetIndex, workflowTargets),
      index(WorkflowExecution, remediationIndex, (workflow) => remediationOfWorkflow(workflow).map(keyText)),
    ],
    permissions: [
      allow(KubernetesExecution, ["get", "create", "patch"]),
      allow(WorkflowExecution, ["patch"], "status"),
    ],
    observe: (remediation, { read, now }) => observe(remediation, read, now, coolDownMs),
    evaluate: (observation) => ({ ...observation, decision: evaluate(observation) }),
    async act({ decision, remediation, workflow, now }, context) {
      const refusals: string[] = [];
      for (const wanted of decision.create) {
        const refusal = await createExecution(wanted, remediation, workflow, context);
        if (refusal !== undefined) refusals.push(`Step ${wanted.stepNumber} cannot be started: ${refusal}`);
      }
      for (const { execution, as } of decision.finalize) {
        const value = { metadata: { uid: execution.metadata.uid, annotations: { [annotations.finalize]: as } } };
        await context.write.patch(KubernetesExecution, execution.metadata, { type: "merge", value });
      }
      for (const execution of decision.cancel) {
        const value = { metadata: { uid: execution.metadata.uid }, spec: { cancel: true } };
        await context.write.patch(KubernetesExecution, execution.metadata, { type: "merge", value });
      }
      if (workflow) await writeStatus(WorkflowExecution, workflow, workflowStatus(workflow, decision, now), context);
      const { overallPhase } = remediation.status ?? {};
      const wake = (): void => {
        if (decision.phase !== overallPhase) tell(remediation, decision, context.log);
        if (!isOver(decision.phase)) return;
        if (workflow && !isOver(overallPhase ?? "pending")) metrics.ended(workflow, decision, now);
        for (const key of waitingFor(remediation, context.read)) context.requeue(key);
      };
      return { wake, ...(refusals.length > 0 && { refusal: refusals.join("; ") }) };
    },
    reduce: ({ object, snapshot, decision: { decision }, outcome: { wake, refusal }, now }) => ({
      status: reduce(
        object,
        snapshot.workflow,
        refusal === undefined ? decision : { ...decision, message: refusal },
        now,
      ),
      events: eventsOf(object, refusal === undefined ? decision : { ...decision, create: [] }),
      afterWrite: wake,
      ...(refusal !== undefined && { failure: { reason: "StepRefused", message: refusal } }),
      ...(decision.lookAgainMs !== undefined && { requeueAfterMs: Math.max(1, decision.lookAgainMs) }),
    }),
  });
}

function tell({ status }: RemediationRequest, { phase, message, steps }: Decision, log: Logger): void {
  const fields = { from: status?.overallPhase ?? "new", phase, steps: steps.length, why: redactText(message) };
  if (phase === "failed" || phase === "timed_out" || phase === "rolled_back")
    log.warn("a remediation has failed", fields);
  else log.info("a remediation moves on", fields);
}

interface Outcome {
  /** Those that waited for the target of this one may look again. */
  readonly wake: () => void;
  /** Why a step could not be started; it is tried again until time is up. */
  readonly refusal?: string;
}

const targetIndex = "target";
const remediationIndex = "remediation";
const keyText = ({ namespace = "", name }: ObjectKey): string => `${namespace}/${name}`;
const isDeletion = ({ kind }: Change): boolean => kind === "Deleted";

function observe(remediation: RemediationRequest, read: Read, now: Date, coolDownMs: number): Observation {
  const workflow = workflowOf(remediation, read);
  const owned = read.owned(KubernetesExecution, remediation);
  const others = sharingTargets(remediation, workflow, read);
  const busyWith = others.find((other) => isActive(other) || (isWaiting(other, read) && isOlder(other, remediation)));
  const declared = declaredTarget(remediation);
  const ended = others.flatMap((other) =>
    other.status?.completedAt && declared !== undefined && declaredTarget(other) === declared
      ? [new Date(other.status.completedAt).getTime()]
      : [],
  );
  return {
    remediation,
    executions: new Map(owned.map((execution) => [execution.metadata.name, execution])),
    coolDownMs,
    now,
    ...(workflow && { workflow }),
    ...(busyWith && { busyWith: `RemediationRequest ${busyWith.metadata.name}` }),
    ...(ended.length > 0 && { lastEndedMs: Math.max(...ended) }),
  };
}

/** The oldest that names the remediation; once it runs it is that very one, whatever else comes or goes. */
function workflowOf(remediation: RemediationRequest, read: Read): WorkflowExecution | undefined {
  const all = read.byIndex(WorkflowExecution, remediationIndex, keyText(remediation.metadata));
  const { overallPhase = "pending", workflowExecutionRef } = remediation.status ?? {};
  if (overallPhase !== "pending" && workflowExecutionRef)
    return all.find(({ metadata }) => metadata.uid === workflowExecutionRef.uid);
  return all.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))[0];
}

/** The other remediations that work on something that this one works on, by their own steps or by those of a workflow. */
function sharingTargets(
  remediation: RemediationRequest,
  workflow: WorkflowExecution | undefined,
  read: Read,
): readonly RemediationRequest[] {
  const targets = [...targetsOf(remediation), ...(workflow ? workflowTargets(workflow) : [])];
  const found = targets.flatMap((target) => [
    ...read.byIndex(RemediationRequest, targetIndex, target),
    ...read
      .byIndex(WorkflowExecution, targetIndex, target)
      .flatMap(remediationOfWorkflow)
      .flatMap((key) => read.get(RemediationRequest, key) ?? []),
  ]);
  const others = found.filter(({ metadata }) => metadata.uid !== remediation.metadata.uid);
  return [...new Map(others.map((other) => [other.metadata.uid, other])).values()];
}

const isActive = ({ status }: RemediationRequest): boolean => status?.overallPhase === "executing";
const isPending = ({ status }: RemediationRequest): boolean => (status?.overallPhase ?? "pending") === "pending";
/** Has steps and could start: of those that wait, the oldest goes first. */
const isWaiting = (remediation: RemediationRequest, read: Read): boolean =>
  isPending(remediation) && ((remediation.spec.steps?.length ?? 0) > 0 || workflowOf(remediation, read) !== undefined);
const isOlder = (a: RemediationRequest, b: RemediationRequest): boolean => orderOf(a) < orderOf(b);
const orderOf = ({ metadata }: KubeObject): string =>
  `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;

/** When one ends or goes away, those that waited for its target may begin, after their rest. */
const waitingFor = (remediation: RemediationRequest, read: Read): readonly ObjectKey[] =>
  sharingTargets(remediation, workflowOf(remediation, read), read)
    .filter(isPending)
    .map(({ metadata }) => ({ namespace: metadata.namespace ?? "", name: metadata.name }));

async function createExecution(
  { name, stepNumber, run, step }: WantedExecution,
  remediation: RemediationRequest,
  workflow: WorkflowExecution | undefined,
  { write, live, signal }: ActContext<RemediationRequest>,
): Promise<string | undefined> {
  const { namespace = "" } = remediation.metadata;
  const strategy = workflow?.spec.executionStrategy;
  const wanted: NewObject<KubernetesExecution> = {
    metadata: {
      name,
      namespace,
      labels: { [labels.managedBy]: "capstan", [labels.controller]: controllerName },
      annotations: {
        ...askersOf(remediation, workflow),
        ...(strategy?.approvalRequired && { "kubernaut.io/approval-required": "true" }),
        ...(strategy?.dryRunFirst && { "kubernaut.io/dry-run-first": "true" }),
      },
      ownerReferences: [controllerReference(RemediationRequest, remediation)],
    },
    spec: {
      action: run.action,
      parameters: run.parameters as NonNullable<KubernetesExecution["spec"]["parameters"]>,
      stepNumber,
      remediationRequestRef: { name: remediation.metadata.name, namespace },
      ...(workflow && {
        workflowExecutionRef: { name: workflow.metadata.name, namespace: workflow.metadata.namespace ?? namespace },
      }),
      ...maxRetriesOf(step?.maxRetries ?? strategy?.maxRetries),
      ...(step?.timeout !== undefined && { timeout: step.timeout }),
      ...(step?.preConditions && { preConditions: step.preConditions }),
      ...(step?.postConditions && { postConditions: step.postConditions }),
    },
  };
  const created = await write.create(KubernetesExecution, wanted);
  if (created.ok) return undefined;
  const found =
    created.reason === "AlreadyExists"
      ? await live.get(KubernetesExecution, { namespace, name }, { signal })
      : undefined;
  // One that we made before we were interrupted is as good as a new one; a stranger's is not.
  return found && isControlledBy(found, remediation) ? undefined : created.message;
}

/** Who asked for it, and who planned it where that was somebody else's part. */
function askersOf(remediation: RemediationRequest, workflow: WorkflowExecution | undefined): Record<string, string> {
  const { requestedBy, requestedByGroups, plannedBy, plannedByGroups } = annotations;
  const of = (object: KubeObject | undefined, from: string, to: string): Record<string, string> => {
    const value = object?.metadata.annotations?.[from];
    return value === undefined ? {} : { [to]: value };
  };
  return {
    ...of(remediation, requestedBy, requestedBy),
    ...of(remediation, requestedByGroups, requestedByGroups),
    ...of(workflow, requestedBy, plannedBy),
    ...of(workflow, requestedByGroups, plannedByGroups),
  };
}

const maxRetriesOf = (wanted: number | undefined): { readonly maxRetries?: number } =>
  wanted === undefined ? {} : { maxRetries: Math.min(5, wanted) };

/** Only in its own namespace: whoever may write there need not be trusted elsewhere (S9). */
const remediationOfWorkflow = ({ metadata, spec }: WorkflowExecution): readonly ObjectKey[] => {
  const { namespace = metadata.namespace, name } = spec.remediationRequestRef;
  return name === undefined || namespace !== metadata.namespace ? [] : [{ namespace: namespace ?? "", name }];
};

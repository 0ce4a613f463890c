import { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import { RemediationRequest } from "../../api/remediation-request.ts";
import { annotations, labels } from "../../api/well-known.ts";
import { WorkflowExecution } from "../../api/workflow-execution.ts";
import type { NewObject } from "../../client/client.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { controllerReference, isControlledBy } from "../../kube/owner-reference.ts";
import { type ActContext, type Controller, defineController, index, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { generationChanged, resourceVersionChanged } from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { type Decision, evaluate, type Observation, type WantedExecution } from "./evaluate.ts";
import { eventsOf, reduce, workflowStatus } from "./reduce.ts";

export interface RemediationOptions {
  /** How long a target rests after a remediation. */
  readonly coolDownMs?: number;
}

const controllerName = "remediation";
const defaultCoolDownMs = 60_000;

/** Runs the steps of remediations as executions, in their order, and decides what becomes of them. */
export function remediationController({ coolDownMs = defaultCoolDownMs }: RemediationOptions = {}): Controller {
  return defineController<RemediationRequest, Observation, Observation & { readonly decision: Decision }, undefined>({
    name: controllerName,
    reconciles: RemediationRequest,
    owns: [watch(KubernetesExecution, { predicates: [resourceVersionChanged] })],
    watches: [watch(WorkflowExecution, { map: remediationOfWorkflow, predicates: [generationChanged] })],
    indexes: [
      index(RemediationRequest, "target", (remediation) => targetKeys(remediation)),
      index(WorkflowExecution, "remediation", ({ metadata, spec }) => [
        `${spec.remediationRequestRef.namespace ?? metadata.namespace}/${spec.remediationRequestRef.name}`,
      ]),
    ],
    permissions: [
      allow(KubernetesExecution, ["get", "create", "patch"]),
      allow(WorkflowExecution, ["patch"], "status"),
    ],
    observe: (remediation, { read, now }) => observe(remediation, read, now, coolDownMs),
    evaluate: (observation) => ({ ...observation, decision: evaluate(observation) }),
    async act({ decision, remediation, workflow, now }, context) {
      for (const wanted of decision.create) await createExecution(wanted, remediation, workflow, context);
      for (const { execution, as } of decision.finalize) {
        const value = { metadata: { uid: execution.metadata.uid, annotations: { [annotations.finalize]: as } } };
        await context.write.patch(KubernetesExecution, execution.metadata, { type: "merge", value });
      }
      for (const execution of decision.cancel) {
        const value = { metadata: { uid: execution.metadata.uid }, spec: { cancel: true } };
        await context.write.patch(KubernetesExecution, execution.metadata, { type: "merge", value });
      }
      if (workflow) await writeStatus(WorkflowExecution, workflow, workflowStatus(workflow, decision, now), context);
      if (decision.phase !== "pending" && decision.phase !== "executing") wakeOthers(remediation, context, coolDownMs);
      return undefined;
    },
    reduce: ({ object, snapshot, decision: { decision }, now }) => ({
      status: reduce(object, snapshot.workflow, decision, now),
      events: eventsOf(object, decision),
      ...(decision.lookAgainMs !== undefined && { requeueAfterMs: Math.max(1, decision.lookAgainMs) }),
    }),
  });
}

function observe(remediation: RemediationRequest, read: Read, now: Date, coolDownMs: number): Observation {
  const { namespace = "", name, uid } = remediation.metadata;
  const [workflow] = read
    .byIndex(WorkflowExecution, "remediation", `${namespace}/${name}`)
    .toSorted((a, b) => ((a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? -1 : 1));
  const owned = read.owned(KubernetesExecution, remediation);
  const others = targetKeys(remediation)
    .flatMap((key) => read.byIndex(RemediationRequest, "target", key))
    .filter(({ metadata }) => metadata.uid !== uid);
  const busyWith = others.find((other) => isActive(other) || (isWaiting(other) && isOlder(other, remediation)));
  const ended = others.flatMap(({ status }) => (status?.completedAt ? [new Date(status.completedAt).getTime()] : []));
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

const isActive = ({ status }: RemediationRequest): boolean => status?.overallPhase === "executing";
/** Has steps and could start: of those that wait, the oldest goes first. */
const isWaiting = ({ status, spec }: RemediationRequest): boolean =>
  (status?.overallPhase ?? "pending") === "pending" && (spec.steps?.length ?? 0) > 0;
const isOlder = (a: RemediationRequest, b: RemediationRequest): boolean => orderOf(a) < orderOf(b);
const orderOf = ({ metadata }: RemediationRequest): string =>
  `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;

function targetKeys({ metadata, spec }: RemediationRequest): readonly string[] {
  const { targetResource } = spec;
  if (targetResource?.name === undefined) return [];
  return [
    `${targetResource.kind ?? ""}/${targetResource.namespace ?? metadata.namespace ?? ""}/${targetResource.name}`,
  ];
}

/** When one ends, those that waited for its target may begin after their rest. */
function wakeOthers(
  remediation: RemediationRequest,
  { read, requeue }: ActContext<RemediationRequest>,
  coolDownMs: number,
): void {
  for (const other of targetKeys(remediation).flatMap((key) => read.byIndex(RemediationRequest, "target", key)))
    if ((other.status?.overallPhase ?? "pending") === "pending" && other.metadata.uid !== remediation.metadata.uid)
      requeue({ namespace: other.metadata.namespace ?? "", name: other.metadata.name }, coolDownMs);
}

async function createExecution(
  { name, stepNumber, run, step }: WantedExecution,
  remediation: RemediationRequest,
  workflow: WorkflowExecution | undefined,
  { write, live, signal }: ActContext<RemediationRequest>,
): Promise<void> {
  const { namespace = "" } = remediation.metadata;
  const requestedBy = remediation.metadata.annotations?.[annotations.requestedBy];
  const plannedBy = workflow?.metadata.annotations?.[annotations.requestedBy];
  const strategy = workflow?.spec.executionStrategy;
  const wanted: NewObject<KubernetesExecution> = {
    metadata: {
      name,
      namespace,
      labels: { [labels.managedBy]: "capstan", [labels.controller]: controllerName },
      annotations: {
        ...(requestedBy !== undefined && { [annotations.requestedBy]: requestedBy }),
        ...(plannedBy !== undefined && { [annotations.plannedBy]: plannedBy }),
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
  if (created.ok) return;
  const found =
    created.reason === "AlreadyExists"
      ? await live.get(KubernetesExecution, { namespace, name }, { signal })
      : undefined;
  // One that we made before we were interrupted is as good as a new one; a stranger's is not.
  if (found && isControlledBy(found, remediation)) return;
  throw new Error(`step ${stepNumber} of ${remediation.metadata.name} was refused: ${created.message}`);
}

const maxRetriesOf = (wanted: number | undefined): { readonly maxRetries?: number } =>
  wanted === undefined ? {} : { maxRetries: Math.min(5, wanted) };

const remediationOfWorkflow = ({ metadata, spec }: WorkflowExecution): readonly ObjectKey[] => [
  {
    namespace: spec.remediationRequestRef.namespace ?? metadata.namespace ?? "",
    name: spec.remediationRequestRef.name ?? "",
  },
];

import { RemediationRequest } from "../../api/remediation-request.ts";
import { WorkflowExecution, type WorkflowReason } from "../../api/workflow-execution.ts";
import { setCondition } from "../../kube/condition.ts";
import { type Controller, defineController, index, watch } from "../../runtime/controller.ts";
import { resourceVersionChanged } from "../../runtime/predicates.ts";

/** A workflow that nobody runs is told why; what is said about one that runs is the remediation controller's. */
export const idleWorkflows = (): Controller =>
  defineController<WorkflowExecution, Idle | undefined, Idle | undefined>({
    name: "workflow",
    reconciles: WorkflowExecution,
    watches: [
      watch(RemediationRequest, {
        map: ({ metadata: { name, namespace = "" } }, read) =>
          read
            .byIndex(WorkflowExecution, namedIndex, name)
            .filter(({ metadata }) => metadata.namespace === namespace)
            .map(({ metadata }) => ({ namespace, name: metadata.name })),
        predicates: [resourceVersionChanged],
      }),
    ],
    indexes: [index(WorkflowExecution, namedIndex, ({ spec }) => [spec.remediationRequestRef.name ?? ""])],
    observe: (workflow, { read }) =>
      whyIdle(workflow, (name) => read.get(RemediationRequest, { namespace: workflow.metadata.namespace ?? "", name })),
    evaluate: (idle) => idle,
    reduce: ({ object, decision: idle, now }) =>
      idle === undefined
        ? {}
        : {
            status: {
              ...object.status,
              phase: "planning",
              message: idle.message,
              currentStep: 0,
              totalSteps: object.spec.workflowDefinition.steps.length,
              conditions: setCondition(object.status?.conditions, { type: "Accepted", status: "False", ...idle }, now),
            },
          },
  });

interface Idle {
  readonly reason: WorkflowReason;
  readonly message: string;
}

const namedIndex = "named";

export function whyIdle(
  { metadata, spec, status }: WorkflowExecution,
  remediationOf: (name: string) => RemediationRequest | undefined,
): Idle | undefined {
  // Once it has begun, its end is told by whoever runs it.
  if (status?.phase !== undefined && status.phase !== "planning") return undefined;
  const { name = "", namespace = metadata.namespace } = spec.remediationRequestRef;
  if (namespace !== metadata.namespace)
    return {
      reason: "RemediationNotFound",
      message: `RemediationRequest ${namespace}/${name} is in another namespace; a workflow serves those of its own`,
    };
  const remediation = remediationOf(name);
  if (remediation === undefined)
    return { reason: "RemediationNotFound", message: `RemediationRequest ${name} is not there` };
  const { workflowExecutionRef, overallPhase = "pending" } = remediation.status ?? {};
  if (workflowExecutionRef !== undefined && workflowExecutionRef.uid !== metadata.uid && overallPhase !== "pending")
    return {
      reason: "NotChosen",
      message: `RemediationRequest ${name} is run by WorkflowExecution ${workflowExecutionRef.name}`,
    };
  return undefined;
}

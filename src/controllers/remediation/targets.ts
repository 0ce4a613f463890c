import type { Action } from "../../api/action.ts";
import { parameterNames } from "../../api/parameter-schema.ts";
import type { RemediationRequest } from "../../api/remediation-request.ts";
import type { WorkflowExecution } from "../../api/workflow-execution.ts";
import type { WorkflowStep } from "../../api/workflow-step.ts";
import { translateStep } from "./step-parameters.ts";

/** What a remediation says that it is about, as `Kind/namespace/name`; a target rests after a remediation. */
export function declaredTarget({ metadata, spec }: RemediationRequest): string | undefined {
  const { kind = "", namespace, name } = spec.targetResource ?? {};
  return name === undefined ? undefined : keyOf(kind, namespace ?? metadata.namespace ?? "", name);
}

/** What its own steps change, and what it says that it is about: only one remediation works on any of these at a time. */
export function targetsOf(remediation: RemediationRequest): readonly string[] {
  const declared = declaredTarget(remediation);
  return [...new Set([...(declared === undefined ? [] : [declared]), ...stepTargets(remediation.spec.steps ?? [])])];
}

export const workflowTargets = ({ spec }: WorkflowExecution): readonly string[] => [
  ...new Set(stepTargets(spec.workflowDefinition.steps)),
];

const stepTargets = (steps: readonly WorkflowStep[]): readonly string[] =>
  steps.flatMap(({ action, parameters }) => {
    const read = translateStep(action, parameters as Readonly<Record<string, unknown>> | undefined);
    return read.ok ? targetOfStep(read.value.action, Object.values(read.value.parameters)[0]) : [];
  });

function targetOfStep(action: Action, parameters: unknown): readonly string[] {
  const [nameField = ""] = parameterNames(action);
  const kind = kindsByField[nameField];
  const { [nameField]: name, namespace = "" } = parameters as Readonly<Record<string, unknown>>;
  return kind === undefined ? [] : [keyOf(kind, String(namespace), String(name))];
}

const keyOf = (kind: string, namespace: string, name: string): string =>
  `${kind}/${clusterWide.has(kind) ? "" : namespace}/${name}`;

const clusterWide: ReadonlySet<string> = new Set(["Node", "Namespace", "PersistentVolume"]);

/** The parameter that names an action's target, and the kind of it; a manifest names its target itself. */
const kindsByField: Readonly<Record<string, string>> = {
  deployment: "Deployment",
  statefulset: "StatefulSet",
  daemonset: "DaemonSet",
  pod: "Pod",
  node: "Node",
  configMap: "ConfigMap",
  secret: "Secret",
  hpa: "HorizontalPodAutoscaler",
  pvc: "PersistentVolumeClaim",
  networkpolicy: "NetworkPolicy",
};

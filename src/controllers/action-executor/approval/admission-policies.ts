import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "../../../api/builtin/admission.ts";
import { ConfigMap, Secret, ServiceAccount } from "../../../api/builtin/configuration.ts";
import { Job } from "../../../api/builtin/job.ts";
import { Pod } from "../../../api/builtin/pod.ts";
import { ClusterRole } from "../../../api/builtin/rbac.ts";
import { KubernetesExecution } from "../../../api/kubernetes-execution.ts";
import { executionStatus } from "../../../api/kubernetes-execution-status.ts";
import { RemediationRequest } from "../../../api/remediation-request.ts";
import { annotations } from "../../../api/well-known.ts";
import { WorkflowExecution } from "../../../api/workflow-execution.ts";
import type { KubeObject } from "../../../kube/object.ts";
import { switchesOff } from "../freeze-switch.ts";
import { object } from "../install-rbac.ts";
import { jobNamespace, switchConfigMap, systemNamespace } from "../names.ts";
import { approvalAnnotations } from "./approval.ts";

export interface GuardOptions {
  /** The users that our controllers are. */
  readonly controllerUsers: readonly string[];
  /** Who else may create pods in the Jobs' namespace: the Job controller. */
  readonly podUsers: readonly string[];
  readonly image: string;
}

/** Rules that hold even where the webhook does not run: nobody speaks for another, and nobody approves their own wish. */
export const guardObjects = (options: GuardOptions): readonly KubeObject[] => [
  ...policy("capstan-requesters", requesterRules(options)),
  ...policy("capstan-remediation-steps", stepRules(options)),
  ...policy("capstan-remediation-executions", ownerRules(options)),
  ...policy("capstan-approvals", approvalRules(options)),
  ...policy("capstan-action-jobs", jobRules(options)),
  ...policy("capstan-action-pods", podRules(options)),
  ...policy("capstan-action-orders", orderRules(options)),
  ...policy("capstan-freeze-switch", switchRules),
  approverRole(),
];

interface PolicySpec {
  readonly rules: readonly object[];
  readonly namespace?: string;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

function policy(name: string, { rules, namespace, variables = [], validations }: PolicySpec): readonly KubeObject[] {
  return [
    object(
      ValidatingAdmissionPolicy,
      { name },
      {
        spec: {
          failurePolicy: "Fail",
          matchConstraints: {
            resourceRules: rules,
            ...(namespace && { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } }),
          },
          variables,
          validations: validations.map((validation) => ({ ...validation, reason: "Forbidden" })),
        },
      },
    ),
    object(ValidatingAdmissionPolicyBinding, { name }, { spec: { policyName: name, validationActions: ["Deny"] } }),
  ];
}

const rule = (
  kind: { readonly group: string; readonly version: string },
  resources: readonly string[],
  operations: readonly string[],
) => ({
  apiGroups: [kind.group],
  apiVersions: [kind.version],
  resources,
  operations,
});

const annotation = (of: "object" | "oldObject", name: string): string =>
  `(has(${of}.metadata.annotations) && '${name}' in ${of}.metadata.annotations ? ${of}.metadata.annotations['${name}'] : '')`;

const isOneOf = (users: readonly string[]): string => `request.userInfo.username in ${JSON.stringify(users)}`;

const requesterRules = ({ controllerUsers }: GuardOptions): PolicySpec => ({
  rules: [
    rule(KubernetesExecution, [KubernetesExecution.plural], ["CREATE", "UPDATE"]),
    rule(RemediationRequest, [RemediationRequest.plural], ["CREATE", "UPDATE"]),
    rule(WorkflowExecution, [WorkflowExecution.plural], ["CREATE", "UPDATE"]),
  ],
  validations: [
    {
      expression: `request.operation != 'CREATE' || ${isOneOf(controllerUsers)} || ${annotation("object", annotations.requestedBy)} == request.userInfo.username`,
      message: `${annotations.requestedBy} must be the user who creates the object`,
    },
    {
      expression: `request.operation != 'UPDATE' || ${annotation("object", annotations.requestedBy)} == ${annotation("oldObject", annotations.requestedBy)}`,
      message: `${annotations.requestedBy} cannot be changed`,
    },
    {
      // Fewer are of no use to anybody, and more would be somebody else's.
      expression: `request.operation != 'CREATE' || ${isOneOf(controllerUsers)} || ${annotation("object", annotations.requestedByGroups)} == '' || ${annotation("object", annotations.requestedByGroups)}.split(',').all(group, group in request.userInfo.groups)`,
      message: `${annotations.requestedByGroups} must be groups of the user who creates the object`,
    },
    {
      expression: `request.operation != 'UPDATE' || (${[annotations.requestedByGroups, annotations.plannedByGroups].map((name) => `${annotation("object", name)} == ${annotation("oldObject", name)}`).join(" && ")})`,
      message: "the groups of whoever asked cannot be changed",
    },
    {
      expression: `request.operation == 'UPDATE' ? ${annotation("object", annotations.plannedBy)} == ${annotation("oldObject", annotations.plannedBy)} : (${isOneOf(controllerUsers)} || ${annotation("object", annotations.plannedBy)} == '')`,
      message: `${annotations.plannedBy} is written by the controllers only`,
    },
  ],
});

/** Steps that somebody else adds would run in the requester's name, and whoever added them could approve them. */
const stepRules = ({ controllerUsers }: GuardOptions): PolicySpec => ({
  rules: [rule(RemediationRequest, [RemediationRequest.plural], ["UPDATE"])],
  validations: [
    {
      expression: `has(oldObject.spec.steps) || !has(object.spec.steps) || ${isOneOf(controllerUsers)} || ${annotation("oldObject", annotations.requestedBy)} == request.userInfo.username`,
      message: "only whoever asked for a remediation can add its steps; a WorkflowExecution can be anybody's",
    },
  ],
});

/** An execution that somebody puts in a step's place would be taken for the step. */
const ownerRules = ({ controllerUsers }: GuardOptions): PolicySpec => ({
  rules: [rule(KubernetesExecution, [KubernetesExecution.plural], ["CREATE", "UPDATE"])],
  validations: [
    {
      expression: `${isOneOf(controllerUsers)} || !has(object.metadata.ownerReferences) || object.metadata.ownerReferences.all(owner, owner.kind != '${RemediationRequest.kind}' || !has(owner.controller) || !owner.controller || (request.operation == 'UPDATE' && has(oldObject.metadata.ownerReferences) && oldObject.metadata.ownerReferences.exists(known, known.uid == owner.uid)))`,
      message: "the executions of a remediation are made by its controller only",
    },
  ],
});

const approvalRules = ({ controllerUsers }: GuardOptions): PolicySpec => ({
  rules: [
    rule(
      KubernetesExecution,
      [KubernetesExecution.plural, `${KubernetesExecution.plural}/status`],
      ["CREATE", "UPDATE"],
    ),
  ],
  variables: [
    { name: "isController", expression: isOneOf(controllerUsers) },
    { name: "requester", expression: annotation("object", annotations.requestedBy) },
    { name: "planner", expression: annotation("object", annotations.plannedBy) },
    { name: "hasApproval", expression: "has(object.status) && has(object.status.approval)" },
    {
      name: "hadApproval",
      expression: "request.operation == 'UPDATE' && has(oldObject.status) && has(oldObject.status.approval)",
    },
    {
      name: "approvalIsNew",
      expression:
        "variables.hasApproval && (!variables.hadApproval || object.status.approval != oldObject.status.approval)",
    },
    { name: "approvedBy", expression: annotation("object", approvalAnnotations.by) },
    {
      name: "annotationIsNew",
      expression: `variables.approvedBy != '' && (request.operation == 'CREATE' || ${Object.values(approvalAnnotations)
        .map((name) => `${annotation("object", name)} != ${annotation("oldObject", name)}`)
        .join(" || ")})`,
    },
    {
      name: "mayApprove",
      expression: `authorizer.group('${KubernetesExecution.group}').resource('${KubernetesExecution.plural}').namespace(request.namespace).name(request.name).check('approve').allowed()`,
    },
  ],
  validations: [
    {
      // How far an execution has come is what the executor acts on: whoever could write that would need no approval.
      expression: `variables.isController || request.operation != 'UPDATE' || (${foundByTheExecutor.map(isSame).join(" && ")})`,
      message: "of the status only approval is for people to write",
    },
    {
      expression: "!variables.hadApproval || variables.hasApproval",
      message: "an approval or rejection cannot be taken back",
    },
    {
      expression: "!variables.approvalIsNew || !variables.hadApproval",
      message: "somebody has decided already",
    },
    {
      expression:
        "!variables.approvalIsNew || variables.isController || object.status.approval.by == request.userInfo.username",
      message: "status.approval.by must be the user who decides",
    },
    {
      // What the controller writes down must have been said: by the stamp that admission has left.
      expression: `!variables.approvalIsNew || !variables.isController || (object.status.approval.by == variables.approvedBy && object.status.approval.specHash == ${annotation("object", approvalAnnotations.specHash)})`,
      message: "a controller can only write down an approval that was given",
    },
    {
      expression: "!variables.approvalIsNew || object.status.approval.by != variables.requester",
      message: "whoever asked for the action cannot approve it",
    },
    {
      expression: "!variables.approvalIsNew || object.status.approval.by != variables.planner",
      message: "whoever planned the action cannot approve it",
    },
    {
      expression: "!variables.approvalIsNew || variables.isController || variables.mayApprove",
      message: `this needs the verb "approve" on ${KubernetesExecution.plural}`,
    },
    {
      expression: `!variables.annotationIsNew || (request.operation == 'UPDATE' && variables.approvedBy == request.userInfo.username && variables.approvedBy != variables.requester && variables.approvedBy != variables.planner && has(object.spec.approvalReceived) && object.spec.approvalReceived)`,
      message: "an approval must be given by the approver's own write, and not by whoever asked for the action",
    },
    {
      expression: "!variables.annotationIsNew || variables.mayApprove",
      message: `this needs the verb "approve" on ${KubernetesExecution.plural}`,
    },
    {
      expression: `request.operation != 'UPDATE' || ${annotation("oldObject", approvalAnnotations.by)} == '' || !variables.annotationIsNew`,
      message: "somebody has approved already",
    },
  ],
});

const foundByTheExecutor = Object.keys(executionStatus.schema.properties ?? {}).filter((name) => name !== "approval");

function isSame(field: string): string {
  const [now, before] = ["object", "oldObject"].map((of) => `(has(${of}.status) && has(${of}.status.${field}))`);
  return `${now} == ${before} && (!${now} || object.status.${field} == oldObject.status.${field})`;
}

/** In the Jobs' namespace every ServiceAccount of ours can be used, so who may start what there is decided here too (S3). */
const jobRules = ({ controllerUsers, image }: GuardOptions): PolicySpec => ({
  rules: [rule(Job, [Job.plural], ["CREATE"])],
  namespace: jobNamespace,
  variables: [
    { name: "pod", expression: "object.spec.template.spec" },
    { name: "act", expression: "object.spec.template.spec.containers[0]" },
  ],
  validations: [
    { expression: isOneOf(controllerUsers), message: "only the action executor creates Jobs here" },
    {
      expression:
        "has(object.metadata.labels) && 'kubernaut.io/action' in object.metadata.labels && has(variables.pod.serviceAccountName) && variables.pod.serviceAccountName == 'kubernaut-action-' + object.metadata.labels['kubernaut.io/action'].replace('_', '-')",
      message: "the ServiceAccount must be the one of the action",
    },
    {
      expression: `size(variables.pod.containers) == 1 && variables.act.image == ${JSON.stringify(image)} && !has(variables.pod.initContainers)`,
      message: "only our own image may run here, alone",
    },
    {
      expression:
        "has(variables.act.command) && variables.act.command == ['capstan'] && has(variables.act.args) && size(variables.act.args) == 5 && variables.act.args[0] == 'act' && !has(variables.act.env) && !has(variables.act.envFrom)",
      message: "only `capstan act` may run here",
    },
    {
      expression:
        "has(variables.act.securityContext) && has(variables.act.securityContext.readOnlyRootFilesystem) && variables.act.securityContext.readOnlyRootFilesystem && has(variables.act.securityContext.allowPrivilegeEscalation) && !variables.act.securityContext.allowPrivilegeEscalation && !(has(variables.act.securityContext.privileged) && variables.act.securityContext.privileged) && has(variables.act.securityContext.capabilities) && has(variables.act.securityContext.capabilities.drop) && 'ALL' in variables.act.securityContext.capabilities.drop && !has(variables.act.securityContext.capabilities.add) && has(variables.pod.securityContext) && has(variables.pod.securityContext.runAsNonRoot) && variables.pod.securityContext.runAsNonRoot",
      message: "the pod must be as restricted as the executor makes it",
    },
    {
      expression:
        "!(has(variables.pod.hostNetwork) && variables.pod.hostNetwork) && !(has(variables.pod.hostPID) && variables.pod.hostPID) && !(has(variables.pod.hostIPC) && variables.pod.hostIPC) && has(variables.pod.volumes) && variables.pod.volumes.all(volume, has(volume.secret))",
      message: "the pod may use nothing of its host",
    },
  ],
});

const podRules = ({ controllerUsers, podUsers }: GuardOptions): PolicySpec => ({
  rules: [
    rule(Pod, [Pod.plural], ["CREATE", "UPDATE"]),
    rule(Pod, ["pods/exec", "pods/attach", "pods/ephemeralcontainers"], ["CREATE", "UPDATE", "CONNECT"]),
  ],
  namespace: jobNamespace,
  variables: [{ name: "isPodItself", expression: "!has(request.subResource) || request.subResource == ''" }],
  validations: [
    {
      expression: `variables.isPodItself && (request.operation == 'UPDATE' || ${isOneOf([...controllerUsers, ...podUsers])})`,
      message: "pods here are started by Jobs of the action executor, and nobody enters them",
    },
    {
      // A container is started anew when its image changes, whatever its restart policy says.
      expression: "!variables.isPodItself || request.operation != 'UPDATE' || object.spec == oldObject.spec",
      message: "what a pod here runs cannot be changed",
    },
  ],
});

/** An order that somebody else has put there would run in place of the one that was approved; a token acts without any. */
const orderRules = ({ controllerUsers, podUsers }: GuardOptions): PolicySpec => ({
  rules: [
    rule(Secret, [Secret.plural], ["CREATE", "UPDATE"]),
    rule(ServiceAccount, [`${ServiceAccount.plural}/token`], ["CREATE"]),
  ],
  namespace: jobNamespace,
  variables: [{ name: "isController", expression: isOneOf(controllerUsers) }],
  validations: [
    {
      // What a private registry asks for is the one thing that others bring.
      expression: `request.resource.resource != '${Secret.plural}' || variables.isController || (has(object.type) && object.type in ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg'] && !object.metadata.name.startsWith('exec-'))`,
      message: "only the action executor writes orders here; credentials of an image registry may be added",
    },
    {
      expression: `request.resource.resource == '${Secret.plural}' || variables.isController || ${isOneOf(podUsers)} || (has(request.userInfo.groups) && 'system:nodes' in request.userInfo.groups)`,
      message: "tokens of actions are for their pods only",
    },
  ],
});

/** Taking the switch away would let everything go on, and nobody would have been asked or written down. */
const switchRules: PolicySpec = {
  rules: [rule(ConfigMap, [ConfigMap.plural], ["DELETE"])],
  namespace: systemNamespace,
  validations: [
    {
      expression: `oldObject.metadata.name != '${switchConfigMap}' || !has(oldObject.data) || !('frozen' in oldObject.data) || oldObject.data['frozen'] in ${JSON.stringify(switchesOff)} || has(namespaceObject.metadata.deletionTimestamp)`,
      message: "everything is frozen: set frozen to false first",
    },
  ],
};

/** For whoever shall be able to approve; bind it in the namespaces where they may. */
const approverRole = (): KubeObject =>
  object(
    ClusterRole,
    { name: "capstan-approver" },
    {
      rules: [
        {
          apiGroups: [KubernetesExecution.group],
          resources: [KubernetesExecution.plural],
          // With patch, for `spec.approvalReceived`; nothing but that and `cancel` can be changed in a spec.
          verbs: ["get", "list", "watch", "patch", "approve"],
        },
        {
          apiGroups: [KubernetesExecution.group],
          resources: [`${KubernetesExecution.plural}/status`],
          // With get, because kubectl looks before it writes.
          verbs: ["get", "patch", "update"],
        },
      ],
    },
  );

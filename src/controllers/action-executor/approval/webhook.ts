import { MutatingWebhookConfiguration } from "../../../api/builtin/admission.ts";
import { ConfigMap } from "../../../api/builtin/configuration.ts";
import { KubernetesExecution } from "../../../api/kubernetes-execution.ts";
import { RemediationRequest } from "../../../api/remediation-request.ts";
import { annotations, finalizers } from "../../../api/well-known.ts";
import { WorkflowExecution } from "../../../api/workflow-execution.ts";
import type { Env } from "../../../env/env.ts";
import { deepEqual } from "../../../kube/equality.ts";
import type { KindRef } from "../../../kube/kind.ts";
import type { KubeObject } from "../../../kube/object.ts";
import { formatTime } from "../../../kube/time.ts";
import { mutator, type Webhook } from "../../../runtime/webhook.ts";
import { isFrozen, switchAnnotations } from "../freeze-switch.ts";
import { object } from "../install-rbac.ts";
import { demandAnnotations, switchConfigMap, systemNamespace } from "../names.ts";
import { specHashOf } from "../spec-hash.ts";
import { approvalAnnotations } from "./approval.ts";

export interface StampOptions {
  readonly env: Env;
  /** The users that our controllers are: they pass on who asked, and write down who approved. */
  readonly controllerUsers: readonly string[];
}

/** Who asked and who approved is whoever the server says is asking; what a body says about it is replaced (H3, S4). */
export const stampingWebhooks = (options: StampOptions): readonly Webhook[] => [
  mutator<KubernetesExecution>({
    path: executionPath,
    kind: KubernetesExecution,
    objection: ({ object: execution, oldObject, request }) =>
      request.subResource === "status" ? aboutAnotherSpec(execution, oldObject) : undefined,
    mutate: ({ object: execution, oldObject, operation, request }) => {
      const user = request.userInfo.username ?? "";
      if (request.subResource === "status") return stampStatus(execution, oldObject, user, options);
      const requested = stampRequester(execution, oldObject, request.userInfo, options);
      return operation === "CREATE" ? withFinalizer(requested) : stampReceived(requested, oldObject, user, options);
    },
  }),
  mutator<RemediationRequest>({
    path: remediationPath,
    kind: RemediationRequest,
    mutate: ({ object: remediation, oldObject, request }) =>
      stampRequester(remediation, oldObject, request.userInfo, options),
  }),
  mutator<WorkflowExecution>({
    path: workflowPath,
    kind: WorkflowExecution,
    mutate: ({ object: workflow, oldObject, request }) =>
      stampRequester(workflow, oldObject, request.userInfo, options),
  }),
  mutator<ConfigMap>({
    path: switchPath,
    kind: ConfigMap,
    mutate: ({ object: switches, oldObject, request }) =>
      stampSwitch(switches, oldObject, request.userInfo.username ?? "", options),
  }),
];

/** Who has thrown the switch that stops everything; what else is written beside it changes nothing of that. */
function stampSwitch(
  switches: ConfigMap,
  old: ConfigMap | undefined,
  user: string,
  { env }: Pick<StampOptions, "env">,
): ConfigMap {
  if (switches.metadata.name !== switchConfigMap) return switches;
  const kept = old?.metadata.annotations ?? {};
  const isThrown = isFrozen(switches) !== isFrozen(old);
  const stamp = isThrown
    ? { by: user, at: env.now().toISOString(), value: String(isFrozen(switches)) }
    : {
        by: kept[switchAnnotations.by],
        at: kept[switchAnnotations.at],
        value: kept[switchAnnotations.value],
      };
  return annotated(switches, {
    [switchAnnotations.by]: stamp.by,
    [switchAnnotations.at]: stamp.at,
    [switchAnnotations.value]: stamp.value,
  });
}

function stampRequester<T extends KubeObject>(
  wanted: T,
  old: T | undefined,
  { username: user = "", groups = [] }: UserInfo,
  { controllerUsers }: StampOptions,
): T {
  const given = wanted.metadata.annotations ?? {};
  const asked = { [annotations.requestedBy]: user, [annotations.requestedByGroups]: groups.join(",") };
  // Our controllers pass on who it was; on a new object nobody can have approved anything yet.
  const born = controllerUsers.includes(user) ? { ...asked, ...picked(given, askers) } : asked;
  const kept: Readonly<Record<string, string>> = old ? (old.metadata.annotations ?? {}) : born;
  return annotated(wanted, {
    ...Object.fromEntries([...askers, ...Object.values(approvalAnnotations)].map((name) => [name, kept[name]])),
    // What a parent demanded cannot be taken back by whoever may write the execution.
    ...Object.fromEntries(demands.filter((name) => kept[name] === "true").map((name) => [name, "true"])),
  });
}

type UserInfo = { readonly username?: string; readonly groups?: readonly string[] };

const picked = (from: Readonly<Record<string, string>>, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));

const askers: readonly string[] = [
  annotations.requestedBy,
  annotations.requestedByGroups,
  annotations.plannedBy,
  annotations.plannedByGroups,
];
const demands: readonly string[] = Object.values(demandAnnotations);

/** Saves the executor a write: nothing it makes may outlive the execution. */
function withFinalizer(execution: KubernetesExecution): KubernetesExecution {
  const present = execution.metadata.finalizers ?? [];
  if (present.includes(finalizers.execution)) return execution;
  return { ...execution, metadata: { ...execution.metadata, finalizers: [...present, finalizers.execution] } };
}

/** `spec.approvalReceived` going from false to true is that person's approval; whether they may is the policy's question. */
function stampReceived(
  execution: KubernetesExecution,
  old: KubernetesExecution | undefined,
  user: string,
  { env, controllerUsers }: StampOptions,
): KubernetesExecution {
  if (!execution.spec.approvalReceived || old?.spec.approvalReceived || controllerUsers.includes(user))
    return execution;
  return annotated(execution, {
    [approvalAnnotations.by]: user,
    [approvalAnnotations.at]: formatTime(env.now()),
    [approvalAnnotations.specHash]: specHashOf(execution.spec),
  });
}

/**
 * A word that says what it is about must be about this: an execution may have been deleted and made anew under its name
 * since somebody looked at it (S5). One that does not say is about what is there.
 */
function aboutAnotherSpec(execution: KubernetesExecution, old: KubernetesExecution | undefined): string | undefined {
  const { approval } = execution.status ?? {};
  if (approval === undefined || deepEqual(approval, old?.status?.approval)) return undefined;
  if (approval.specHash === "" || approval.specHash === specHashOf(execution.spec)) return undefined;
  return "status.approval.specHash is that of another spec: read the execution again, or leave specHash empty";
}

function stampStatus(
  execution: KubernetesExecution,
  old: KubernetesExecution | undefined,
  user: string,
  { env, controllerUsers }: StampOptions,
): KubernetesExecution {
  const { approval } = execution.status ?? {};
  if (approval === undefined || deepEqual(approval, old?.status?.approval) || controllerUsers.includes(user))
    return execution;
  const stamped = { ...approval, by: user, at: formatTime(env.now()), specHash: specHashOf(execution.spec) };
  return { ...execution, status: { ...execution.status, approval: stamped } };
}

function annotated<T extends KubeObject>(wanted: T, set: Readonly<Record<string, string | undefined>>): T {
  const all: Record<string, string | undefined> = { ...wanted.metadata.annotations, ...set };
  const present = Object.fromEntries(
    Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  return { ...wanted, metadata: { ...wanted.metadata, annotations: present } };
}

const executionPath = "/admission/stamp-executions";
const remediationPath = "/admission/stamp-remediations";
const workflowPath = "/admission/stamp-workflows";
const switchPath = "/admission/stamp-switch";

export const webhookConfiguration = "capstan-actions";

/** How the API server reaches us: by address, or by Service in a cluster. */
export interface WebhookAddress {
  /** PEM; absent: whoever serves the webhook tells later. */
  readonly caBundle?: string;
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number };
}

export function webhookObject({ caBundle, url, service }: WebhookAddress): KubeObject {
  const reached = (path: string) => ({
    ...(caBundle !== undefined && { caBundle: Buffer.from(caBundle).toString("base64") }),
    ...(url !== undefined && { url: `${url}${path}` }),
    ...(service && { service: { ...service, path } }),
  });
  const common = {
    // Without the stamp there is no knowing who asked: better no write than one by nobody.
    failurePolicy: "Fail",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 5,
    reinvocationPolicy: "IfNeeded",
  };
  const rule = (kind: KindRef, resources: readonly string[]) => [
    {
      apiGroups: [kind.group],
      apiVersions: [kind.version],
      resources,
      operations: ["CREATE", "UPDATE"],
      scope: "Namespaced",
    },
  ];
  return object(
    MutatingWebhookConfiguration,
    { name: webhookConfiguration },
    {
      webhooks: [
        {
          ...common,
          name: "executions.actions.capstan.dev",
          clientConfig: reached(executionPath),
          rules: rule(KubernetesExecution, [KubernetesExecution.plural, `${KubernetesExecution.plural}/status`]),
        },
        {
          ...common,
          name: "remediations.actions.capstan.dev",
          clientConfig: reached(remediationPath),
          rules: rule(RemediationRequest, [RemediationRequest.plural]),
        },
        {
          ...common,
          name: "workflows.actions.capstan.dev",
          clientConfig: reached(workflowPath),
          rules: rule(WorkflowExecution, [WorkflowExecution.plural]),
        },
        {
          ...common,
          // Stopping everything must be possible even when we are not there to write down who it was.
          failurePolicy: "Ignore",
          name: "switch.actions.capstan.dev",
          clientConfig: reached(switchPath),
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": systemNamespace } },
          rules: rule(ConfigMap, [ConfigMap.plural]),
        },
      ],
    },
  );
}

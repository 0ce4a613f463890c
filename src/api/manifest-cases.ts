/**
 * Manifests that must be accepted and ones that must be refused, for the tests: our own validation and a real
 * kube-apiserver are asked the same questions. What upstream accepts is taken from its published schemas.
 */

import { apiVersionOf, type Kind } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { type Action, actionMembers } from "./action.ts";
import { CapabilityBinding } from "./capability-binding.ts";
import { CapabilityDefinition } from "./capability-definition.ts";
import { ClassRuntime } from "./class-runtime.ts";
import { GameDefinition } from "./game-definition.ts";
import { KubernetesExecution } from "./kubernetes-execution.ts";
import { ModuleManifest } from "./module-manifest.ts";
import { PaperMCServer } from "./papermc-server.ts";
import { Plugin } from "./plugin.ts";
import { RemediationRequest } from "./remediation-request.ts";
import { ServiceTarget } from "./service-target.ts";
import { WorkflowExecution } from "./workflow-execution.ts";
import { WorldInstance } from "./world-instance.ts";

type Values = Readonly<Record<string, unknown>>;

/** `status` is written through the status subresource, after the object itself. */
export interface AcceptedCase {
  readonly name: string;
  readonly kind: Kind;
  readonly spec: Values;
  readonly status?: Values;
}

/** `before` is the spec that the object had; then it is an update that is refused. */
export interface RefusedCase {
  readonly name: string;
  readonly kind: Kind;
  readonly spec: Values;
  readonly before?: Values;
  /** The field that the refusal names. */
  readonly field: string;
  /** A part of what it says. */
  readonly says: string;
}

export const manifest = (kind: Kind, name: string, spec: Values, status?: Values): KubeObject & Values => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name, ...(kind.namespaced && { namespace: "default" }) },
  spec,
  ...(status && { status }),
});

const provides = { capabilityId: "time.source", version: "1.0.0", scope: "world", multiplicity: "1" };
const requires = {
  capabilityId: "physics.engine",
  versionConstraint: "^1.0.0",
  scope: "world",
  multiplicity: "many",
  dependencyMode: "optional",
};
const module: Values = {
  module: { id: "core.time", version: "1.0.0" },
  provides: [provides],
  requires: [requires],
  scaling: { defaultScope: "world", statefulness: "stateless" },
};
const game: Values = { gameId: "sample", version: "0.1.0", modules: [{ name: "core-time" }] };
const world: Values = { gameRef: { name: "sample" }, worldId: "w1", region: "eu", shardCount: 1 };
const binding: Values = {
  capabilityId: "time.source",
  scope: "world",
  multiplicity: "1",
  consumer: { moduleManifestName: "physics" },
  provider: { moduleManifestName: "core-time" },
};
const server: Values = {
  updateStrategy: "auto",
  updateSchedule: { checkCron: "0 3 * * *", maintenanceWindow: { cron: "0 4 * * 0", enabled: true } },
  gracefulShutdown: { timeout: "300s" },
  rcon: { enabled: true, passwordSecret: { name: "rcon", key: "password" } },
  podTemplate: { spec: { containers: [{ name: "minecraft" }] } },
};
const plugin: Values = { source: { type: "hangar", project: "Essentials" }, instanceSelector: {} };
const scale: Values = {
  action: "scale_deployment",
  parameters: { scaleDeployment: { deployment: "web", namespace: "shop", replicas: 5 } },
};
const step = { stepNumber: 1, action: "rollout_restart" };
const workflow = (steps: readonly Values[]): Values => ({
  remediationRequestRef: { name: "slow", namespace: "shop" },
  workflowDefinition: { name: "restart", version: "v1", steps },
});
const target: Values = { serviceName: "tool", host: "10.0.0.1", port: 9000, serviceType: "tool-invoker" };

/** The smallest parameters of every action. */
const smallest: { readonly [A in Action]: Values } = {
  scale_deployment: { deployment: "web", namespace: "shop", replicas: 0 },
  rollout_restart: { deployment: "web", namespace: "shop" },
  delete_pod: { pod: "web-1", namespace: "shop", gracePeriodSeconds: 0 },
  patch_deployment: { deployment: "web", namespace: "shop", patchType: "merge", patch: "{}" },
  cordon_node: { node: "node-1" },
  drain_node: { node: "node-1", force: true, deleteLocalData: true, ignoreDaemonSets: true },
  uncordon_node: { node: "node-1" },
  update_configmap: { configMap: "settings", namespace: "shop", data: { colour: "blue" } },
  update_secret: { secret: "token", namespace: "shop", data: { token: "Y2FuYXJ5" } },
  apply_manifest: { manifest: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n" },
  scale_statefulset: { statefulset: "db", namespace: "shop", replicas: 3 },
  rollback_deployment: { deployment: "web", namespace: "shop" },
  restart_daemonset: { daemonset: "agent", namespace: "shop" },
  restart_pod: { pod: "web-1", namespace: "shop" },
  update_hpa: { hpa: "web", namespace: "shop", maxReplicas: 10 },
  taint_node: { node: "node-1", key: "ill", effect: "NoSchedule" },
  untaint_node: { node: "node-1", key: "ill" },
  quarantine_pod: { pod: "web-1", namespace: "shop" },
  expand_pvc: { pvc: "data", namespace: "shop", size: "20Gi" },
  increase_resources: { deployment: "web", namespace: "shop", memory: "1Gi" },
  update_network_policy: { networkpolicy: "web", namespace: "shop", rules: { policyTypes: ["Ingress"], ingress: [] } },
};

const everyAction: readonly AcceptedCase[] = Object.entries(smallest).map(([action, parameters]) => ({
  name: `the action ${action}`,
  kind: KubernetesExecution,
  spec: { action, parameters: { [actionMembers[action as Action]]: parameters } },
}));

export const acceptedCases: readonly AcceptedCase[] = [
  { name: "a module that offers and needs", kind: ModuleManifest, spec: module },
  {
    name: "a module with everything that upstream's later schemas added",
    kind: ModuleManifest,
    spec: {
      ...module,
      provides: [{ ...provides, scope: "realm", version: "1.0.0-rc.1+build.5" }],
      scheduling: { nodeSelector: { disk: "fast" }, tolerations: [{ operator: "Exists" }] },
      runtime: { image: "time:1", port: 50051, command: ["run"], env: { A: "b" }, preStopCommand: "stop" },
    },
    status: {
      observedGeneration: 1,
      phase: "Error",
      message: "1 requirement is not bound",
      unresolvedRequires: [{ capabilityId: "physics.engine", reason: "no compatible provider found" }],
      conditions: [{ type: "Resolved", status: "False" }],
    },
  },
  { name: "a game", kind: GameDefinition, spec: game, status: { phase: "Valid", resolvedModules: [] } },
  {
    name: "a world with the conditions of the specification",
    kind: WorldInstance,
    spec: { ...world, realmRef: { name: "north" }, parameters: { seed: "42" } },
    status: {
      phase: "Running",
      message: "All required bindings resolved",
      shardStatuses: [{ shardId: 0, phase: "Running", endpoints: ["10.0.0.1:50051"] }],
      conditions: [
        { type: "BindingsResolved", status: "True", reason: "AllResolved", message: "All required bindings resolved" },
        { type: "ModulesResolved", status: "True", lastTransitionTime: "2025-01-15T10:05:23Z", observedGeneration: 1 },
      ],
    },
  },
  {
    name: "a binding with the endpoint in spec and in status",
    kind: CapabilityBinding,
    spec: {
      ...binding,
      provider: { moduleManifestName: "core-time", endpoint: { type: "url", value: "http://time", port: 80 } },
    },
    status: {
      phase: "Bound",
      provider: { endpoint: { type: "kubernetesService", value: "time", port: 50051 } },
      resolvedEndpoint: "time:50051",
      lastResolvedTime: "2025-01-15T10:05:23Z",
    },
  },
  {
    name: "a capability",
    kind: CapabilityDefinition,
    spec: { capabilityId: "time.source", latestVersion: "1.0.0", scopes: ["realm"], multiplicity: "many" },
    status: { phase: "Active" },
  },
  { name: "a class runtime without anything", kind: ClassRuntime, spec: {} },
  {
    name: "a class runtime whose writer sends null for what is not set",
    kind: ClassRuntime,
    spec: {
      package_class_key: "a.B",
      selected_template: null,
      functions: [
        {
          function_key: "a.B.c",
          description: null,
          provision_config: { container_image: "echo:1", port: null, min_scale: null, wasm_module_url: null },
        },
      ],
      odgm_config: null,
      telemetry: null,
    },
  },
  {
    name: "a class runtime with its image beside the function's key, as the README of upstream has it",
    kind: ClassRuntime,
    spec: { functions: [{ function_key: "echo", container_image: "echo:1", replicas: 2 }] },
  },
  {
    name: "a class runtime with every status field",
    kind: ClassRuntime,
    spec: { enforcement: { mode: "ENFORCE", dimensions: ["replicas", "memory"] } },
    status: {
      phase: "available",
      observed_generation: 1,
      last_updated: "2025-01-15T10:05:23Z",
      conditions: [
        { type: "Available", status: "True", reason: "Ready", lastTransitionTime: "2025-01-15T10:05:23Z" },
        { type: "NfrEnforced", status: "False", reason: "WaitStability" },
        { type: "TelemetryDegraded", status: "False", reason: "EndpointConfigured" },
      ],
      resource_refs: [{ kind: "Deployment", name: "a" }],
      nfr_recommendations: { replicas: 3, cpu: 260, memory: 1230000 },
      nfr_recommendation_details: { replicas: { observed_at: "2025-01-15T10:05:23Z", confidence: 0.6 } },
      nfr_enforcement_state: { replicas: { target: 3, last_change_at: "2025-01-15T10:05:23Z" } },
      last_applied_recommendations: [
        { component: "function", dimension: "replicas", target: 3, basis: "enforcer", confidence: 1 },
      ],
      last_applied_at: "2025-01-15T10:05:23Z",
      routers: [{ service: "router", port: 17447 }],
      functions: [
        { function_key: "a.B.c", service: "a", port: 80, predicted_url: "http://a/", template: "dev", ready: true },
      ],
    },
  },
  { name: "a server in upstream's smallest form", kind: PaperMCServer, spec: server },
  {
    name: "a server with a cron expression that cannot be read, which its condition will say",
    kind: PaperMCServer,
    spec: { ...server, updateSchedule: { checkCron: "whenever", maintenanceWindow: { cron: "", enabled: true } } },
  },
  {
    name: "a server whose pod has fields that we never read",
    kind: PaperMCServer,
    spec: {
      ...server,
      updateDelay: "1h30m",
      service: {},
      backup: { enabled: true, retention: {} },
      network: { networkPolicy: { enabled: true, allowFrom: [{ podSelector: {} }] } },
      podTemplate: {
        spec: {
          containers: [{ name: "papermc", image: "x", livenessProbe: { tcpSocket: { port: 25565 } }, stdin: true }],
          volumes: [{ name: "extra", emptyDir: {} }],
          affinity: { podAntiAffinity: {} },
          hostNetwork: true,
        },
      },
    },
    status: {
      currentVersion: "1.21.4",
      currentBuild: 232,
      plugins: [
        {
          pluginRef: { name: "a", namespace: "default" },
          resolvedVersion: "2.21.0",
          compatible: true,
          source: "hangar",
        },
      ],
      availableUpdate: {
        version: "1.21.5",
        build: 1,
        releasedAt: "2025-01-15T10:05:23Z",
        plugins: [],
        foundAt: "2025-01-15T10:05:23Z",
      },
      lastUpdate: { appliedAt: "2025-01-15T10:05:23Z", previousVersion: "1.21.3", successful: true },
      updateBlocked: { blocked: true, reason: "r", blockedBy: { plugin: "a", version: "2" } },
      backup: {
        backupCount: 1,
        lastBackup: { startedAt: "2025-01-15T10:05:23Z", successful: true, trigger: "before-update" },
      },
      conditions: [{ type: "Ready", status: "True", reason: "ReconcileSuccess", message: "" }],
    },
  },
  {
    name: "a plugin from a URL",
    kind: Plugin,
    spec: { source: { type: "url", url: "https://example.com/a.jar" }, instanceSelector: { matchLabels: { a: "b" } } },
    status: {
      repositoryStatus: "orphaned",
      availableVersions: [
        {
          version: "1.0",
          minecraftVersions: ["1.21.x"],
          downloadURL: "https://example.com/a.jar",
          hash: "",
          cachedAt: "2025-01-15T10:05:23Z",
          releasedAt: "2025-01-15T10:05:23Z",
        },
      ],
      matchedInstances: [{ name: "survival", namespace: "default", version: "1.21.4", compatible: false }],
      deletionProgress: [{ serverName: "survival", namespace: "default", jarDeleted: false }],
    },
  },
  {
    name: "a plugin from Modrinth",
    kind: Plugin,
    spec: { ...plugin, source: { type: "modrinth", project: "bluemap" } },
  },
  ...everyAction,
  {
    name: "an execution that names its target as the specification's code does",
    kind: KubernetesExecution,
    spec: {
      action: "rollout_restart",
      targetNamespace: "shop",
      resourceName: "web",
      remediationRequestRef: { name: "slow", namespace: "shop" },
    },
  },
  {
    name: "an execution with the specification's example of a validated status",
    kind: KubernetesExecution,
    spec: scale,
    status: {
      phase: "validated",
      validationResults: {
        parameterValidation: true,
        rbacValidation: true,
        resourceExists: true,
        policyValidation: { policyName: "safety-policy-v1", allowed: true, requiredApproval: true },
        dryRunResults: {
          performed: true,
          success: true,
          estimatedImpact: { resourcesAffected: 3, replicasChanged: "3 -> 5" },
          warnings: [],
        },
      },
      validationTime: "2025-01-15T10:05:23Z",
    },
  },
  {
    name: "an execution with the specification's examples of results and rollback",
    kind: KubernetesExecution,
    spec: scale,
    status: {
      phase: "rollback_ready",
      executionResults: {
        success: true,
        jobName: "exec-scale-deployment-abc123",
        startTime: "2025-01-15T10:10:00Z",
        endTime: "2025-01-15T10:10:15Z",
        duration: "15s",
        resourcesAffected: [
          {
            kind: "Deployment",
            namespace: "production",
            name: "webapp",
            action: "scaled",
            before: "replicas: 3",
            after: "replicas: 5",
          },
        ],
        podLogs: "deployment.apps/webapp scaled\n",
        retriesAttempted: 0,
      },
      rollbackInformation: {
        available: true,
        rollbackAction: "scale_deployment",
        rollbackParameters: { deployment: "webapp", namespace: "production", replicas: 3 },
        estimatedRollbackDuration: "10s",
      },
    },
  },
  {
    name: "an execution with the published schema's rollback and an approval",
    kind: KubernetesExecution,
    spec: { ...scale, approvalReceived: true, workflowExecutionRef: { name: "w" }, stepNumber: 1 },
    status: {
      phase: "failed",
      reason: "execution_failed",
      approval: { by: "jane", at: "2025-01-15T10:10:00Z", specHash: "abc" },
      rollbackInformation: {
        available: true,
        rollbackAction: "scale_deployment",
        rollbackParameters: { scaleToPrevious: { deployment: "web", namespace: "shop", previousReplicas: 3 } },
        estimatedDuration: "10s",
      },
    },
  },
  {
    name: "a remediation with upstream's required fields and unknown ones",
    kind: RemediationRequest,
    spec: {
      signalFingerprint: "a".repeat(64),
      signalName: "HighLatency",
      severity: "critical",
      environment: "production",
      priority: "P0",
      signalType: "prometheus",
      targetType: "kubernetes",
      firingTime: "2025-01-15T10:10:00Z",
      receivedTime: "2025-01-15T10:10:00Z",
      deduplication: {
        isDuplicate: false,
        firstSeen: "2025-01-15T10:10:00Z",
        lastSeen: "2025-01-15T10:10:00Z",
        occurrenceCount: 1,
      },
      isStorm: true,
      stormType: "rate",
    },
    status: { overallPhase: "executing", startTime: "2025-01-15T10:10:00Z" },
  },
  { name: "a remediation with only its steps", kind: RemediationRequest, spec: { steps: [step] } },
  {
    name: "a workflow with upstream's older parameter names",
    kind: WorkflowExecution,
    spec: {
      ...workflow([
        {
          stepNumber: 1,
          name: "cordon",
          action: "cordon_node",
          targetCluster: "",
          criticalStep: false,
          parameters: { cordonNode: { nodeName: "node-1" }, custom: { a: 1 } },
        },
      ]),
      executionStrategy: { approvalRequired: true, dryRunFirst: false, rollbackStrategy: "none" },
      adaptiveOrchestration: { optimizationEnabled: true },
    },
    status: {
      phase: "executing",
      currentStep: 1,
      totalSteps: 1,
      stepStatuses: [{ stepNumber: 1, action: "cordon_node", status: "executing", k8sExecutionRef: { name: "x" } }],
      executionPlan: { strategy: "sequential-with-parallel", phases: [] },
    },
  },
  {
    name: "a service of every field",
    kind: ServiceTarget,
    spec: { ...target, id: "a", serviceSubType: "camel", languageName: "yaml", languageType: "interpreted" },
    status: { health: "UNHEALTHY", reason: "missing in action", lastSeen: "2025-01-15T10:10:00Z", active: false },
  },
];

const refuse = (kind: Kind, name: string, spec: Values, field: string, says: string, before?: Values): RefusedCase => ({
  kind,
  name,
  spec,
  field,
  says,
  ...(before && { before }),
});

export const refusedCases: readonly RefusedCase[] = [
  refuse(
    ModuleManifest,
    "nothing is said about requirements",
    { ...module, requires: undefined },
    "spec.requires",
    "Required",
  ),
  refuse(
    ModuleManifest,
    "a capability is one word",
    { ...module, provides: [{ ...provides, capabilityId: "time" }] },
    "spec.provides[0].capabilityId",
    "should match",
  ),
  refuse(
    ModuleManifest,
    "a version has two parts",
    { ...module, module: { id: "a", version: "1.0" } },
    "spec.module.version",
    "should match",
  ),
  refuse(
    ModuleManifest,
    "a scope is unknown",
    { ...module, provides: [{ ...provides, scope: "galaxy" }] },
    "spec.provides[0].scope",
    "Unsupported value",
  ),
  refuse(
    ModuleManifest,
    "a multiplicity is a number",
    { ...module, provides: [{ ...provides, multiplicity: 1 }] },
    "spec.provides[0].multiplicity",
    "must be of type string",
  ),
  refuse(
    ModuleManifest,
    "a constraint is empty",
    { ...module, requires: [{ ...requires, versionConstraint: "" }] },
    "spec.requires[0].versionConstraint",
    "at least 1",
  ),
  refuse(GameDefinition, "a game of another project", { catalog: {}, matchModes: [] }, "spec.gameId", "Required"),
  refuse(GameDefinition, "a game has no module", { ...game, modules: [] }, "spec.modules", "at least 1"),
  refuse(
    WorldInstance,
    "a world has no shard",
    { ...world, shardCount: 0 },
    "spec.shardCount",
    "greater than or equal to 1",
  ),
  refuse(
    WorldInstance,
    "a world shall pause",
    { ...world, desiredState: "Paused" },
    "spec.desiredState",
    "Unsupported value",
  ),
  refuse(
    CapabilityBinding,
    "a port is too high",
    { ...binding, provider: { moduleManifestName: "a", endpoint: { port: 70000 } } },
    "spec.provider.endpoint.port",
    "less than or equal to 65535",
  ),
  refuse(
    CapabilityDefinition,
    "a capability has no scope",
    { capabilityId: "a.b", latestVersion: "1.0.0", scopes: [], multiplicity: "1" },
    "spec.scopes",
    "at least 1",
  ),
  refuse(
    ClassRuntime,
    "a function has no key",
    { functions: [{ function_key: "" }] },
    "spec.functions[0].function_key",
    "at least 1",
  ),
  refuse(
    ClassRuntime,
    "an availability is above one",
    { functions: [{ function_key: "a", qos_requirement: { availability: 1.5 } }] },
    "spec.functions[0].qos_requirement.availability",
    "less than or equal to 1",
  ),
  refuse(
    ClassRuntime,
    "a function is there twice",
    { functions: [{ function_key: "a" }, { function_key: "a" }] },
    "spec.functions[1]",
    "Duplicate value",
  ),
  refuse(
    PaperMCServer,
    "a pin has no version",
    { ...server, updateStrategy: "pin" },
    "spec.version",
    "version is required",
  ),
  refuse(
    PaperMCServer,
    "a build-pin has no build",
    { ...server, updateStrategy: "build-pin", version: "1.21.4" },
    "spec.build",
    "build is required",
  ),
  refuse(
    PaperMCServer,
    "RCON has no password",
    { ...server, rcon: { enabled: true, passwordSecret: { name: "", key: "k" } } },
    "spec.rcon.passwordSecret",
    "are required when rcon is enabled",
  ),
  refuse(
    PaperMCServer,
    "a gateway has no parent",
    { ...server, gateway: { enabled: true, parentRefs: [] } },
    "spec.gateway.parentRefs",
    "at least one parentRef",
  ),
  refuse(PaperMCServer, "a delay is in days", { ...server, updateDelay: "7d" }, "spec.updateDelay", "should match"),
  refuse(PaperMCServer, "there is no pod", { ...server, podTemplate: undefined }, "spec.podTemplate", "Required"),
  refuse(
    PaperMCServer,
    "no backup is kept",
    { ...server, backup: { enabled: true, retention: { maxCount: 0 } } },
    "spec.backup.retention.maxCount",
    "greater than or equal to 1",
  ),
  refuse(
    PaperMCServer,
    "a container has no name",
    { ...server, podTemplate: { spec: { containers: [{ image: "x" }] } } },
    "spec.podTemplate.spec.containers[0].name",
    "Required",
  ),
  refuse(
    Plugin,
    "a project is missing",
    { ...plugin, source: { type: "hangar" } },
    "spec.source.project",
    "project is required",
  ),
  refuse(Plugin, "a URL is missing", { ...plugin, source: { type: "url" } }, "spec.source.url", "url is required"),
  refuse(
    Plugin,
    "a URL is not secure",
    { ...plugin, source: { type: "url", url: "http://example.com/a.jar" } },
    "spec.source.url",
    "must begin with https://",
  ),
  refuse(
    Plugin,
    "a URL has no host",
    { ...plugin, source: { type: "url", url: "https:///a.jar" } },
    "spec.source.url",
    "name a host",
  ),
  refuse(
    Plugin,
    "a checksum is short",
    { ...plugin, source: { type: "hangar", project: "a", checksum: "abc" } },
    "spec.source.checksum",
    "should match",
  ),
  refuse(
    Plugin,
    "a strategy is of an older API",
    { ...plugin, updateStrategy: "pinned" },
    "spec.updateStrategy",
    "Unsupported value",
  ),
  refuse(Plugin, "a pin has no version", { ...plugin, updateStrategy: "pin" }, "spec.version", "version is required"),
  refuse(KubernetesExecution, "an action is unknown", { action: "format_disk" }, "spec.action", "Unsupported value"),
  refuse(KubernetesExecution, "there is no action", {}, "spec.action", "Required"),
  refuse(
    KubernetesExecution,
    "there are too many replicas",
    {
      action: "scale_deployment",
      parameters: { scaleDeployment: { deployment: "a", namespace: "b", replicas: 2000 } },
    },
    "spec.parameters.scaleDeployment.replicas",
    "less than or equal to 1000",
  ),
  refuse(
    KubernetesExecution,
    "the parameters are those of another action",
    { ...scale, action: "delete_pod" },
    "spec.parameters.scaleDeployment",
    "belongs to the action scale_deployment",
  ),
  refuse(
    KubernetesExecution,
    "an autoscaler's limits are crossed",
    { action: "update_hpa", parameters: { updateHpa: { hpa: "a", namespace: "b", minReplicas: 5, maxReplicas: 2 } } },
    "spec.parameters.updateHpa.minReplicas",
    "may not be above",
  ),
  refuse(
    KubernetesExecution,
    "no resource grows",
    { action: "increase_resources", parameters: { increaseResources: { deployment: "a", namespace: "b" } } },
    "spec.parameters.increaseResources",
    "at least one amount",
  ),
  refuse(
    KubernetesExecution,
    "a timeout is a sentence",
    { ...scale, timeout: "5 minutes" },
    "spec.timeout",
    "should match",
  ),
  refuse(
    KubernetesExecution,
    "there are too many retries",
    { ...scale, maxRetries: 6 },
    "spec.maxRetries",
    "less than or equal to 5",
  ),
  refuse(
    KubernetesExecution,
    "the action changes",
    { action: "rollout_restart" },
    "spec.action",
    "action cannot be changed",
    { action: "restart_pod" },
  ),
  refuse(
    KubernetesExecution,
    "the parameters change",
    { ...scale, parameters: { scaleDeployment: { deployment: "web", namespace: "shop", replicas: 0 } } },
    "spec.parameters",
    "parameters cannot be changed",
    scale,
  ),
  refuse(
    KubernetesExecution,
    "the parameters vanish",
    { action: "scale_deployment" },
    "spec.parameters",
    "parameters cannot be changed",
    scale,
  ),
  refuse(
    KubernetesExecution,
    "rules of a network policy change",
    {
      action: "update_network_policy",
      parameters: { updateNetworkPolicy: { networkpolicy: "a", namespace: "b", rules: { egress: [{}] } } },
    },
    "spec.parameters",
    "parameters cannot be changed",
    {
      action: "update_network_policy",
      parameters: { updateNetworkPolicy: { networkpolicy: "a", namespace: "b", rules: { egress: [] } } },
    },
  ),
  refuse(
    KubernetesExecution,
    "a condition is added later",
    { ...scale, postConditions: [{ type: "a", rego: "package postcondition" }] },
    "spec.postConditions",
    "postConditions cannot be changed",
    scale,
  ),
  refuse(KubernetesExecution, "a cancellation is taken back", scale, "spec.cancel", "stays cancelled", {
    ...scale,
    cancel: true,
  }),
  refuse(
    RemediationRequest,
    "a fingerprint is short",
    { signalFingerprint: "abc" },
    "spec.signalFingerprint",
    "should match",
  ),
  refuse(RemediationRequest, "a priority is unknown", { priority: "P4" }, "spec.priority", "should match"),
  refuse(RemediationRequest, "two steps have one number", { steps: [step, step] }, "spec.steps[1]", "Duplicate value"),
  refuse(
    RemediationRequest,
    "a step has no action",
    { steps: [{ stepNumber: 1 }] },
    "spec.steps[0].action",
    "Required",
  ),
  refuse(
    RemediationRequest,
    "the steps change",
    { steps: [{ ...step, parameters: { a: { b: 2 } } }] },
    "spec.steps",
    "steps cannot be changed",
    { steps: [{ ...step, parameters: { a: { b: 1 } } }] },
  ),
  refuse(
    WorkflowExecution,
    "there is no remediation",
    { workflowDefinition: { name: "a", steps: [] } },
    "spec.remediationRequestRef",
    "Required",
  ),
  refuse(
    WorkflowExecution,
    "the steps change",
    workflow([{ ...step, timeout: "1m" }]),
    "spec.workflowDefinition.steps",
    "steps cannot be changed",
    workflow([step]),
  ),
  refuse(ServiceTarget, "there is no host", { serviceName: "a", port: 1 }, "spec.host", "Required"),
  refuse(ServiceTarget, "a port is too high", { ...target, port: 70000 }, "spec.port", "less than or equal to 65535"),
];

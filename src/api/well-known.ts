/** Labels, annotations and finalizers that more than one part, or a user, must spell the same way. */

export const labels = {
  /** On everything that we create. */
  controller: "capstan.dev/controller",
  managedBy: "app.kubernetes.io/managed-by",

  bindingManagedBy: "game.platform/managed-by",
  world: "game.platform/world",
  game: "game.platform/game",
  capabilityId: "game.platform/capabilityId",
  /** On a Service: the ModuleManifest that it stands for. */
  module: "game.platform/module",

  classOwner: "oaas.io/owner",
  classKey: "oaas.io/class",
  deploymentId: "oaas.io/deployment-id",
  /**
   * On a class's children: a hash of what was applied, by which is seen that something is not wanted any more. Not an
   * annotation, because those count as a new generation of a Deployment.
   */
  applied: "capstan.dev/applied",

  minecraftServer: "mc.k8s.lex.la/server-name",
  backupTrigger: "mc.k8s.lex.la/backup-trigger",

  action: "kubernaut.io/action",
  executionId: "kubernaut.io/execution-id",
  jobOwner: "owner",
} as const;

export const annotations = {
  /** On a ModuleManifest: the service name under which its provider registers. */
  service: "capstan.dev/service",
  /** On a ModuleManifest: `configmap` asks for its endpoints as a ConfigMap. */
  endpoints: "capstan.dev/endpoints",
  /** On a WorldInstance: `"true"` keeps its bindings when a newer provider appears. */
  freezeBindings: "capstan.dev/freeze-bindings",
  /** On a ClassRuntime: the ConfigMap with the remediation to ask for when it is degraded. */
  remediation: "capstan.dev/remediation",
  /** On an execution, remediation or workflow: who asked for it; written by admission only. */
  requestedBy: "capstan.dev/requested-by",
  /** The groups of that person, with commas between them: what they may do elsewhere is asked by these, too. */
  requestedByGroups: "capstan.dev/requested-by-groups",
  /** On an execution whose step stands in a workflow: who wrote the workflow; whoever planned it cannot approve it either. */
  plannedBy: "capstan.dev/planned-by",
  plannedByGroups: "capstan.dev/planned-by-groups",
  /** On an execution: `completed` or `rolled-back`, set by its parent. */
  finalize: "kubernaut.io/finalize",
  /** On a PaperMCServer: unix seconds; a recent value applies the update, or makes a snapshot, at once. */
  applyNow: "mc.k8s.lex.la/apply-now",
  backupNow: "mc.k8s.lex.la/backup-now",
  /** On a namespace of the demo: it was laid out once, and is the person's now. */
  demo: "capstan.dev/demo",
  correlationId: "oaas.io/correlation-id",
} as const;

export const finalizers = {
  classRuntime: "oaas.io/finalizer",
  plugin: "mc.k8s.lex.la/plugin-cleanup",
  execution: "kubernetesexecution.kubernaut.io/kubernetesexecution-cleanup",
} as const;

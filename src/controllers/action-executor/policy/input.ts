import type { Action } from "../../../api/action.ts";
import type { KubeObject } from "../../../kube/object.ts";
import type { ActionDefinition, Target, TargetState } from "../actions/definition.ts";
import { parseManifest } from "../actions/manifest-text.ts";
import { parsePatch } from "../actions/patch-text.ts";

/** Everything that a policy may want to know, and exactly what will run. */
export interface PolicyFacts {
  readonly action: Action;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly target: Target;
  readonly state: TargetState;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly execution: KubeObject;
  /** Who asked for it, and who planned it. */
  readonly askers: readonly { readonly user: string; readonly groups: readonly string[] }[];
  readonly serviceAccount: string;
  readonly permissions: ActionDefinition["permissions"];
  readonly protectedNamespaces: readonly string[];
  readonly clusterName: string;
  readonly totalNodes: number;
  readonly availableNodes: number;
  readonly concurrentActions: number;
  /** Executions on the same target within the window. */
  readonly recentActions: number;
}

export const rateWindowSeconds = 3_600;
const rateMaxCount = 10;

export function policyInput(facts: PolicyFacts): Readonly<Record<string, unknown>> {
  const { action, parameters, target, state, execution } = facts;
  const [asker, planner] = facts.askers;
  const { object } = state;
  const { manifest, patch, patchType } = parameters;
  const read = typeof manifest === "string" ? parseManifest(manifest) : undefined;
  const readPatch =
    typeof patch === "string" ? parsePatch(patchType as "merge" | "json" | "strategic", patch) : undefined;
  return {
    action,
    action_name: camelCase(action),
    // The target's namespace, not the execution's: the latter says nothing about what is changed.
    namespace: target.namespace ?? "",
    namespace_labels: facts.namespaceLabels,
    parameters,
    labels: object?.metadata.labels ?? {},
    target_resource: {
      kind: target.kind.kind,
      name: target.name,
      ...(target.namespace !== undefined && { namespace: target.namespace }),
      labels: object?.metadata.labels ?? {},
      annotations: object?.metadata.annotations ?? {},
    },
    ...(object !== undefined && { target: object }),
    /** What else the action would change. */
    affected: state.related,
    ...(read?.ok && { manifest: read.value.object }),
    ...(readPatch?.ok && { patch: readPatch.value }),
    service_account: facts.serviceAccount,
    dry_run: false,
    identity: { user: asker?.user ?? "", groups: asker?.groups ?? [], ...(planner && { planned_by: planner }) },
    execution: { name: execution.metadata.name, namespace: execution.metadata.namespace, uid: execution.metadata.uid },
    protected_namespaces: facts.protectedNamespaces,
    cluster_info: { name: facts.clusterName, total_nodes: facts.totalNodes, available_nodes: facts.availableNodes },
    cluster_state: { concurrent_actions: facts.concurrentActions, other_clusters_draining: 0 },
    concurrent_actions: facts.concurrentActions,
    rate_limit_state: { count: facts.recentActions, max_count: rateMaxCount, window_seconds: rateWindowSeconds },
    rbac_permissions: facts.permissions.flatMap(({ resource, verbs }) => verbs.map((verb) => ({ verb, resource }))),
  };
}

const camelCase = (action: string): string =>
  action
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

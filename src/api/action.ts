/** The changes that an execution may make to a cluster. */
import type { ValidationRule } from "../kube/schema/schema.ts";
import type { ActionParameters } from "./action-parameters.ts";

export type ActionMember = keyof ActionParameters;

/** Every action, and the member of `parameters` that belongs to it. */
export const actionMembers = {
  scale_deployment: "scaleDeployment",
  rollout_restart: "rolloutRestart",
  delete_pod: "deletePod",
  patch_deployment: "patchDeployment",
  cordon_node: "cordonNode",
  drain_node: "drainNode",
  uncordon_node: "uncordonNode",
  update_configmap: "updateConfigMap",
  update_secret: "updateSecret",
  apply_manifest: "applyManifest",
  scale_statefulset: "scaleStatefulSet",
  rollback_deployment: "rollbackDeployment",
  restart_daemonset: "restartDaemonSet",
  restart_pod: "restartPod",
  update_hpa: "updateHpa",
  taint_node: "taintNode",
  untaint_node: "untaintNode",
  quarantine_pod: "quarantinePod",
  expand_pvc: "expandPvc",
  increase_resources: "increaseResources",
  update_network_policy: "updateNetworkPolicy",
} as const satisfies Readonly<Record<string, ActionMember>>;

export type Action = keyof typeof actionMembers;
export const actions = Object.keys(actionMembers) as readonly Action[];

/** The parameters of one action, as they stand in the member of its name. */
export type ParametersOf<A extends Action> = NonNullable<ActionParameters[(typeof actionMembers)[A]]>;

/** An execution must not carry the parameters of another action, or a reader could be misled about what will run. */
export const parametersBelongToAction: readonly ValidationRule[] = Object.entries(actionMembers).map(
  ([action, member]) => ({
    rule: `!has(self.parameters) || !has(self.parameters.${member}) || self.action == '${action}'`,
    message: `${member} belongs to the action ${action}`,
    fieldPath: `.parameters.${member}`,
    reason: "FieldValueForbidden",
  }),
);

import type { Action } from "../../../api/action.ts";
import { applyManifest } from "./apply-manifest.ts";
import { cordonNode } from "./cordon-node.ts";
import type { ActionDefinition } from "./definition.ts";
import { deletePod } from "./delete-pod.ts";
import { drainNode } from "./drain-node.ts";
import { expandPvc } from "./expand-pvc.ts";
import { increaseResources } from "./increase-resources.ts";
import { patchDeployment } from "./patch-deployment.ts";
import { quarantinePod } from "./quarantine-pod.ts";
import { restartDaemonSet } from "./restart-daemonset.ts";
import { restartPod } from "./restart-pod.ts";
import { rollbackDeployment } from "./rollback-deployment.ts";
import { rolloutRestart } from "./rollout-restart.ts";
import { scaleDeployment } from "./scale-deployment.ts";
import { scaleStatefulSet } from "./scale-statefulset.ts";
import { taintNode } from "./taint-node.ts";
import { uncordonNode } from "./uncordon-node.ts";
import { untaintNode } from "./untaint-node.ts";
import { updateConfigMap } from "./update-configmap.ts";
import { updateHpa } from "./update-hpa.ts";
import { updateNetworkPolicy } from "./update-network-policy.ts";
import { updateSecret } from "./update-secret.ts";

/** Every action by its name; a name without a definition does not compile. */
const definitions = {
  scale_deployment: scaleDeployment,
  rollout_restart: rolloutRestart,
  delete_pod: deletePod,
  patch_deployment: patchDeployment,
  cordon_node: cordonNode,
  drain_node: drainNode,
  uncordon_node: uncordonNode,
  update_configmap: updateConfigMap,
  update_secret: updateSecret,
  apply_manifest: applyManifest,
  scale_statefulset: scaleStatefulSet,
  rollback_deployment: rollbackDeployment,
  restart_daemonset: restartDaemonSet,
  restart_pod: restartPod,
  update_hpa: updateHpa,
  taint_node: taintNode,
  untaint_node: untaintNode,
  quarantine_pod: quarantinePod,
  expand_pvc: expandPvc,
  increase_resources: increaseResources,
  update_network_policy: updateNetworkPolicy,
} as const satisfies { readonly [A in Action]: { readonly action: A } };

/**
 * A definition whose parameters and target are not known to the type checker any more. Parameters reach it only through
 * parameters.ts, which has held them against the schema of the same action, and objects only of its own target's kind.
 */
export interface AnyAction
  extends Omit<ActionDefinition, "problems" | "target" | "related" | "objection" | "plan" | "rollback"> {
  problems?(parameters: unknown): readonly string[];
  target(parameters: unknown): ReturnType<ActionDefinition["target"]>;
  related?(parameters: unknown, object: unknown): ReturnType<NonNullable<ActionDefinition["related"]>>;
  objection?(state: unknown, parameters: unknown): string | undefined;
  plan(
    state: unknown,
    parameters: unknown,
    order: { readonly startedAt: string },
  ): ReturnType<ActionDefinition["plan"]>;
  rollback(state: unknown, parameters: unknown): ReturnType<ActionDefinition["rollback"]>;
}

export const actionDefinition = (action: Action): AnyAction => definitions[action] as unknown as AnyAction;

/** `scale_deployment` is `scale-deployment` where underscores are not allowed. */
export const kebab = (action: string): string => action.replaceAll("_", "-");

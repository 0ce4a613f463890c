import { type Action, actionMembers } from "../../api/action.ts";
import { checkAgainstSchema } from "../../api/parameter-schema.ts";
import { type Parsed, parsed, refused } from "../../kube/parsed.ts";

export interface StepAction {
  readonly action: Action;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * What a step means in the words of an execution. Workflows use older names for some actions and parameters; what has no
 * counterpart is refused rather than guessed.
 */
export function translateStep(action: string, parameters: Readonly<Record<string, unknown>> = {}): Parsed<StepAction> {
  const known = actionOf(action);
  if (known === undefined) return refused(`the action ${JSON.stringify(action)} has no counterpart`);
  const member = actionMembers[known];
  const given = parameters[member] ?? parameters[oldMembers[known] ?? member];
  const names = Object.keys(parameters).filter((name) => name !== member && name !== oldMembers[known]);
  if (names.length > 0) return refused(`parameters.${names[0]} does not belong to the action ${action}`);
  if (given === undefined) return refused(`parameters.${member} is required`);
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return refused(`parameters.${member} must be an object`);
  const renamed = oldFields[known] ?? {};
  const translated: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const field = renamed[name] ?? name;
    if (field in translated) return refused(`parameters.${member}: ${name} and ${field} say the same thing twice`);
    translated[field] = value;
  }
  // The server would refuse the execution, or drop what it does not know: better nothing runs at all.
  const { problems } = checkAgainstSchema(known, translated, `parameters.${member}`);
  return problems.length > 0
    ? refused(problems.join("; "))
    : parsed({ action: known, parameters: { [member]: translated } });
}

function actionOf(action: string): Action | undefined {
  if (Object.hasOwn(actionMembers, action)) return action as Action;
  const snake = action
    .replaceAll("-", "_")
    .replace(/(?<=[a-z0-9])([A-Z])/g, "_$1")
    .toLowerCase();
  if (Object.hasOwn(actionMembers, snake)) return snake as Action;
  return Object.hasOwn(oldActions, snake) ? oldActions[snake as keyof typeof oldActions] : undefined;
}

const oldActions = {
  restart_deployment: "rollout_restart",
  patch_configmap: "update_configmap",
  patch_secret: "update_secret",
  update_config_map: "update_configmap",
  scale_stateful_set: "scale_statefulset",
  restart_daemon_set: "restart_daemonset",
} as const satisfies Readonly<Record<string, Action>>;

const oldMembers: Partial<Readonly<Record<Action, string>>> = { rollout_restart: "restartDeployment" };

const oldFields: Partial<Readonly<Record<Action, Readonly<Record<string, string>>>>> = {
  scale_deployment: { name: "deployment", deploymentName: "deployment" },
  rollout_restart: { name: "deployment", deploymentName: "deployment" },
  restart_pod: { podName: "pod", name: "pod" },
  delete_pod: { podName: "pod", name: "pod" },
  update_configmap: { name: "configMap", dataUpdates: "data" },
  update_secret: { name: "secret", dataUpdates: "data" },
  cordon_node: { nodeName: "node" },
  uncordon_node: { nodeName: "node" },
  drain_node: { nodeName: "node", gracePeriod: "gracePeriodSeconds" },
};

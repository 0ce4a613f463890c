import type { Action } from "../../api/action.ts";
import { nameHash, safeLabelName } from "../../kube/names.ts";
import { kebab } from "./actions/catalogue.ts";

/** The namespaces and names that the executor, its Jobs and their installers must spell the same way. */
export const controllerName = "action-executor";
export const systemNamespace = "kubernaut-system";
/** Only the executor may create Jobs here. */
export const jobNamespace = "kubernaut-executor";
export const policyConfigMap = "safety-policies";
/** Key `frozen: "true"` of this ConfigMap in the system namespace stops everything that has not started. */
export const switchConfigMap = "action-executor";

export const serviceAccountOf = (action: Action): string => `kubernaut-action-${kebab(action)}`;

/** Always valid and unique, at any length of the execution's name: the uid is in the hash (H6). */
export function jobNameOf(
  execution: { readonly name: string; readonly uid: string },
  action: Action,
  dryRun: boolean,
): string {
  const suffix = `${nameHash(execution.uid)}${dryRun ? "-dryrun" : ""}`;
  const readable = safeLabelName(
    `exec-${kebab(action)}-${execution.name}`.replaceAll(".", "-"),
    63 - suffix.length - 1,
  );
  return `${readable}-${suffix}`;
}

/** On Jobs and Secrets: to which execution they belong, since owner references cannot cross namespaces (H5). */
export const executionAnnotations = {
  namespace: "kubernaut.io/execution-namespace",
  name: "kubernaut.io/execution-name",
  uid: "kubernaut.io/execution-uid",
  specHash: "kubernaut.io/spec-hash",
} as const;

/** On an execution, "true": set by a parent whose strategy wants it, whatever the policies say. */
export const demandAnnotations = {
  approval: "kubernaut.io/approval-required",
  dryRun: "kubernaut.io/dry-run-first",
} as const;

/** Keeps a finished Job until its result was read, however long we were away (H1). */
export const jobFinalizer = "kubernetesexecution.kubernaut.io/result-pending";

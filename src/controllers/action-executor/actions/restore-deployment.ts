import type { Deployment } from "../../../api/builtin/workloads.ts";
import { cannotBeUndone, type Rollback, type TargetState } from "./definition.ts";
import { rollbackTimes } from "./scale.ts";

/** Puts the whole spec back as it was; what controllers write stands in the status and is not touched. */
export function restoreDeployment(
  { object }: TargetState<Deployment>,
  { deployment, namespace }: { readonly deployment: string; readonly namespace: string },
): Rollback {
  if (object === undefined) return cannotBeUndone("The Deployment before is not known.");
  const previousSpec = object.spec as Readonly<Record<string, unknown>>;
  const patch = JSON.stringify([{ op: "replace", path: "/spec", value: previousSpec }]);
  return {
    available: true,
    rollbackAction: "patch_deployment",
    rollbackParameters: {
      restorePreviousConfig: { resourceKind: "Deployment", name: deployment, namespace, previousSpec },
      deployment,
      namespace,
      patchType: "json",
      patch,
    },
    ...rollbackTimes("1m"),
  };
}

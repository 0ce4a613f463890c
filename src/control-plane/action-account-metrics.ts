import { actions } from "../api/action.ts";
import { ServiceAccount } from "../api/builtin/configuration.ts";
import { ClusterRole, ClusterRoleBinding } from "../api/builtin/rbac.ts";
import { serviceAccountOf } from "../controllers/action-executor/names.ts";
import type { Env } from "../env/env.ts";
import type { KubeObject } from "../kube/object.ts";
import { exponentialBuckets, type MetricsRegistry } from "../runtime/metrics.ts";

/**
 * How long it takes to make the account of each action, under the names that upstream's dashboards use. We make them when
 * we start on our own API; on a cluster whoever installs us does, and there is nothing to measure.
 */
export function measuredAccounts(
  env: Env,
  metrics: MetricsRegistry,
): (object: KubeObject, write: () => Promise<void>) => Promise<void> {
  const measured = (name: string, help: string) =>
    metrics.histogram({ name, help, labels: ["action"] as const, buckets: exponentialBuckets(0.01, 2, 10) });
  const accounts = measured(
    "kubernetesexecution_serviceaccount_creation_duration_seconds",
    "How long it took to make the ServiceAccount of an action, where Capstan makes it",
  );
  const roles = measured(
    "kubernetesexecution_rbac_creation_duration_seconds",
    "How long it took to make the role of an action, and to bind it, where Capstan makes it",
  );
  const byKind = new Map([
    [ServiceAccount.kind, accounts],
    [ClusterRole.kind, roles],
    [ClusterRoleBinding.kind, roles],
  ]);
  const actionOf = new Map(actions.map((action) => [serviceAccountOf(action), action]));
  return async ({ kind, metadata }, write) => {
    const startedMs = env.monotonicMs();
    await write();
    const action = actionOf.get(metadata.name);
    if (action !== undefined) byKind.get(kind)?.observe((env.monotonicMs() - startedMs) / 1000, { action });
  };
}

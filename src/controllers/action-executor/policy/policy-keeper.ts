import type { ConfigMap } from "../../../api/builtin/configuration.ts";
import type { Env } from "../../../env/env.ts";
import { RegoErrors } from "../../../rego/syntax/errors.ts";
import type { MetricsRegistry } from "../../../runtime/metrics.ts";
import { compilePolicies, type PolicySet } from "./policy-set.ts";

/** The policies in force: the newest set that compiles. */
export interface Policies {
  /** Absent while there has never been a good one: nothing is allowed then. */
  readonly set?: PolicySet;
  /** Why the set in force is not what the ConfigMap says. */
  readonly problem?: string;
}

export type PolicyKeeper = (source: ConfigMap | undefined) => Policies;

/** Compiles the ConfigMap whenever it has changed; a set that does not compile leaves the last good one in force. */
export function createPolicyKeeper(env: Env, metrics: MetricsRegistry): PolicyKeeper {
  const reloads = metrics.counter({
    name: "kubernetes_executor_policy_reloads_total",
    help: "Safety policies that were read anew",
  });
  const failures = metrics.counter({
    name: "kubernetes_executor_policy_reload_failures_total",
    help: "Safety policies that could not be read",
  });
  let seen: string | undefined;
  let current: Policies = {};
  return (source) => {
    if (source === undefined)
      return current.set ? { ...current, problem: "the ConfigMap of the safety policies is gone" } : current;
    const version = `${source.metadata.uid}/${source.metadata.resourceVersion}`;
    if (version === seen) return current;
    seen = version;
    reloads.inc();
    try {
      current = { set: compilePolicies(source.data ?? {}, env) };
    } catch (error) {
      if (!(error instanceof RegoErrors)) throw error;
      failures.inc();
      current = { ...(current.set && { set: current.set }), problem: error.message };
    }
    return current;
  };
}

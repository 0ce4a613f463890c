import type { KnativeService } from "../../../api/builtin/knative.ts";
import type { Deployment } from "../../../api/builtin/workloads.ts";
import { findCondition } from "../../../kube/condition.ts";
import type { KubeObject } from "../../../kube/object.ts";
import type { ManagedKind, Readiness, ReadinessRule } from "./template.ts";

/** When an object of each kind counts as ready. */
export const readinessRules: Readonly<Record<ManagedKind, ReadinessRule>> = {
  Deployment: rule("Deployment", (object) => deploymentReadiness(object as Deployment)),
  OdgmDeployment: rule("OdgmDeployment", (object) => deploymentReadiness(object as Deployment)),
  KnativeService: rule("KnativeService", (object) => knativeReadiness(object as KnativeService)),
  Service: rule("Service", exists),
  OdgmService: rule("OdgmService", exists),
  // Autoscaling and scraping can lag behind without a function being any less reachable.
  Hpa: { ...rule("Hpa", exists), contributesToAvailable: false },
  ServiceMonitor: { ...rule("ServiceMonitor", exists), contributesToAvailable: false },
};

export const rulesFor = (kinds: readonly ManagedKind[]): readonly ReadinessRule[] =>
  kinds.map((kind) => readinessRules[kind]);

/**
 * As many pods of the current template as wanted, available. A status that speaks of an older spec proves nothing. The
 * sentence does not count pods: one that changes with every pod would be a write for every pod.
 */
export function deploymentReadiness({ metadata, spec, status }: Deployment): Readiness {
  const desired = spec.replicas ?? 1;
  const { observedGeneration = 0, availableReplicas = 0, updatedReplicas = 0 } = status ?? {};
  const isCurrent = observedGeneration >= (metadata.generation ?? 0) && updatedReplicas >= desired;
  if (isCurrent && availableReplicas >= desired) return { ready: true };
  return notReady(
    "Unavailable",
    desired === 1 ? "its replica is not available" : `not all of its ${desired} replicas are available`,
  );
}

export function knativeReadiness({ metadata, status }: KnativeService): Readiness {
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    return notReady("NotObserved", "the new spec was not picked up yet");
  }
  const ready = findCondition(status?.conditions, "Ready");
  const url = status?.url ?? status?.address?.url;
  if (ready?.status === "True") return { ready: true, ...(url !== undefined && { url }) };
  return {
    ...notReady(ready?.reason || "NotReady", ready?.message || "the Knative Service is not ready"),
    ...(url !== undefined && { url }),
  };
}

function exists(): Readiness {
  return { ready: true };
}

function rule(kind: ManagedKind, evaluate: (object: KubeObject) => Readiness): ReadinessRule {
  return { kind, evaluate, contributesToAvailable: true };
}

const notReady = (reason: string, message: string): Readiness => ({ ready: false, reason, message });

import type { CapabilityBinding } from "../../src/api/capability-binding.ts";
import type { ClassRuntime } from "../../src/api/class-runtime.ts";
import type { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import type { PaperMCServer } from "../../src/api/papermc-server.ts";
import type { Plugin } from "../../src/api/plugin.ts";
import type { RemediationRequest } from "../../src/api/remediation-request.ts";
import type { ServiceTarget } from "../../src/api/service-target.ts";
import type { WorldInstance } from "../../src/api/world-instance.ts";
import type { Condition } from "../../src/kube/condition.ts";
import type { KubeObject } from "../../src/kube/object.ts";

/** Everything that the overview looks at; a list that is not there yet is empty. */
export interface Fleet {
  readonly worlds: readonly WorldInstance[];
  readonly bindings: readonly CapabilityBinding[];
  readonly classRuntimes: readonly ClassRuntime[];
  readonly servers: readonly PaperMCServer[];
  readonly plugins: readonly Plugin[];
  readonly executions: readonly KubernetesExecution[];
  readonly remediations: readonly RemediationRequest[];
  readonly services: readonly ServiceTarget[];
}

/** One thing that a person should look at. */
export interface Concern {
  readonly tone: "bad" | "wait";
  readonly title: string;
  readonly name: string;
  readonly namespace: string;
  readonly message: string;
  /** The place in the dashboard that tells more. */
  readonly place: readonly string[];
  readonly since?: string;
}

/** What waits for a person comes first, then what is broken, the latest first. */
export function concernsOf(fleet: Fleet): readonly Concern[] {
  const found = [
    ...fleet.executions.flatMap(waitingExecution),
    ...fleet.worlds.flatMap(unresolvedWorld),
    ...fleet.bindings.flatMap(brokenBinding),
    ...fleet.classRuntimes.flatMap(degradedRuntime),
    ...fleet.servers.flatMap(blockedServer),
    ...fleet.plugins.flatMap(brokenPlugin),
    ...fleet.executions.flatMap(failedExecution),
    ...fleet.remediations.flatMap(failedRemediation),
    ...fleet.services.flatMap(missingService),
  ];
  const rank = ({ place, tone }: Concern): number =>
    place[0] === "actions" && tone === "wait" ? 0 : tone === "bad" ? 1 : 2;
  return found
    .map((concern, index) => ({ concern, index }))
    .sort((a, b) => rank(a.concern) - rank(b.concern) || later(a.concern, b.concern) || a.index - b.index)
    .map(({ concern }) => concern);
}

const later = (a: Concern, b: Concern): number => (b.since ?? "").localeCompare(a.since ?? "");

const concern = (
  { metadata }: KubeObject,
  section: string,
  rest: Pick<Concern, "tone" | "title" | "message"> & { readonly since?: string | undefined },
): readonly Concern[] => {
  const { name, namespace = "" } = metadata;
  const { since, ...said } = rest;
  return [{ ...said, name, namespace, place: [section, namespace, name], ...(since !== undefined && { since }) }];
};

const conditionOf = (object: { readonly status?: { readonly conditions?: readonly Condition[] } }, type: string) =>
  object.status?.conditions?.find((condition) => condition.type === type);

function waitingExecution(execution: KubernetesExecution): readonly Concern[] {
  const { phase, phaseStartTime } = execution.status ?? {};
  if (phase !== "waiting_approval" || execution.status?.approval) return [];
  const message = `${execution.spec.action} waits for somebody's word`;
  return concern(execution, "actions", { tone: "wait", title: "Waits for approval", message, since: phaseStartTime });
}

function unresolvedWorld(world: WorldInstance): readonly Concern[] {
  if (world.status?.phase !== "Error") return [];
  const resolved = conditionOf(world, "BindingsResolved");
  return concern(world, "worlds", {
    tone: "bad",
    title: resolved?.reason === "UnresolvedRequired" ? "Requirement unresolved" : "World has an error",
    message: world.status.message ?? resolved?.message ?? "",
    since: resolved?.lastTransitionTime,
  });
}

function brokenBinding(binding: CapabilityBinding): readonly Concern[] {
  if (binding.status?.phase !== "Error") return [];
  const bound = conditionOf(binding, "Bound");
  const message = bound?.message ?? "";
  return concern(binding, "bindings", {
    tone: "bad",
    title: "Binding has an error",
    message,
    since: bound?.lastTransitionTime,
  });
}

function degradedRuntime(runtime: ClassRuntime): readonly Concern[] {
  const { phase, message = "", phase_since: since } = runtime.status ?? {};
  if (phase !== "degraded") return [];
  return concern(runtime, "class-runtimes", { tone: "bad", title: "Class runtime degraded", message, since });
}

function blockedServer(server: PaperMCServer): readonly Concern[] {
  const blocked = server.status?.updateBlocked;
  const updating = conditionOf(server, "Updating");
  if (updating?.reason === "UpdateFailed" || updating?.reason === "UpdateRolledBack")
    return concern(server, "versions", {
      tone: "bad",
      title: updating.reason === "UpdateFailed" ? "Update failed" : "Update rolled back",
      message: updating.message ?? "",
      since: updating.lastTransitionTime,
    });
  if (!blocked?.blocked) return [];
  const since = conditionOf(server, "UpdateBlocked")?.lastTransitionTime;
  return concern(server, "versions", { tone: "wait", title: "Update blocked", message: blocked.reason ?? "", since });
}

function brokenPlugin(plugin: Plugin): readonly Concern[] {
  const compatible = conditionOf(plugin, "Compatible");
  const resolved = conditionOf(plugin, "VersionResolved");
  if (compatible?.status === "False" && compatible.reason !== "NoServersMatched")
    return concern(plugin, "plugins", {
      tone: "bad",
      title: "Plugin fits no server",
      message: compatible.message ?? "",
      since: compatible.lastTransitionTime,
    });
  if (resolved?.status !== "False" || resolved.reason === "NoServersMatched") return [];
  return concern(plugin, "plugins", {
    tone: "wait",
    title: "Plugin has no version",
    message: resolved.message ?? "",
    since: resolved.lastTransitionTime,
  });
}

function failedExecution(execution: KubernetesExecution): readonly Concern[] {
  const { phase, message = "", completionTime } = execution.status ?? {};
  if (phase !== "failed") return [];
  return concern(execution, "actions", { tone: "bad", title: "Action failed", message, since: completionTime });
}

function failedRemediation(request: RemediationRequest): readonly Concern[] {
  const { overallPhase, message = "", completedAt } = request.status ?? {};
  if (overallPhase !== "failed" && overallPhase !== "timed_out") return [];
  return concern(request, "remediations", { tone: "bad", title: "Remediation failed", message, since: completedAt });
}

function missingService(service: ServiceTarget): readonly Concern[] {
  const { health, reason = "", lastSeen } = service.status ?? {};
  if (health !== "DOWN" && health !== "UNHEALTHY") return [];
  const { serviceName, host, port } = service.spec;
  const [found] = concern(service, "services", {
    tone: health === "DOWN" ? "bad" : "wait",
    title: health === "DOWN" ? "Service missing" : "Service unhealthy",
    message: `${serviceName} at ${host}:${port}${reason ? `: ${reason}` : ""}`,
    since: lastSeen,
  });
  // The object is named after the registration's id, which tells nobody anything.
  return found ? [{ ...found, name: serviceName }] : [];
}

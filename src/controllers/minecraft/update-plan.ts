import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { UpdateStep } from "../../api/papermc-server-status.ts";
import { parseTime } from "../../kube/time.ts";
import { serverImage } from "./paper-image.ts";
import { listDigest } from "./plugin-list.ts";
import { isRolledOut, planServer, type ServerSnapshot } from "./server-plan.ts";
import { pluginDigestAnnotation } from "./stateful-set.ts";
import { isAskedFor, requestMaxAgeMs, windowAt } from "./update-window.ts";

/**
 * The life of an update. Each step is written to the status before it is done, so that it goes on after a restart of ours:
 *
 *     backup → plugins → shutdown → restart → verify → done
 *                                      └────────┴─▶ rollback → failed
 */
export type UpdatePlan =
  | { readonly kind: "Idle"; readonly lookAgainMs?: number; readonly hasOldRequest: boolean }
  | { readonly kind: "Begin"; readonly first: UpdateStep; readonly isRequested: boolean }
  /** Something to do before anybody is disturbed. */
  | { readonly kind: "Prepare"; readonly step: "backup" | "plugins" | "shutdown"; readonly elapsedMs: number }
  | { readonly kind: "Wait"; readonly lookAgainMs: number }
  | { readonly kind: "Advance"; readonly to: UpdateStep }
  | { readonly kind: "Succeed" }
  | { readonly kind: "RollBack"; readonly message: string }
  | { readonly kind: "Fail"; readonly rolledBack: boolean; readonly message: string };

export interface UpdateSnapshot extends ServerSnapshot {
  readonly now: Date;
}

/** Upstream's own limit for a server to become ready. */
const readyPatienceMs = 10 * 60_000;
const changePatienceMs = 2 * 60_000;
const pollMs = 5_000;

export function planUpdate(snapshot: UpdateSnapshot): UpdatePlan {
  const { server, now } = snapshot;
  const progress = server.status?.updateProgress;
  if (!progress) return planBeginning(snapshot);
  const started = parseTime(progress.stepStartedAt ?? progress.startedAt);
  const elapsedMs = started.ok ? now.getTime() - started.value.getTime() : 0;
  const state = workloadState(snapshot);
  switch (progress.step) {
    case "backup":
    case "plugins":
    case "shutdown":
      return { kind: "Prepare", step: progress.step, elapsedMs };
    case "restart":
      if (state !== "Different") return { kind: "Advance", to: "verify" };
      if (elapsedMs > changePatienceMs) return { kind: "RollBack", message: "The workload could not be changed" };
      return { kind: "Wait", lookAgainMs: pollMs };
    case "verify":
      if (state === "Ready") return { kind: "Succeed" };
      if (elapsedMs > readyPatienceMs)
        return { kind: "RollBack", message: `Paper ${progress.version} did not become ready within 10 minutes` };
      return { kind: "Wait", lookAgainMs: pollMs };
    case "rollback":
      if (state === "Ready") return { kind: "Fail", rolledBack: true, message: failureOf(server) };
      if (elapsedMs > readyPatienceMs)
        return {
          kind: "Fail",
          rolledBack: true,
          message: `${failureOf(server)}; the previous version is not ready either`,
        };
      return { kind: "Wait", lookAgainMs: pollMs };
  }
}

/** The message with which the rollback began stands in the condition meanwhile. */
const failureOf = ({ status }: PaperMCServer): string =>
  status?.conditions?.find(({ type }) => type === "Updating")?.message ?? "The update failed";

function planBeginning({ server, set, now }: UpdateSnapshot): UpdatePlan {
  const request = isAskedFor(server, "applyNow", now);
  const hasOldRequest = request === "Outdated";
  const { availableUpdate, lastUpdate } = server.status ?? {};
  // A request may come before what it asks for has been found; it stands until it is outdated.
  if (!availableUpdate || !set)
    return { kind: "Idle", hasOldRequest, ...(request === "Yes" && { lookAgainMs: requestMaxAgeMs }) };
  const { backup } = server.spec;
  const first = backup?.enabled && backup.beforeUpdate ? "backup" : "plugins";
  if (request === "Yes") return { kind: "Begin", first, isRequested: true };
  const window = windowAt(server, now);
  switch (window.kind) {
    case "Never":
      return { kind: "Idle", hasOldRequest };
    case "Closed": {
      const lookAgainMs = window.opensAt && window.opensAt.getTime() - now.getTime() + 1_000;
      return { kind: "Idle", hasOldRequest, ...(lookAgainMs !== undefined && { lookAgainMs }) };
    }
    case "Open": {
      const failedAt = lastUpdate && !lastUpdate.successful ? parseTime(lastUpdate.appliedAt) : undefined;
      // What failed in this window is not tried again before the next one.
      if (failedAt?.ok && failedAt.value >= window.since)
        return { kind: "Idle", hasOldRequest, lookAgainMs: readyPatienceMs };
      return { kind: "Begin", first, isRequested: false };
    }
  }
}

/** Whether the workload is what the status orders, and whether it runs. */
function workloadState(snapshot: ServerSnapshot): "Different" | "NotReady" | "Ready" {
  const { set } = snapshot;
  const plan = planServer(snapshot);
  if (!set || plan.kind !== "Run") return "Different";
  const digest = set.spec.template.metadata?.annotations?.[pluginDigestAnnotation];
  if (serverImage(set) !== plan.image || digest !== listDigest(plan.listed)) return "Different";
  return isRolledOut(set) ? "Ready" : "NotReady";
}

import type { TableColumn } from "../../resource.ts";
import { ageColumn, ageOf, column, nameColumn, wide } from "../columns.ts";
import { child, type Draft, descend, items, numeral, text } from "../draft.ts";

/** What `kubectl get pods` shows: the state that a person wants to know, put together from many container states. */
export const podColumns: readonly TableColumn[] = [
  nameColumn,
  column("Ready", (pod) => summaryOf(pod).ready, { description: "Containers that are ready, of all." }),
  column("Status", (pod) => summaryOf(pod).status, { description: "The state of the containers in one word." }),
  column("Restarts", (pod, now) => restartsText(summaryOf(pod), now), {
    description: "How often containers were restarted.",
  }),
  ageColumn,
  wide("IP", (pod) => text(items(child(pod, "status"), "podIPs")[0], "ip") || "<none>"),
  wide("Node", (pod) => text(child(pod, "spec"), "nodeName") || "<none>"),
  wide("Nominated Node", (pod) => text(child(pod, "status"), "nominatedNodeName") || "<none>"),
  wide("Readiness Gates", readinessGates),
];

interface Summary {
  readonly ready: string;
  readonly status: string;
  readonly restarts: number;
  readonly lastRestart: string;
}

function summaryOf(pod: Draft): Summary {
  const spec = child(pod, "spec");
  const status = child(pod, "status");
  const sidecars = new Set(
    items(spec, "initContainers")
      .filter((container) => text(container, "restartPolicy") === "Always")
      .map((container) => text(container, "name")),
  );
  const init = initializationOf(status, items(spec, "initContainers").length, sidecars);
  const isInitialized = init.reason === undefined || conditionIs(status, "Initialized", "True");
  const before = init.reason ?? baseReason(status);
  const running = isInitialized ? runningOf(status, before) : undefined;
  const counts = running
    ? {
        restarts: init.sidecarRestarts + running.restarts,
        lastRestart: later(init.lastSidecarRestart, running.lastRestart),
      }
    : { restarts: init.restarts, lastRestart: init.lastRestart };
  const total = items(spec, "containers").length + sidecars.size;
  return {
    ready: `${init.ready + (running?.ready ?? 0)}/${total}`,
    status: deletionReason(pod, status) ?? running?.reason ?? before,
    ...counts,
  };
}

function baseReason(status: Draft | undefined): string {
  const gated = items(status, "conditions").some(
    (condition) => text(condition, "type") === "PodScheduled" && text(condition, "reason") === "SchedulingGated",
  );
  return gated ? "SchedulingGated" : text(status, "reason") || text(status, "phase");
}

interface Initialization {
  /** Absent once nothing is left to initialize. */
  readonly reason: string | undefined;
  readonly ready: number;
  readonly restarts: number;
  readonly lastRestart: string;
  readonly sidecarRestarts: number;
  readonly lastSidecarRestart: string;
}

function initializationOf(status: Draft | undefined, total: number, sidecars: ReadonlySet<string>): Initialization {
  let [ready, restarts, sidecarRestarts] = [0, 0, 0];
  let [lastRestart, lastSidecarRestart] = ["", ""];
  for (const [index, container] of items(status, "initContainerStatuses").entries()) {
    const isSidecar = sidecars.has(text(container, "name"));
    const count = numeral(container, "restartCount") ?? 0;
    const ended = lastTermination(container);
    restarts += count;
    lastRestart = later(lastRestart, ended);
    if (isSidecar) {
      sidecarRestarts += count;
      lastSidecarRestart = later(lastSidecarRestart, ended);
    }
    const terminated = descend(container, "state", "terminated");
    if (terminated && (numeral(terminated, "exitCode") ?? 0) === 0) continue;
    if (isSidecar && container["started"] === true) {
      if (container["ready"] === true) ready += 1;
      continue;
    }
    const reason = initReason(container, index, total);
    return { reason, ready, restarts, lastRestart, sidecarRestarts, lastSidecarRestart };
  }
  return { reason: undefined, ready, restarts, lastRestart, sidecarRestarts, lastSidecarRestart };
}

function initReason(container: Draft, index: number, total: number): string {
  const terminated = descend(container, "state", "terminated");
  if (terminated) return `Init:${terminationReason(terminated)}`;
  const waiting = text(descend(container, "state", "waiting"), "reason");
  return waiting !== "" && waiting !== "PodInitializing" ? `Init:${waiting}` : `Init:${index}/${total}`;
}

interface Running {
  readonly reason: string;
  readonly ready: number;
  readonly restarts: number;
  readonly lastRestart: string;
}

function runningOf(status: Draft | undefined, base: string): Running {
  let reason = base;
  let [ready, restarts] = [0, 0];
  let [lastRestart, errorReason] = ["", ""];
  let hasRunning = false;
  for (const container of items(status, "containerStatuses").toReversed()) {
    restarts += numeral(container, "restartCount") ?? 0;
    lastRestart = later(lastRestart, lastTermination(container));
    const waiting = text(descend(container, "state", "waiting"), "reason");
    const terminated = descend(container, "state", "terminated");
    if (waiting !== "") reason = waiting;
    else if (terminated) {
      reason = terminationReason(terminated);
      if ((numeral(terminated, "exitCode") ?? 0) !== 0) errorReason = reason;
    } else if (container["ready"] === true && descend(container, "state", "running")) {
      hasRunning = true;
      ready += 1;
    }
  }
  if (reason === "Completed") {
    if (hasRunning && conditionIs(status, "Ready", "True")) reason = "Running";
    else if (errorReason !== "") reason = errorReason;
    else if (hasRunning) reason = "NotReady";
  }
  return { reason, ready, restarts, lastRestart };
}

function terminationReason(terminated: Draft): string {
  const signal = numeral(terminated, "signal") ?? 0;
  return (
    text(terminated, "reason") ||
    (signal !== 0 ? `Signal:${signal}` : `ExitCode:${numeral(terminated, "exitCode") ?? 0}`)
  );
}

function deletionReason(pod: Draft, status: Draft | undefined): string | undefined {
  if (text(child(pod, "metadata"), "deletionTimestamp") === "") return undefined;
  if (text(status, "reason") === "NodeLost") return "Unknown";
  const phase = text(status, "phase");
  return phase === "Succeeded" || phase === "Failed" ? undefined : "Terminating";
}

function restartsText({ restarts, lastRestart }: Summary, now: Date): string {
  if (restarts === 0 || lastRestart === "") return String(restarts);
  return `${restarts} (${ageOf({ lastRestart }, "lastRestart", now)} ago)`;
}

function readinessGates(pod: Draft): string {
  const gates = items(child(pod, "spec"), "readinessGates");
  if (gates.length === 0) return "<none>";
  const met = gates.filter((gate) => conditionIs(child(pod, "status"), text(gate, "conditionType"), "True")).length;
  return `${met}/${gates.length}`;
}

const lastTermination = (container: Draft): string => text(descend(container, "lastState", "terminated"), "finishedAt");

const later = (left: string, right: string): string => (right > left ? right : left);

function conditionIs(status: Draft | undefined, type: string, wanted: string): boolean {
  return (
    text(
      items(status, "conditions").find((condition) => text(condition, "type") === type),
      "status",
    ) === wanted
  );
}

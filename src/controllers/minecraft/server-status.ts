import type { StatefulSet } from "../../api/builtin/workloads.ts";
import type { PaperMCServer, PaperServerConditionType } from "../../api/papermc-server.ts";
import { setCondition } from "../../kube/condition.ts";
import type { ListedPlugin } from "./plugin-list.ts";
import { isRolledOut, runningImage, type ServerPlan } from "./server-plan.ts";

type Status = NonNullable<PaperMCServer["status"]>;

export interface ServerOutcome {
  /** As it is after the writes. */
  readonly set: StatefulSet | undefined;
  /** What the API refused, or what cannot be written, one sentence each. */
  readonly problems: readonly string[];
}

export function serverStatus(
  server: PaperMCServer,
  plan: ServerPlan,
  { set, problems }: ServerOutcome,
  now: Date,
): Status {
  const generation = server.metadata.generation !== undefined && { observedGeneration: server.metadata.generation };
  let status: Status = { ...server.status, ...generation };
  const say = (type: PaperServerConditionType, isTrue: boolean, reason: string, message: string): void => {
    const state = { type, status: isTrue ? ("True" as const) : ("False" as const), reason, message, ...generation };
    status = { ...status, conditions: setCondition(status.conditions, state, now) };
  };
  if (plan.kind === "Wait") {
    say("Ready", false, "ReconcileError", plan.message);
    return status;
  }
  status = { ...status, ...running(server, set), ...startedPlugins(status, plan) };
  if (set) {
    const isReady = isRolledOut(set);
    const reason = plan.isFirst ? "StatefulSetCreated" : isReady ? "StatefulSetReady" : "StatefulSetNotReady";
    say(
      "StatefulSetReady",
      isReady && !plan.isFirst,
      reason,
      isReady ? "The server accepts players" : "The server is not ready yet",
    );
  }
  if (problems.length > 0) say("Ready", false, "ReconcileError", problems.join("; "));
  else say("Ready", true, "ReconcileSuccess", "Everything is as it was asked for");
  return status;
}

/** While an update is under way it says itself what runs, when it is sure. */
function running(server: PaperMCServer, set: StatefulSet | undefined): Partial<Status> {
  const image = runningImage(set);
  if (!image || server.status?.updateProgress) return {};
  return { currentVersion: image.version, ...(image.build !== undefined && { currentBuild: image.build }) };
}

/** The first start installs everything at once; an update says itself what it has installed. */
function startedPlugins(
  { plugins, updateProgress }: Status,
  { listed }: Extract<ServerPlan, { readonly kind: "Run" }>,
): Partial<Status> {
  if (!plugins || updateProgress) return {};
  const isNew = ({ currentVersion, pluginRef }: PluginEntry): boolean =>
    currentVersion === undefined && listed.some(({ name }) => name === pluginRef.name);
  return { plugins: plugins.flatMap((entry) => (isNew(entry) ? installedPlugins([entry], listed) : [entry])) };
}

type PluginEntry = NonNullable<Status["plugins"]>[number];

/** The entries once exactly these jars are installed. */
export function installedPlugins(
  entries: readonly PluginEntry[],
  listed: readonly ListedPlugin[],
): readonly PluginEntry[] {
  return entries.flatMap(({ desiredVersion, installedJarName: _, currentVersion: __, ...entry }) => {
    const jar = listed.find(({ name }) => name === entry.pluginRef.name);
    if (!jar)
      return entry.pendingDeletion ? [] : [{ ...entry, ...(desiredVersion !== undefined && { desiredVersion }) }];
    const isStillWanted = desiredVersion !== undefined && desiredVersion !== jar.version;
    return [
      { ...entry, currentVersion: jar.version, installedJarName: jar.file, ...(isStillWanted && { desiredVersion }) },
    ];
  });
}

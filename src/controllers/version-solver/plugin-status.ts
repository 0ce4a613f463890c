import type { Plugin, PluginConditionType, PluginEvent } from "../../api/plugin.ts";
import { findCondition, setCondition } from "../../kube/condition.ts";
import { fits } from "./compatibility.ts";
import { installedOn } from "./plugin-choices.ts";
import type { FleetAnswer, PluginAnswer } from "./solve-fleet.ts";
import { type ConditionVerdict, pluginVerdict } from "./verdict.ts";

type Status = NonNullable<Plugin["status"]>;
type MatchedInstance = NonNullable<Status["matchedInstances"]>[number];

interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: PluginEvent;
  readonly message: string;
  readonly isLogged?: boolean;
}

export interface PluginStatusUpdate {
  readonly status: Status;
  readonly events: readonly Note[];
}

/** What an answer means for the status of one plugin; undefined when nothing was decided about it. */
export function pluginStatus(
  plugin: Plugin,
  answer: FleetAnswer | undefined,
  now: Date,
): PluginStatusUpdate | undefined {
  const found = answer?.plugins.get(plugin.metadata.name);
  if (!answer || !found) return undefined;
  const old: Status = plugin.status ?? {};
  const verdict = pluginVerdict(found, answer);
  const resolved = refine(plugin, found, verdict.resolved);
  const matchedInstances = matchedInstancesOf(found, answer);
  const { resolvedVersion: before, ...kept } = old;
  const version = found.chosen?.version ?? (found.state === "NothingFits" ? found.installed : undefined);
  let conditions = old.conditions;
  for (const [type, state] of [
    ["VersionResolved", resolved],
    ["Compatible", verdict.compatible],
  ] as const satisfies readonly (readonly [PluginConditionType, ConditionVerdict<string>])[])
    conditions = setCondition(
      conditions,
      {
        type,
        ...state,
        ...(plugin.metadata.generation !== undefined && { observedGeneration: plugin.metadata.generation }),
      },
      now,
    );
  return {
    status: {
      ...kept,
      ...(version !== undefined && { resolvedVersion: version }),
      matchedInstances,
      matchedCount: matchedInstances.length,
      ...(conditions && { conditions }),
    },
    events: eventsOf(old, version === before ? undefined : version, resolved, verdict.compatible, matchedInstances),
  };
}

/** A jar that does not say its version, or is not the one that was promised, is its own reason. */
function refine(
  plugin: Plugin,
  { chosen, state }: PluginAnswer,
  resolved: ReturnType<typeof pluginVerdict>["resolved"],
): ConditionVerdict<string> {
  const repository = findCondition(plugin.status?.conditions, "RepositoryAvailable");
  if (repository?.reason === "ChecksumMismatch")
    return { status: "False", reason: "ChecksumMismatch", message: repository.message };
  if (state === "Unknown" && repository?.status === "False")
    return { status: "False", reason: "Unavailable", message: repository.message };
  if (resolved.reason === "Resolved" && plugin.spec.source.type === "url" && chosen?.version === fallbackVersion)
    return {
      status: "True",
      reason: "FallbackVersion",
      message: `The jar names no version, so it counts as ${fallbackVersion}; spec.version can say better`,
    };
  return resolved;
}

export const fallbackVersion = "0.0.0";

function matchedInstancesOf(
  { member, matches, state }: PluginAnswer,
  { servers, model }: FleetAnswer,
): readonly MatchedInstance[] {
  const objects = new Map(member.servers.map((server) => [server.metadata.name, server]));
  return matches.map(({ server, fit }) => {
    const found = servers.get(server);
    const object = objects.get(server);
    const namespace = object?.metadata.namespace ?? "";
    const there = object && installedOn(member, object);
    const available = member.plugin.status?.availableVersions?.find(({ version }) => version === there);
    // What runs is what counts here; before anything runs, what was chosen.
    const runs =
      found?.current && available
        ? fits(model.compatibility.fitOf(member.plugin, available, found.current.version))
        : undefined;
    return {
      name: server,
      namespace,
      version: found?.current?.version.text ?? found?.chosen?.version.text ?? "",
      compatible: runs ?? (state === "Unknown" || state === "Pending" || fits(fit)),
    };
  });
}

function eventsOf(
  old: Status,
  newVersion: string | undefined,
  resolved: ConditionVerdict<string>,
  compatible: ConditionVerdict<string>,
  matched: readonly MatchedInstance[],
): readonly Note[] {
  const notes: Note[] = [];
  const names = (of: readonly MatchedInstance[] | undefined): string => (of ?? []).map(({ name }) => name).join(", ");
  if (names(matched) !== names(old.matchedInstances) && matched.length > 0)
    notes.push({ type: "Normal", reason: "MatchedServers", message: `On ${names(matched)}` });
  if (newVersion !== undefined)
    notes.push({ type: "Normal", reason: "Resolved", message: `${newVersion} for ${names(matched)}` });
  const isNews = (type: string, { reason, message }: ConditionVerdict<string>): boolean => {
    const before = findCondition(old.conditions, type);
    return before?.reason !== reason || before.message !== message;
  };
  if (compatible.status === "False" && isNews("Compatible", compatible))
    notes.push({ type: "Warning", reason: "IncompatibleVersion", message: compatible.message, isLogged: true });
  if (compatible.reason === "OverrideApplied" && isNews("Compatible", compatible))
    notes.push({ type: "Normal", reason: "OverrideApplied", message: compatible.message });
  if (resolved.reason === "HighestPinChosen" && isNews("VersionResolved", resolved))
    notes.push({ type: "Warning", reason: "PinConflict", message: resolved.message, isLogged: true });
  return notes;
}

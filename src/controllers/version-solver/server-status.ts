import type { PaperMCServer, PaperServerConditionType, PaperServerEvent } from "../../api/papermc-server.ts";
import { findCondition, setCondition } from "../../kube/condition.ts";
import { deepEqual } from "../../kube/equality.ts";
import { formatTime } from "../../kube/time.ts";
import { fits } from "./compatibility.ts";
import type { Hold } from "./explain-fleet.ts";
import { compare } from "./server-choices.ts";
import type { FleetAnswer, PluginAnswer, ServerAnswer } from "./solve-fleet.ts";
import { type ServerVerdict, serverVerdict } from "./verdict.ts";

type Status = NonNullable<PaperMCServer["status"]>;
type PluginEntry = NonNullable<Status["plugins"]>[number];
type AvailableUpdate = NonNullable<Status["availableUpdate"]>;

interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: PaperServerEvent;
  readonly message: string;
  readonly isLogged?: boolean;
}

export interface ServerStatusUpdate {
  readonly status: Status;
  readonly events: readonly Note[];
}

/** What an answer means for the status of one server. Fields of other writers stay. */
export function serverStatus(
  server: PaperMCServer,
  answer: FleetAnswer | undefined,
  hold: Hold | undefined,
  now: Date,
): ServerStatusUpdate {
  const old: Status = server.status ?? {};
  const found = answer?.servers.get(server.metadata.name);
  if (!answer || !found) {
    const message = "No answer was found in time; the last one stays";
    return {
      status: { ...old, conditions: withCondition(server, old, "SolverRunning", false, "SolverFailed", message, now) },
      events: [],
    };
  }
  const verdict = serverVerdict(found, answer, hold);
  const entries = pluginEntries(server, answer);
  const update = availableUpdate(old, found, entries, now);
  const { availableUpdate: _, ...kept } = old;
  const solved: Status = {
    ...kept,
    ...(found.chosen && !isWaiting(found) && { desiredVersion: found.chosen.version.text }),
    ...(found.chosen?.build !== undefined && !isWaiting(found) && { desiredBuild: found.chosen.build }),
    plugins: entries,
    updateBlocked: verdict.blocked,
    ...(update && { availableUpdate: update }),
  };
  return {
    status: { ...solved, conditions: conditionsOf(server, solved, verdict, answer, update, now) },
    events: eventsOf(old, solved, verdict, entries, found),
  };
}

/** A first choice that waits for plugins is not made yet. */
const isWaiting = ({ waitsFor, current }: ServerAnswer): boolean => waitsFor.length > 0 && current === undefined;

/** All plugins that match, and those that are still installed although they match no more. */
function pluginEntries(server: PaperMCServer, { plugins }: FleetAnswer): readonly PluginEntry[] {
  const { name, namespace = "" } = server.metadata;
  const known = new Map((server.status?.plugins ?? []).map((entry) => [entry.pluginRef.name, entry]));
  const matching = [...plugins.values()].flatMap((plugin): readonly PluginEntry[] => {
    const match = plugin.matches.find((one) => one.server === name);
    if (!match) return [];
    const { pendingDeletion: _, desiredVersion: __, ...before }: Partial<PluginEntry> = known.get(plugin.name) ?? {};
    const wanted = plugin.chosen?.version;
    return [
      {
        ...before,
        pluginRef: { name: plugin.name, namespace },
        resolvedVersion: wanted ?? before.currentVersion ?? "",
        ...(wanted !== undefined && wanted !== before.currentVersion && { desiredVersion: wanted }),
        compatible: isCompatible(plugin, match.fit),
        source: plugin.member.plugin.spec.source.type,
      },
    ];
  });
  const names = new Set(matching.map(({ pluginRef }) => pluginRef.name));
  const leaving = [...known.values()].flatMap(({ desiredVersion: _, ...entry }): readonly PluginEntry[] =>
    names.has(entry.pluginRef.name) || entry.currentVersion === undefined ? [] : [{ ...entry, pendingDeletion: true }],
  );
  return [...matching, ...leaving].sort((a, b) => (a.pluginRef.name < b.pluginRef.name ? -1 : 1));
}

const isCompatible = ({ state }: PluginAnswer, fit: Parameters<typeof fits>[0]): boolean =>
  state === "Unknown" || state === "Pending" || fits(fit);

/** Something to do in the next window: another build, another version of a plugin, or one that has to go. */
function availableUpdate(
  old: Status,
  { chosen, current }: ServerAnswer,
  entries: readonly PluginEntry[],
  now: Date,
): AvailableUpdate | undefined {
  // What is being applied right now must not change under the hands of whoever applies it.
  if (old.updateProgress) return old.availableUpdate;
  if (!chosen || !current) return undefined;
  const isMoving = compare(chosen, current) !== 0;
  const changes = entries.some(
    ({ desiredVersion, pendingDeletion }) => desiredVersion !== undefined || pendingDeletion,
  );
  if (!isMoving && !changes) return undefined;
  const what = {
    version: chosen.version.text,
    build: chosen.build ?? 0,
    plugins: entries
      .filter(({ pendingDeletion, resolvedVersion }) => !pendingDeletion && resolvedVersion !== "")
      .map(({ pluginRef, resolvedVersion }) => ({ pluginRef, version: resolvedVersion })),
  };
  const before = old.availableUpdate;
  const isSame =
    before !== undefined && deepEqual({ version: before.version, build: before.build, plugins: before.plugins }, what);
  const foundAt = isSame ? before.foundAt : formatTime(now);
  return { ...what, releasedAt: chosen.releasedAt ?? (isSame ? before.releasedAt : foundAt), foundAt };
}

function conditionsOf(
  server: PaperMCServer,
  status: Status,
  { blocked, compatible }: ServerVerdict,
  { proven }: FleetAnswer,
  update: AvailableUpdate | undefined,
  now: Date,
): Status["conditions"] {
  let next: Status = status;
  const set = (type: PaperServerConditionType, isTrue: boolean, reason: string, message: string): void => {
    next = { ...next, conditions: withCondition(server, next, type, isTrue, reason, message, now) };
  };
  set(
    "UpdateAvailable",
    update !== undefined,
    update ? "UpdateFound" : "NoUpdate",
    update
      ? `Paper ${update.version} build ${update.build} with ${update.plugins.length} plugins`
      : "Nothing newer fits",
  );
  set(
    "UpdateBlocked",
    blocked.blocked,
    blocked.blocked ? "UpdateBlocked" : "UpdateUnblocked",
    blocked.blocked ? (blocked.reason ?? "") : "Nothing stands in the way of a newer version",
  );
  set("Compatible", compatible.status === "True", compatible.reason, compatible.message);
  set(
    "SolverRunning",
    false,
    "SolverCompleted",
    proven ? "The best choice was found, and nothing better exists" : "The time ran out; a better choice may exist",
  );
  return next.conditions;
}

const withCondition = (
  { metadata }: PaperMCServer,
  { conditions }: Status,
  type: PaperServerConditionType,
  isTrue: boolean,
  reason: string,
  message: string,
  now: Date,
): NonNullable<Status["conditions"]> =>
  setCondition(
    conditions,
    {
      type,
      status: isTrue ? "True" : "False",
      reason,
      message,
      ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    },
    now,
  );

/** Events say what is new. */
function eventsOf(
  old: Status,
  solved: Status,
  { blocked, compatible }: ServerVerdict,
  entries: readonly PluginEntry[],
  { chosen }: ServerAnswer,
): readonly Note[] {
  const notes: Note[] = [];
  // Before the first facts are there, nothing is wrong that anybody should be warned of.
  const isPending = old.availableVersions === undefined && !chosen;
  const { availableUpdate: update } = solved;
  if (update && (old.availableUpdate?.version !== update.version || old.availableUpdate.build !== update.build))
    notes.push({
      type: "Normal",
      reason: "UpdateAvailable",
      message: `Paper ${update.version} build ${update.build} can be installed`,
    });
  if (
    !isPending &&
    blocked.blocked &&
    (old.updateBlocked?.blocked !== true || old.updateBlocked.reason !== blocked.reason)
  )
    notes.push({ type: "Warning", reason: "UpdateBlocked", message: blocked.reason ?? "" });
  const texts = (of: readonly PluginEntry[] | undefined): string =>
    (of ?? [])
      .filter(({ resolvedVersion }) => resolvedVersion !== "")
      .map(({ pluginRef, resolvedVersion }) => `${pluginRef.name} ${resolvedVersion}`)
      .join(", ");
  const resolved = texts(entries);
  if (resolved !== "" && resolved !== texts(old.plugins))
    notes.push({ type: "Normal", reason: "PluginsResolved", message: resolved });
  const before = findCondition(old.conditions, "Compatible");
  const isNews = before?.reason !== compatible.reason || before.message !== compatible.message;
  if (!isPending && isNews && compatible.reason === "IncompatiblePlugin")
    notes.push({ type: "Warning", reason: "PluginIncompatible", message: compatible.message, isLogged: true });
  if (isNews && compatible.reason === "NoPluginsMatched")
    notes.push({ type: "Normal", reason: "NoPluginsMatched", message: compatible.message });
  return notes;
}

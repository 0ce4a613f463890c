import { VolumeSnapshot } from "../../api/builtin/volume.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Env } from "../../env/env.ts";
import { formatTime, parseTime } from "../../kube/time.ts";
import type { ActContext } from "../../runtime/controller.ts";
import { announcements, dueAnnouncements, farewell } from "./announcements.ts";
import { speak, whileSaved } from "./console.ts";
import { download } from "./download.ts";
import { type Outside, OutsideError } from "./outside.ts";
import { type ListedPlugin, listFile, listPlugins, readPluginList } from "./plugin-list.ts";
import { isSnapshotServed, listSnapshots, missingVolume, snapshotName, snapshotOf } from "./snapshot.ts";
import { graceSeconds } from "./stateful-set.ts";
import type { UpdateSnapshot } from "./update-plan.ts";
import type { Note, StepOutcome } from "./update-status.ts";

type Context = ActContext<PaperMCServer>;

const snapshotPatienceMs = 10 * 60_000;
const hostPatienceMs = 10 * 60_000;
const pollMs = 5_000;

/** A snapshot of the world, ready to use, before anything is changed. Where the API is not served there is none. */
export async function backUp(env: Env, elapsedMs: number, context: Context): Promise<StepOutcome> {
  const { object: server, write, now } = context;
  const progress = server.status?.updateProgress;
  if (!(await isSnapshotServed(context))) return { kind: "Next", step: "plugins" };
  const startedAt = parseTime(progress?.startedAt ?? "");
  const begun = startedAt.ok ? startedAt.value : now;
  const name = progress?.snapshotName ?? snapshotName(server, begun, "before-update");
  const all = await listSnapshots(server, context);
  const snapshot = all.find(({ metadata }) => metadata.name === name);
  const made = {
    snapshotName: name,
    startedAt: formatTime(begun),
    successful: true,
    trigger: "before-update",
  } as const;
  // Said each time, for the status that was to say it first may have come too late.
  const wait = (count: number): StepOutcome => ({
    kind: "Again",
    afterMs: pollMs,
    snapshotName: name,
    backup: { backupCount: count, lastBackup: made },
  });
  const failed = (message: string): StepOutcome => ({
    kind: "Failed",
    message,
    backup: { backupCount: all.length, lastBackup: { ...made, successful: false, message } },
  });
  if (snapshot?.status?.error)
    return failed(`The backup before the update failed: ${snapshot.status.error.message ?? name}`);
  if (snapshot?.status?.readyToUse === true)
    return {
      kind: "Next",
      step: "plugins",
      snapshotName: name,
      backup: { backupCount: all.length, lastBackup: { ...made, completedAt: formatTime(now) } },
      events: [{ type: "Normal", reason: "BackupCreated", message: `${name} (before-update)` }],
    };
  if (elapsedMs > snapshotPatienceMs) return failed(`The backup ${name} was not ready within 10 minutes`);
  if (snapshot) return wait(all.length);
  const missing = await missingVolume(server, context);
  if (missing !== undefined) return failed(`The backup before the update could not be made: ${missing}`);
  const answer = await whileSaved(env, server, context, () =>
    write.create(VolumeSnapshot, snapshotOf(server, name, "before-update")),
  );
  if (!answer.ok && answer.reason !== "AlreadyExists")
    return failed(`The backup before the update could not be made: ${answer.message}`);
  return wait(all.length + 1);
}

/**
 * Every new jar is fetched and checked once while the old version still runs: what cannot be had stops the update here.
 * Nobody is disturbed yet, so a host that only has trouble for a while is waited for.
 */
export async function checkPlugins(
  snapshot: UpdateSnapshot,
  outside: Outside,
  elapsedMs: number,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { server, plugins, list } = snapshot;
  const listed = readPluginList(list?.data?.[listFile]);
  const wanted = (server.status?.availableUpdate?.plugins ?? []).map(({ pluginRef, version }) => ({
    name: pluginRef.name,
    version,
  }));
  const next = listPlugins(wanted, plugins, listed);
  const missing = wanted.find(({ name }) => !next.some((one) => one.name === name));
  if (missing)
    return { kind: "Failed", message: `Plugin ${missing.name} ${missing.version} has no address to fetch it from` };
  const events: Note[] = [];
  for (const jar of next) {
    if (listed.includes(jar)) continue;
    const problem = await problemOf(jar, outside, signal);
    if (problem && isPassing(problem) && elapsedMs < hostPatienceMs)
      return { kind: "Again", afterMs: Math.min(problem.retryAfterMs ?? pollMs, hostPatienceMs) };
    if (problem) return { kind: "Failed", message: `Plugin ${jar.name} ${jar.version}: ${problem.message}` };
    events.push({ type: "Normal", reason: "PluginDownloaded", message: `${jar.name} ${jar.version}` });
  }
  return { kind: "Next", step: "shutdown", events };
}

async function problemOf(jar: ListedPlugin, outside: Outside, signal: AbortSignal): Promise<OutsideError | undefined> {
  try {
    await download(jar, outside, async () => undefined, signal);
    return undefined;
  } catch (error) {
    if (error instanceof OutsideError) return error;
    throw error;
  }
}

const isPassing = ({ reason }: OutsideError): boolean =>
  reason === "Unreachable" || reason === "TimedOut" || reason === "RateLimited";

/**
 * Remembers what players of each server were told, so that nothing is told twice when a status came too late; after a
 * restart of ours what is past is not told again.
 */
export class Farewells {
  readonly #told = new Map<string, { readonly startedAt: string; readonly count: number }>();

  async sayNext(env: Env, { set }: UpdateSnapshot, elapsedMs: number, context: Context): Promise<StepOutcome> {
    const { object: server, log } = context;
    const { uid = "" } = server.metadata;
    const isRunning = (set?.status?.readyReplicas ?? 0) > 0;
    if (!server.spec.rcon.enabled || !isRunning) return { kind: "Next", step: "restart" };
    const all = announcements(graceSeconds(server));
    const { count, nextMs } = dueAnnouncements(all, elapsedMs);
    const startedAt = server.status?.updateProgress?.stepStartedAt ?? "";
    const before = this.#told.get(uid);
    const told = before?.startedAt === startedAt ? before.count : 0;
    const isLast = count === all.length;
    const latest = all[count - 1];
    if (latest && count > told) {
      const spoken = await speak(env, server, [latest.command, ...(isLast ? farewell : [])], context);
      const isHeard = spoken.kind !== "Unheard";
      if (!isHeard)
        log.warn("players could not be told of the restart", { server: server.metadata.name, why: spoken.message });
      this.#remember(uid, startedAt, isHeard ? count : all.length);
      if (!isHeard) return { kind: "Next", step: "restart" };
    }
    // Where nobody could be told before, nobody is waited for now.
    if (isLast || told === all.length) return { kind: "Next", step: "restart" };
    return { kind: "Again", afterMs: nextMs ?? pollMs };
  }

  #remember(uid: string, startedAt: string, count: number): void {
    this.#told.delete(uid);
    this.#told.set(uid, { startedAt, count });
    const [oldest] = this.#told.keys();
    if (this.#told.size > maxRemembered && oldest !== undefined) this.#told.delete(oldest);
  }
}

const maxRemembered = 1_000;

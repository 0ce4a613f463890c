import { VolumeSnapshot } from "../../api/builtin/volume.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Env } from "../../env/env.ts";
import { parseTime } from "../../kube/time.ts";
import type { ActContext } from "../../runtime/controller.ts";
import { announcements, dueAnnouncements, farewell } from "./announcements.ts";
import { speak } from "./console.ts";
import { download } from "./download.ts";
import { type Outside, OutsideError } from "./outside.ts";
import { type ListedPlugin, listFile, listPlugins, readPluginList } from "./plugin-list.ts";
import { isSnapshotServed, snapshotName, snapshotOf } from "./snapshot.ts";
import { graceSeconds } from "./stateful-set.ts";
import type { UpdateSnapshot } from "./update-plan.ts";
import type { Note, StepOutcome } from "./update-status.ts";

type Context = ActContext<PaperMCServer>;

const snapshotPatienceMs = 10 * 60_000;
const pollMs = 5_000;

/** A snapshot of the world, ready to use, before anything is changed. Where the API is not served there is none. */
export async function backUp(env: Env, elapsedMs: number, context: Context): Promise<StepOutcome> {
  const { object: server, live, write } = context;
  const progress = server.status?.updateProgress;
  if (!(await isSnapshotServed(context))) return { kind: "Next", step: "plugins" };
  const startedAt = parseTime(progress?.startedAt ?? "");
  const name = progress?.snapshotName ?? snapshotName(server, startedAt.ok ? startedAt.value : env.now());
  const { namespace = "" } = server.metadata;
  const existing = await live.list(VolumeSnapshot, { namespace, fieldSelector: `metadata.name=${name}` });
  const [snapshot] = existing.items;
  if (!snapshot) {
    await speak(env, server, ["save-all flush", "save-off"], context);
    try {
      const made = await write.create(VolumeSnapshot, snapshotOf(server, name, "before-update"));
      if (!made.ok && made.reason !== "AlreadyExists")
        return { kind: "Failed", message: `The backup before the update could not be made: ${made.message}` };
    } finally {
      await speak(env, server, ["save-on"], context);
    }
    return { kind: "Again", afterMs: pollMs, snapshotName: name };
  }
  if (snapshot.status?.error)
    return { kind: "Failed", message: `The backup before the update failed: ${snapshot.status.error.message ?? name}` };
  if (snapshot.status?.readyToUse === true)
    return {
      kind: "Next",
      step: "plugins",
      snapshotName: name,
      events: [{ type: "Normal", reason: "BackupCreated", message: `${name} before the update` }],
    };
  if (elapsedMs > snapshotPatienceMs)
    return { kind: "Failed", message: `The backup ${name} was not ready within 10 minutes` };
  return { kind: "Again", afterMs: pollMs };
}

/** Every new jar is fetched and checked once while the old version still runs: what cannot be had stops the update here. */
export async function checkPlugins(
  snapshot: UpdateSnapshot,
  outside: Outside,
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
    if (problem !== undefined) return { kind: "Failed", message: `Plugin ${jar.name} ${jar.version}: ${problem}` };
    events.push({ type: "Normal", reason: "PluginDownloaded", message: `${jar.name} ${jar.version}` });
  }
  return { kind: "Next", step: "shutdown", events };
}

async function problemOf(jar: ListedPlugin, outside: Outside, signal: AbortSignal): Promise<string | undefined> {
  try {
    await download(jar, outside, async () => undefined, signal);
    return undefined;
  } catch (error) {
    if (error instanceof OutsideError) return error.message;
    throw error;
  }
}

/** Remembers what players of each server were told; after a restart of ours what is past is not told again. */
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
    if (latest && (count > told || isLast)) {
      const spoken = await speak(env, server, [latest.command, ...(isLast ? farewell : [])], context);
      if (spoken.kind === "Unheard") {
        log.warn("players could not be told of the restart", { server: server.metadata.name, message: spoken.message });
        this.#told.delete(uid);
        return { kind: "Next", step: "restart" };
      }
      this.#told.set(uid, { startedAt, count });
    }
    if (!isLast) return { kind: "Again", afterMs: nextMs ?? pollMs };
    this.#told.delete(uid);
    return { kind: "Next", step: "restart" };
  }
}

import { Secret } from "../../api/builtin/configuration.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { PersistentVolumeClaim, VolumeSnapshot } from "../../api/builtin/volume.ts";
import { PaperMCServer, type PaperServerConditionType, type PaperServerEvent } from "../../api/papermc-server.ts";
import type { BackupTrigger } from "../../api/papermc-server-status.ts";
import { annotations } from "../../api/well-known.ts";
import type { Env } from "../../env/env.ts";
import { setCondition } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import { type ActContext, type Controller, defineController } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { annotationsChanged, generationChanged, or, type Predicate } from "../../runtime/predicates.ts";
import { type BackupPlan, planBackup, surplusOf } from "./backup-plan.ts";
import { fieldManager } from "./children.ts";
import { whileSaved } from "./console.ts";
import type { MinecraftMetrics } from "./metrics.ts";
import { isSnapshotServed, listSnapshots, missingVolume, snapshotName, snapshotOf } from "./snapshot.ts";

type Status = NonNullable<PaperMCServer["status"]>;

export interface BackupControllerOptions {
  readonly env: Env;
  readonly metrics: MinecraftMetrics;
}

interface BackupOutcome {
  readonly isServed: boolean;
  /** All that exist now, oldest first. */
  readonly snapshots: readonly VolumeSnapshot[];
  /** What was tried, now or before, and is not in the status yet. */
  readonly tried?: Try;
}

interface Try {
  readonly trigger: BackupTrigger;
  readonly startedAt: string;
  readonly made: { readonly name: string } | { readonly problem: string };
}

const unservedRetryMs = 5 * 60_000;
const readyPollMs = 10_000;

/** Makes snapshots by schedule and by request, and keeps as many as are wanted. */
export function backupController({ env, metrics }: BackupControllerOptions): Controller {
  // By uid. A status that comes too late must not hide what was done, so it is kept until it has been written.
  const unreported = new Map<string, Try>();
  return defineController({
    name: "backup",
    reconciles: PaperMCServer,
    predicates: [or<PaperMCServer>(generationChanged, annotationsChanged, snapshotMade)],
    fieldManager,
    concurrency: 8,
    permissions: [
      allow(PaperMCServer, ["patch"]),
      allow(VolumeSnapshot, ["get", "list", "create", "delete"]),
      allow(PersistentVolumeClaim, ["get", "list"]),
      allow(Pod, ["get"]),
      allow(Secret, ["get"]),
    ],
    observe: (server: PaperMCServer, { now }) => ({ server, now }),
    evaluate: ({ server, now }) => planBackup(server, now),
    act: (plan, context) => metrics.reconciled("backup", () => act(plan, context)),
    reduce: ({ object, decision, outcome, now }) => {
      const { uid = "" } = object.metadata;
      return { ...reduce(object, decision, outcome, now), afterWrite: () => unreported.delete(uid) };
    },
  });

  async function act(plan: BackupPlan, context: ActContext<PaperMCServer>): Promise<BackupOutcome> {
    const { object: server, write, now } = context;
    if (plan.kind === "Off" || !(await isSnapshotServed(context))) {
      if (plan.hasRequest) await forgetRequest(context);
      return { isServed: false, snapshots: [] };
    }
    const { uid = "" } = server.metadata;
    if (plan.kind === "Make") unreported.set(uid, { ...tryOf(plan, now), made: await make(plan) });
    // Taken away after the snapshot is there, whose name is made of it: it is neither lost nor done twice.
    if (plan.hasRequest) await forgetRequest(context);
    const all = await listSnapshots(server, context);
    const surplus = surplusOf(server, all);
    for (const old of surplus) await write.delete(VolumeSnapshot, old);
    const tried = unreported.get(uid);
    return { isServed: true, snapshots: all.filter((one) => !surplus.includes(one)), ...(tried && { tried }) };

    async function make({ at, trigger }: Extract<BackupPlan, { readonly kind: "Make" }>): Promise<Try["made"]> {
      const missing = await missingVolume(server, context);
      if (missing !== undefined) return { problem: missing };
      const name = snapshotName(server, at, trigger);
      const answer = await whileSaved(env, server, context, () =>
        write.create(VolumeSnapshot, snapshotOf(server, name, trigger)),
      );
      return answer.ok || answer.reason === "AlreadyExists" ? { name } : { problem: answer.message };
    }
  }
}

/** Others make snapshots too: the one before an update counts among those that are kept, and is awaited. */
const snapshotMade: Predicate<PaperMCServer> = (change) =>
  change.kind === "Updated" &&
  change.old.status?.backup?.lastBackup?.snapshotName !== change.object.status?.backup?.lastBackup?.snapshotName;

/** A scheduled one began when it was due, which tells it from the next. */
const tryOf = ({ trigger, at }: Extract<BackupPlan, { readonly kind: "Make" }>, now: Date): Omit<Try, "made"> => ({
  trigger,
  startedAt: formatTime(trigger === "scheduled" ? at : now),
});

function reduce(server: PaperMCServer, plan: BackupPlan, { isServed, snapshots, tried }: BackupOutcome, now: Date) {
  const old: Status = server.status ?? {};
  if (plan.kind === "Off") return { status: old };
  const generation = server.metadata.generation !== undefined && { observedGeneration: server.metadata.generation };
  let conditions = old.conditions;
  const say = (type: PaperServerConditionType, isTrue: boolean, reason: string, message: string): void => {
    conditions = setCondition(
      conditions,
      { type, status: isTrue ? "True" : "False", reason, message, ...generation },
      now,
    );
  };
  const wrong = plan.wrongSchedule;
  if (server.spec.backup?.schedule !== undefined)
    say(
      "BackupCronValid",
      wrong === undefined,
      wrong === undefined ? "BackupCronScheduleConfigured" : "InvalidBackupCronExpression",
      wrong ?? "The schedule can be read",
    );
  const problem = tried && "problem" in tried.made ? tried.made.problem : undefined;
  if (!isServed)
    say("BackupReady", false, "VolumeSnapshotAPIUnavailable", "The cluster does not serve snapshot.storage.k8s.io");
  else if (problem !== undefined) say("BackupReady", false, "BackupFailed", problem);
  else say("BackupReady", true, "VolumeSnapshotAPIAvailable", "Snapshots can be made");

  const lastBackup = lastBackupOf(old, tried, snapshots, now);
  const isPending = lastBackup?.successful === true && lastBackup.completedAt === undefined;
  const events = tried ? [eventOf(tried)] : [];
  const waits = [
    ...(isServed ? [] : [unservedRetryMs]),
    ...(isPending ? [readyPollMs] : []),
    ...(plan.kind === "Wait" && plan.lookAgainMs !== undefined ? [plan.lookAgainMs] : []),
    ...(plan.kind === "Make" ? [readyPollMs] : []),
  ];
  return {
    status: {
      ...old,
      ...(isServed && { backup: { backupCount: snapshots.length, ...(lastBackup && { lastBackup }) } }),
      ...(conditions && { conditions }),
    },
    events,
    ...(waits.length > 0 && { requeueAfterMs: Math.min(...waits) }),
  };
}

type LastBackup = NonNullable<NonNullable<Status["backup"]>["lastBackup"]>;

function lastBackupOf(
  { backup }: Status,
  tried: Try | undefined,
  snapshots: readonly VolumeSnapshot[],
  now: Date,
): LastBackup | undefined {
  if (tried) {
    const { made, startedAt, trigger } = tried;
    if ("problem" in made) return { startedAt, successful: false, trigger, message: made.problem };
    return { snapshotName: made.name, startedAt, successful: true, trigger };
  }
  const last = backup?.lastBackup;
  const snapshot = snapshots.find(({ metadata }) => metadata.name === last?.snapshotName);
  if (!last || last.completedAt !== undefined || !snapshot) return last;
  if (snapshot.status?.error)
    return {
      ...last,
      successful: false,
      completedAt: formatTime(now),
      message: snapshot.status.error.message ?? "the snapshot failed",
    };
  return snapshot.status?.readyToUse === true ? { ...last, completedAt: formatTime(now) } : last;
}

function eventOf({ made, trigger }: Try): {
  readonly type: "Normal" | "Warning";
  readonly reason: PaperServerEvent;
  readonly message: string;
} {
  return "problem" in made
    ? { type: "Warning", reason: "BackupFailed", message: made.problem }
    : { type: "Normal", reason: "BackupCreated", message: `${made.name} (${trigger})` };
}

async function forgetRequest({ object, write }: ActContext<PaperMCServer>): Promise<void> {
  const { uid } = object.metadata;
  const value = { metadata: { uid, annotations: { [annotations.backupNow]: null } } };
  const answer = await write.patch(PaperMCServer, object.metadata, { type: "merge", value });
  if (!answer.ok && answer.reason !== "NotFound")
    throw new Error(`the request could not be taken away: ${answer.message}`);
}

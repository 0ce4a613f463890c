import { Secret } from "../../api/builtin/configuration.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { PersistentVolumeClaim, VolumeSnapshot } from "../../api/builtin/volume.ts";
import { PaperMCServer, type PaperServerConditionType, type PaperServerEvent } from "../../api/papermc-server.ts";
import { annotations } from "../../api/well-known.ts";
import type { Env } from "../../env/env.ts";
import { setCondition } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import { type ActContext, type Controller, defineController } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { annotationsChanged, generationChanged, or } from "../../runtime/predicates.ts";
import { type BackupPlan, planBackup } from "./backup-plan.ts";
import { fieldManager } from "./children.ts";
import { speak } from "./console.ts";
import type { MinecraftMetrics } from "./metrics.ts";
import { isSnapshotServed, listSnapshots, snapshotName, snapshotOf } from "./snapshot.ts";
import { dataVolume } from "./stateful-set.ts";

type Status = NonNullable<PaperMCServer["status"]>;

export interface BackupControllerOptions {
  readonly env: Env;
  readonly metrics: MinecraftMetrics;
}

interface BackupOutcome {
  readonly isServed: boolean;
  /** All that exist now, oldest first. */
  readonly snapshots: readonly VolumeSnapshot[];
  readonly made?: { readonly name: string } | { readonly problem: string };
}

const unservedRetryMs = 5 * 60_000;
const readyPollMs = 10_000;
const defaultMaxCount = 10;

/** Makes snapshots by schedule and by request, and keeps as many as are wanted. */
export function backupController({ env, metrics }: BackupControllerOptions): Controller {
  return defineController({
    name: "backup",
    reconciles: PaperMCServer,
    predicates: [or(generationChanged, annotationsChanged)],
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
    reduce: ({ object, decision, outcome, now }) => reduce(object, decision, outcome, now),
  });

  async function act(plan: BackupPlan, context: ActContext<PaperMCServer>): Promise<BackupOutcome> {
    const { object: server, live, write } = context;
    // Taken away before anything is done, so that it is never done twice.
    if (plan.hasRequest) await forgetRequest(context);
    if (plan.kind === "Off") return { isServed: false, snapshots: [] };
    if (!(await isSnapshotServed(context))) return { isServed: false, snapshots: [] };
    const made = plan.kind === "Make" ? await make() : undefined;
    const all = await listSnapshots(server, context);
    const surplus = all.slice(
      0,
      Math.max(0, all.length - (server.spec.backup?.retention?.maxCount ?? defaultMaxCount)),
    );
    for (const old of surplus) await write.delete(VolumeSnapshot, old);
    return { isServed: true, snapshots: all.slice(surplus.length), ...(made && { made }) };

    async function make(): Promise<NonNullable<BackupOutcome["made"]>> {
      if (plan.kind !== "Make") return { problem: "nothing was asked for" };
      const { namespace = "", name: serverName } = server.metadata;
      const claim = `${dataVolume}-${serverName}-0`;
      const claims = await live.list(PersistentVolumeClaim, { namespace, fieldSelector: `metadata.name=${claim}` });
      if (claims.items.length === 0) return { problem: `there is no volume ${claim} to take a snapshot of` };
      const name = snapshotName(server, plan.at);
      await speak(env, server, ["save-all flush", "save-off"], context);
      try {
        const answer = await write.create(VolumeSnapshot, snapshotOf(server, name, plan.trigger));
        return answer.ok || answer.reason === "AlreadyExists" ? { name } : { problem: answer.message };
      } finally {
        // Whatever happened, the server must write to its disk again.
        await speak(env, server, ["save-on"], context);
      }
    }
  }
}

function reduce(server: PaperMCServer, plan: BackupPlan, { isServed, snapshots, made }: BackupOutcome, now: Date) {
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
  const problem = made && "problem" in made ? made.problem : undefined;
  if (!isServed)
    say("BackupReady", false, "VolumeSnapshotAPIUnavailable", "The cluster does not serve snapshot.storage.k8s.io");
  else if (problem !== undefined) say("BackupReady", false, "BackupFailed", problem);
  else say("BackupReady", true, "VolumeSnapshotAPIAvailable", "Snapshots can be made");

  const lastBackup = lastBackupOf(old, plan, made, snapshots, now);
  const isPending = lastBackup?.successful === true && lastBackup.completedAt === undefined;
  const events = made ? [eventOf(made, plan.kind === "Make" ? plan.trigger : "")] : [];
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
  plan: BackupPlan,
  made: BackupOutcome["made"],
  snapshots: readonly VolumeSnapshot[],
  now: Date,
): LastBackup | undefined {
  if (made && plan.kind === "Make") {
    const startedAt = formatTime(plan.trigger === "scheduled" ? plan.at : now);
    if ("problem" in made) return { startedAt, successful: false, trigger: plan.trigger, message: made.problem };
    return { snapshotName: made.name, startedAt, successful: true, trigger: plan.trigger };
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

function eventOf(
  made: NonNullable<BackupOutcome["made"]>,
  trigger: string,
): { readonly type: "Normal" | "Warning"; readonly reason: PaperServerEvent; readonly message: string } {
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

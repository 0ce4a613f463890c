import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatefulSet } from "../../api/builtin/workloads.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import { annotations, labels } from "../../api/well-known.ts";
import { announcements, dueAnnouncements } from "./announcements.ts";
import { controllerName } from "./children.ts";
import { listDigest } from "./plugin-list.ts";
import { pluginDigestAnnotation } from "./stateful-set.ts";
import { planUpdate, type UpdateSnapshot } from "./update-plan.ts";
import { type StepOutcome, updateStatus } from "./update-status.ts";
import { windowAt } from "./update-window.ts";

type Status = NonNullable<PaperMCServer["status"]>;
const none: StepOutcome = { kind: "None" };

function server(status: Status, more: { spec?: Partial<PaperMCServer["spec"]>; asked?: string } = {}): PaperMCServer {
  return {
    apiVersion: "mc.k8s.lex.la/v1beta1",
    kind: "PaperMCServer",
    metadata: {
      name: "survival",
      namespace: "games",
      uid: "u",
      ...(more.asked !== undefined && { annotations: { [annotations.applyNow]: more.asked } }),
    },
    spec: {
      updateStrategy: "auto",
      updateSchedule: {
        checkCron: "0 3 * * *",
        timeZone: "Europe/Berlin",
        maintenanceWindow: { cron: "0 4 * * 0", enabled: true, duration: "2h" },
      },
      gracefulShutdown: { timeout: "300s" },
      rcon: { enabled: false, passwordSecret: { name: "", key: "" }, port: 25575 },
      podTemplate: {},
      ...more.spec,
    },
    status: { currentVersion: "1.20.6", currentBuild: 151, ...status },
  };
}

function set(image: string, isReady: boolean): StatefulSet {
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "survival", namespace: "games", generation: 2, labels: { [labels.controller]: controllerName } },
    spec: {
      replicas: 1,
      selector: {},
      template: {
        metadata: { annotations: { [pluginDigestAnnotation]: listDigest([]) } },
        spec: { containers: [{ name: "papermc", image: `docker.io/lexfrei/papermc:${image}` }] },
      },
    },
    status: { observedGeneration: 2, ...(isReady && { updatedReplicas: 1, readyReplicas: 1 }) },
  };
}

/** The change has been seen, and the pod of before still runs: no pod is of the new template, and zeros are left out. */
const notReplaced = (image: string): StatefulSet => ({
  ...set(image, false),
  status: { observedGeneration: 2, replicas: 1, currentReplicas: 1, readyReplicas: 1 },
});

const update: NonNullable<Status["availableUpdate"]> = {
  version: "1.21.1",
  build: 133,
  releasedAt: "2025-01-01T00:00:00Z",
  foundAt: "2026-01-10T00:00:00Z",
  plugins: [],
};
/** A Sunday, 04:30 in Berlin. */
const inside = new Date("2026-01-18T03:30:00Z");
const outside = new Date("2026-01-18T12:00:00Z");
const at = (one: PaperMCServer, now: Date, workload: StatefulSet = set("1.20.6-151", true)): UpdateSnapshot => ({
  server: one,
  set: workload,
  list: undefined,
  plugins: [],
  now,
});

const windows: readonly {
  readonly name: string;
  readonly now: string;
  readonly enabled?: boolean;
  readonly cron?: string;
  readonly kind: string;
}[] = [
  { name: "open in the server's own time zone", now: "2026-01-18T03:00:00Z", kind: "Open" },
  { name: "open until its duration is over", now: "2026-01-18T04:59:59Z", kind: "Open" },
  { name: "closed when its duration is over", now: "2026-01-18T05:00:00Z", kind: "Closed" },
  { name: "closed before it opens", now: "2026-01-18T02:59:59Z", kind: "Closed" },
  { name: "never when switched off", now: "2026-01-18T03:30:00Z", enabled: false, kind: "Never" },
  { name: "never when it cannot be read", now: "2026-01-18T03:30:00Z", cron: "soon", kind: "Never" },
  { name: "open by name", now: "2026-01-17T23:30:00Z", cron: "@weekly", kind: "Open" },
];
for (const { name, now, enabled = true, cron = "0 4 * * 0", kind } of windows) {
  test(`the window is ${name}`, () => {
    const schedule = {
      checkCron: "@daily",
      timeZone: "Europe/Berlin",
      maintenanceWindow: { cron, enabled, duration: "2h" },
    };
    assert.equal(windowAt(server({}, { spec: { updateSchedule: schedule } }), new Date(now)).kind, kind);
  });
}

const seconds = (time: Date, offset = 0): string => String(Math.floor(time.getTime() / 1_000) + offset);
const beginnings: readonly { readonly name: string; readonly snapshot: UpdateSnapshot; readonly expected: object }[] = [
  { name: "nothing to apply", snapshot: at(server({}), inside), expected: { kind: "Idle", hasOldRequest: false } },
  {
    name: "a request that comes before its update was found stands until it is outdated",
    snapshot: at(server({}, { asked: seconds(outside, -60) }), outside),
    expected: { kind: "Idle", hasOldRequest: false, lookAgainMs: 300_000 },
  },
  {
    name: "a request that found nothing in time is taken away",
    snapshot: at(server({}, { asked: seconds(outside, -301) }), outside),
    expected: { kind: "Idle", hasOldRequest: true },
  },
  {
    name: "inside the window",
    snapshot: at(server({ availableUpdate: update }), inside),
    expected: { kind: "Begin", first: "plugins", isRequested: false },
  },
  {
    name: "outside it waits for the next one",
    snapshot: at(server({ availableUpdate: update }), outside),
    expected: { kind: "Idle", hasOldRequest: false, lookAgainMs: 6 * 86_400_000 + 15 * 3_600_000 + 1_000 },
  },
  {
    name: "outside, when asked for",
    snapshot: at(server({ availableUpdate: update }, { asked: seconds(outside, -60) }), outside),
    expected: { kind: "Begin", first: "plugins", isRequested: true },
  },
  {
    name: "a request that is six minutes old counts no more",
    snapshot: at(server({ availableUpdate: update }, { asked: seconds(outside, -360) }), outside),
    expected: { kind: "Idle", hasOldRequest: true, lookAgainMs: 6 * 86_400_000 + 15 * 3_600_000 + 1_000 },
  },
  {
    name: "with a backup first",
    snapshot: at(
      server({ availableUpdate: update }, { spec: { backup: { enabled: true, beforeUpdate: true } } }),
      inside,
    ),
    expected: { kind: "Begin", first: "backup", isRequested: false },
  },
  {
    name: "what failed in this window is not tried again in it",
    snapshot: at(
      server({
        availableUpdate: update,
        lastUpdate: { appliedAt: "2026-01-18T03:10:00Z", previousVersion: "1.20.6", successful: false },
      }),
      inside,
    ),
    expected: { kind: "Idle", hasOldRequest: false, lookAgainMs: 600_000 },
  },
];
for (const { name, snapshot, expected } of beginnings)
  test(`an update begins: ${name}`, () => assert.deepEqual(planUpdate(snapshot), expected));

/** The status after one look at it: what is planned, what came of it, and what is written. */
function look(status: Status, workload: StatefulSet, outcome: StepOutcome = none): ReturnType<typeof updateStatus> {
  const spec = { backup: { enabled: true, beforeUpdate: true } };
  const snapshot = at(server(status, { spec }), inside, workload);
  return updateStatus(snapshot, planUpdate(snapshot), outcome);
}

test("an update goes through its steps in order, and each is in the status before it is done", () => {
  const snapshotName = "survival-backup-1-before-update";
  const made = { startedAt: "2026-01-18T03:30:00Z", successful: true, trigger: "before-update", snapshotName } as const;
  const saved = { snapshotName, backup: { backupCount: 1, lastBackup: made } };
  const [old, changing, changed] = [set("1.20.6-151", true), set("1.21.1-133", false), set("1.21.1-133", true)];
  const looks: readonly (readonly [StatefulSet, StepOutcome, string | undefined])[] = [
    [old, none, "backup"],
    [old, { kind: "Again", afterMs: 5_000, ...saved }, "backup"],
    [old, { kind: "Next", step: "plugins", ...saved }, "plugins"],
    [old, { kind: "Next", step: "shutdown" }, "shutdown"],
    [old, { kind: "Again", afterMs: 1_000 }, "shutdown"],
    [old, { kind: "Next", step: "restart" }, "restart"],
    [old, none, "restart"],
    [notReplaced("1.21.1-133"), none, "verify"],
    [notReplaced("1.21.1-133"), none, "verify"],
    [changing, none, "verify"],
    [changed, none, undefined],
  ];
  let status: Status = { availableUpdate: update };
  const reasons: string[] = [];
  for (const [workload, outcome, step] of looks) {
    const result = look(status, workload, outcome);
    status = result.status;
    reasons.push(...result.events.map(({ reason }) => reason));
    assert.equal(status.updateProgress?.step, step);
    // Nothing that is under way is forgotten: there is always a next look.
    if (step !== undefined) assert.notEqual(result.requeueAfterMs, undefined);
  }
  assert.deepEqual(reasons, ["UpdateStarted", "UpdateCompleted"]);
  assert.deepEqual(status.backup, saved.backup);
  assert.equal(status.currentVersion, "1.21.1");
  assert.equal(status.lastUpdate?.successful, true);
  assert.equal(status.availableUpdate, undefined);
});

test("a backup that fails ends the update before anything is touched, and both say so", () => {
  const begun = look({ availableUpdate: update }, set("1.20.6-151", true));
  const backup = {
    backupCount: 0,
    lastBackup: { startedAt: "2026-01-18T03:30:00Z", successful: false, trigger: "before-update", message: "no room" },
  } as const;
  const { status, ended } = look(begun.status, set("1.20.6-151", true), { kind: "Failed", message: "no room", backup });
  assert.equal(ended, "failure");
  assert.deepEqual(status.backup, backup);
  assert.equal(status.lastUpdate?.message, "no room");
  assert.equal(status.updateProgress, undefined);
});

test("a version that does not become ready is rolled back, and the record says so", () => {
  const begun = updateStatus(
    at(server({ availableUpdate: update }), inside),
    { kind: "Begin", first: "plugins", isRequested: false },
    none,
  );
  assert.equal(begun.status.updateProgress?.previousImage, "docker.io/lexfrei/papermc:1.20.6-151");
  const verifying: Status = {
    ...begun.status,
    updateProgress: { ...(begun.status.updateProgress as NonNullable<Status["updateProgress"]>), step: "verify" },
  };
  const late = new Date(inside.getTime() + 11 * 60_000);
  const waiting = at(server(verifying), late, set("1.21.1-133", false));
  const plan = planUpdate(waiting);
  assert.deepEqual(plan, { kind: "RollBack", message: "Paper 1.21.1 did not become ready within 10 minutes" });
  const back = updateStatus(waiting, plan, none);
  assert.equal(back.status.updateProgress?.step, "rollback");

  const restored = at(server(back.status), new Date(late.getTime() + 60_000), set("1.20.6-151", true));
  const failed = updateStatus(restored, planUpdate(restored), none);
  assert.equal(failed.ended, "failure");
  assert.equal(failed.status.updateProgress, undefined);
  assert.deepEqual(failed.status.lastUpdate, {
    appliedAt: "2026-01-18T03:42:00Z",
    previousVersion: "1.20.6",
    previousBuild: 151,
    version: "1.21.1",
    build: 133,
    successful: false,
    rolledBack: true,
    message: "Paper 1.21.1 did not become ready within 10 minutes",
  });
  assert.equal(failed.status.currentVersion, "1.20.6");
  assert.deepEqual(
    failed.events.map(({ reason }) => reason),
    ["UpdateRolledBack"],
  );
});

test("what cannot be prepared fails before anybody is disturbed", () => {
  const begun = updateStatus(
    at(server({ availableUpdate: update }), inside),
    { kind: "Begin", first: "plugins", isRequested: false },
    none,
  );
  const preparing = at(server(begun.status), inside);
  const plan = planUpdate(preparing);
  assert.equal(plan.kind, "Prepare");
  const failed = updateStatus(preparing, plan, { kind: "Failed", message: "Plugin x 1: answered 500" });
  assert.equal(failed.status.lastUpdate?.successful, false);
  assert.equal(failed.status.lastUpdate?.rolledBack, false);
  assert.deepEqual(failed.status.availableUpdate, update);
});

test("players are told the truth about the time that is left", () => {
  assert.deepEqual(
    announcements(300).map(({ secondsLeft, command }) => [secondsLeft, command]),
    [
      [300, "say The server restarts for an update in 5 minutes"],
      [120, "say The server restarts for an update in 2 minutes"],
      [60, "say The server restarts for an update in 1 minute"],
      [30, "say The server restarts for an update in 30 seconds"],
      [10, "say The server restarts for an update in 10 seconds"],
      [5, "say The server restarts for an update in 5 seconds"],
      [0, "say The server restarts now"],
    ],
  );
  const all = announcements(300);
  assert.deepEqual(dueAnnouncements(all, 0), { count: 1, nextMs: 180_000 });
  assert.deepEqual(dueAnnouncements(all, 200_000), { count: 2, nextMs: 40_000 });
  assert.deepEqual(dueAnnouncements(all, 300_000), { count: 7 });
});

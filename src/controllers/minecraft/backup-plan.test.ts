import assert from "node:assert/strict";
import { test } from "node:test";
import type { VolumeSnapshot } from "../../api/builtin/volume.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import { annotations } from "../../api/well-known.ts";
import { planBackup, surplusOf } from "./backup-plan.ts";
import { snapshotName } from "./snapshot.ts";

const now = new Date("2026-01-18T12:20:00Z");
const ago = (seconds: number): string => String(now.getTime() / 1_000 - seconds);

interface Given {
  readonly backup?: PaperMCServer["spec"]["backup"];
  readonly asked?: string;
  readonly createdAt?: string;
  readonly last?: Partial<NonNullable<NonNullable<NonNullable<PaperMCServer["status"]>["backup"]>["lastBackup"]>>;
}

function server({ backup, asked, createdAt = "2026-01-01T00:00:00Z", last }: Given): PaperMCServer {
  return {
    apiVersion: "mc.k8s.lex.la/v1beta1",
    kind: "PaperMCServer",
    metadata: {
      name: "survival",
      namespace: "games",
      creationTimestamp: createdAt,
      ...(asked !== undefined && { annotations: { [annotations.backupNow]: asked } }),
    },
    spec: {
      updateStrategy: "auto",
      updateSchedule: {
        checkCron: "0 3 * * *",
        timeZone: "Europe/Berlin",
        maintenanceWindow: { cron: "0 4 * * 0", enabled: true, duration: "1h" },
      },
      gracefulShutdown: { timeout: "300s" },
      rcon: { enabled: false, passwordSecret: { name: "", key: "" }, port: 25575 },
      podTemplate: {},
      ...(backup && { backup }),
    },
    status: last
      ? {
          backup: {
            backupCount: 1,
            lastBackup: { startedAt: "2026-01-18T12:00:00Z", successful: true, trigger: "scheduled", ...last },
          },
        }
      : {},
  };
}

const hourly = { enabled: true, beforeUpdate: true, schedule: "0 * * * *" };
const wait = { kind: "Wait", hasRequest: false, lookAgainMs: 40 * 60_000 + 1_000 };
const cases: readonly { readonly name: string; readonly given: Given; readonly expected: object }[] = [
  { name: "nothing is wanted", given: {}, expected: { kind: "Off", hasRequest: false } },
  {
    name: "a request to a server without backups is only taken away",
    given: { asked: ago(10) },
    expected: { kind: "Off", hasRequest: true },
  },
  {
    name: "a request is met, once: its own time is the snapshot's",
    given: { backup: { enabled: true, beforeUpdate: true }, asked: ago(10) },
    expected: { kind: "Make", trigger: "manual", at: new Date("2026-01-18T12:19:50Z"), hasRequest: true },
  },
  {
    name: "an old request is only taken away",
    given: { backup: { enabled: true, beforeUpdate: true }, asked: ago(301) },
    expected: { kind: "Wait", hasRequest: true },
  },
  {
    name: "so is one from the future, and one that says no time",
    given: { backup: { enabled: true, beforeUpdate: true }, asked: "tomorrow" },
    expected: { kind: "Wait", hasRequest: true },
  },
  {
    name: "a firing that was missed is made up for",
    given: { backup: hourly },
    expected: { kind: "Make", trigger: "scheduled", at: new Date("2026-01-18T12:00:00Z"), hasRequest: false },
  },
  { name: "but only once", given: { backup: hourly, last: {} }, expected: wait },
  { name: "even when it failed", given: { backup: hourly, last: { successful: false } }, expected: wait },
  {
    name: "and not when a snapshot was made for another reason since",
    given: { backup: hourly, last: { trigger: "before-update", startedAt: "2026-01-18T12:10:00Z" } },
    expected: wait,
  },
  {
    name: "what failed for another reason does not count",
    given: { backup: hourly, last: { trigger: "manual", startedAt: "2026-01-18T12:10:00Z", successful: false } },
    expected: { kind: "Make", trigger: "scheduled", at: new Date("2026-01-18T12:00:00Z"), hasRequest: false },
  },
  {
    name: "a firing from before the server was there is none of its own",
    given: { backup: hourly, createdAt: "2026-01-18T12:10:00Z" },
    expected: wait,
  },
  {
    name: "a schedule is read in the server's time zone: 13:00 in Berlin is noon in UTC",
    given: { backup: { ...hourly, schedule: "0 13 * * *" } },
    expected: { kind: "Make", trigger: "scheduled", at: new Date("2026-01-18T12:00:00Z"), hasRequest: false },
  },
  {
    name: "a schedule that cannot be read is named by its field",
    given: { backup: { ...hourly, schedule: "hourly" } },
    expected: {
      kind: "Wait",
      hasRequest: false,
      wrongSchedule:
        'spec.backup.schedule: "hourly" is not a cron expression: expected five fields (minute hour day month weekday) or @daily',
    },
  },
];
for (const { name, given, expected } of cases)
  test(`a snapshot: ${name}`, () => assert.deepEqual(planBackup(server(given), now), expected));

test("the oldest snapshots make room, and the one that an update relies on stays, wherever it stands", () => {
  const kept = server({ backup: { enabled: true, beforeUpdate: true, retention: { maxCount: 1 } } });
  const updateProgress = {
    step: "backup",
    version: "1.21.1",
    build: 133,
    startedAt: "2026-01-18T12:20:00Z",
    snapshotName: "before",
  } as const;
  const updating = { ...kept, status: { ...kept.status, updateProgress } };
  const all = ["before", "manual", "newer"].map((name) => ({ metadata: { name } }) as VolumeSnapshot);
  const names = (of: PaperMCServer): readonly string[] => surplusOf(of, all).map(({ metadata }) => metadata.name);
  assert.deepEqual(names(kept), ["before", "manual"]);
  assert.deepEqual(names(updating), ["manual", "newer"]);
});

test("snapshots for different reasons have different names, even in one second", () => {
  const one = server({});
  assert.equal(snapshotName(one, now, "manual"), "survival-backup-1768738800-manual");
  assert.notEqual(snapshotName(one, now, "manual"), snapshotName(one, now, "before-update"));
});

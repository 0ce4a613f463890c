import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Event } from "../../../src/api/builtin/event.ts";
import { PaperMCServer } from "../../../src/api/papermc-server.ts";
import { annotations } from "../../../src/api/well-known.ts";
import { announcements, dueAnnouncements } from "../../../src/controllers/minecraft/announcements.ts";
import { windowAt } from "../../../src/controllers/minecraft/update-window.ts";
import { findCondition } from "../../../src/kube/condition.ts";
import { eventually } from "../embedded.ts";
import { startRcon } from "../minecraft-rcon.ts";
import { recordHangar, recordPaper } from "../minecraft-recordings.ts";
import { namespace, newPlugin, rconSecret, startMinecraft } from "../minecraft-world.ts";
import type { Gap } from "./gap.ts";
import {
  ask,
  change,
  changePlugin,
  imageOf,
  installedOn,
  openWindow,
  running,
  setOf,
  until,
  updated,
  volume,
  window,
} from "./running.ts";

const twoVersions = { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] };
const pinned = { updateStrategy: "pin", version: "1.20.6" } as const;

/** When something is installed, and how. */
export const updateGaps: readonly Gap[] = [
  {
    number: "B3",
    says: "a plugin-only update is applied in the window although Paper does not move, also on a server with a build-pin",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, twoVersions);
      recordHangar(world.recordings, "homes", { "2.0": { minecraft: ["1.20.6"] }, "1.0": { minecraft: ["1.20.6"] } });
      await newPlugin(world.client, "homes", { updateStrategy: "pin", version: "1.0" });
      const buildPin = { updateStrategy: "build-pin", version: "1.20.6", build: 151 } as const;
      await running(world, "auto", "1.20.6-151", openWindow);
      await running(world, "held", "1.20.6-151", { ...openWindow, ...buildPin });
      assert.deepEqual(installedOn(await world.server("held")), { homes: "1.0" });
      await changePlugin(world, "homes", { updateStrategy: "latest", version: null });
      for (const name of ["auto", "held"]) {
        const server = await updated(world, name, "1.20.6-151");
        assert.deepEqual(installedOn(server), { homes: "2.0" });
        assert.deepEqual(
          [server.status?.lastUpdate?.previousVersion, server.status?.lastUpdate?.version],
          ["1.20.6", "1.20.6"],
        );
      }
    },
  },
  {
    number: "B11",
    says: "one request to apply now is one restart, although others write to the status in the meantime",
    async prove(context) {
      let others = 0;
      const world = await startMinecraft(context, {
        // Just before each status of an update is written, somebody else writes to the same object.
        beforeWrite: async ({ body, target }, client) => {
          if (!target.includes("/survival/status") || !Buffer.from(body ?? []).includes("updateProgress")) return;
          const value = { metadata: { labels: { other: `o${++others}` } } };
          if (others % 2 === 1)
            await client.patch(PaperMCServer, { namespace, name: "survival" }, { type: "merge", value });
        },
      });
      recordPaper(world.recordings, twoVersions);
      recordHangar(world.recordings, "homes", { "2.0": { minecraft: ["1.21.1"] }, "1.0": { minecraft: ["1.20.6"] } });
      await newPlugin(world.client, "homes");
      // Known before the first start, so that it is installed then and there is nothing else to apply.
      await eventually(
        () => world.plugin("homes"),
        ({ status }) => assert.equal(status?.repositoryStatus, "available"),
      );
      await running(world, "survival", "1.20.6-151", pinned);
      await until(world, "survival", (_, server) => assert.deepEqual(installedOn(server), { homes: "1.0" }));
      await ask(world, "survival", "applyNow", { version: "1.21.1" });
      const { metadata } = await updated(world, "survival", "1.21.1-133");
      assert.equal(metadata.annotations?.[annotations.applyNow], undefined);
      assert.equal((await setOf(world, "survival")).metadata.generation, 2, "the pod was replaced once");
      await until(world, "survival", ({ availableUpdate }) => assert.equal(availableUpdate, undefined));
      const { items } = await world.client.list(Event, { namespace });
      const started = items.filter(({ reason }) => reason === "UpdateStarted");
      assert.deepEqual(
        started.map(({ count = 1 }) => count),
        [1],
      );
      assert.ok(others > 2, `${others} writes were disturbed`);
    },
  },
  {
    number: "B12",
    says: "a server that says farewell to its players for long does not keep another one from its update",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, twoVersions);
      const console = await startRcon("secret");
      context.after(() => console.close());
      await rconSecret(world.client, "secret");
      const rcon = { enabled: true, passwordSecret: { name: "rcon", key: "password" }, port: console.port };
      await running(world, "first", "1.20.6-151", { ...pinned, rcon, gracefulShutdown: { timeout: "600s" } });
      for (const name of ["second", "third"]) await running(world, name, "1.20.6-151", pinned);
      await ask(world, "first", "applyNow", { version: "1.21.1" });
      await until(world, "first", ({ updateProgress }) => assert.equal(updateProgress?.step, "shutdown"));
      for (const name of ["second", "third"]) await ask(world, name, "applyNow", { version: "1.21.1" });
      for (const name of ["second", "third"]) await updated(world, name, "1.21.1-133");
      assert.equal((await world.server("first")).status?.updateProgress?.step, "shutdown");
    },
  },
  {
    number: "B13",
    says: "RCON is switched on for the server, and one that does not answer all the same does not keep it from its update",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, twoVersions);
      await rconSecret(world.client, "secret");
      // Nothing listens there.
      const rcon = { enabled: true, passwordSecret: { name: "rcon", key: "password" }, port: 1 };
      await running(world, "survival", "1.20.6-151", { ...pinned, rcon });
      await ask(world, "survival", "applyNow", { version: "1.21.1" });
      await updated(world, "survival", "1.21.1-133");
      assert.ok(world.warnings.some((line) => line.includes("players could not be told of the restart")));
      const [prepare] = (await setOf(world, "survival")).spec.template.spec.initContainers ?? [];
      assert.deepEqual(
        prepare?.env?.map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef?.name]),
        [
          ["RCON_PORT", undefined],
          ["RCON_PASSWORD", "rcon"],
        ],
      );
      const { start, dataDir } = volume(context, world, "survival");
      await start({ port: "25575", password: "secret" });
      assert.equal(
        readFileSync(join(dataDir, "server.properties"), "utf8"),
        "enable-rcon=true\nrcon.port=25575\nrcon.password=secret\n",
      );
    },
  },
  {
    number: "B16",
    says: "a window that is switched off means never by itself, and still when asked to",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, twoVersions);
      await running(world, "off", "1.20.6-151", { ...pinned, ...window({ enabled: false }) });
      await running(world, "on", "1.20.6-151", { ...pinned, ...openWindow });
      await change(world, "off", { version: "1.21.1" });
      await until(world, "off", ({ availableUpdate }) => assert.equal(availableUpdate?.version, "1.21.1"));
      // As long as the other one takes to be found and applied.
      await change(world, "on", { version: "1.21.1" });
      await updated(world, "on", "1.21.1-133");
      const { status } = await world.server("off");
      assert.deepEqual([status && imageOf(status), status?.updateProgress], ["1.20.6-151", undefined]);
      await ask(world, "off", "applyNow");
      await updated(world, "off", "1.21.1-133");
    },
  },
  {
    number: "B17",
    says: "the window opens by a name such as @hourly, in the server's time zone, for as long as it says",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, twoVersions);
      await running(world, "survival", "1.20.6-151", { ...pinned, ...window({ cron: "@hourly", duration: "2h" }) });
      await change(world, "survival", { version: "1.21.1" });
      const server = await updated(world, "survival", "1.21.1-133");
      assert.equal(findCondition(server.status?.conditions, "CronScheduleValid")?.status, "True");
      const { updateSchedule } = window({ cron: "@weekly", duration: "90m" });
      const inTokyo = {
        ...server,
        spec: { ...server.spec, updateSchedule: { ...updateSchedule, timeZone: "Asia/Tokyo" } },
      };
      // Sunday begins in Tokyo at 15:00 of Saturday in UTC.
      const kindAt = (time: string): string => windowAt(inTokyo, new Date(`2026-01-17T${time}Z`)).kind;
      assert.deepEqual(["14:59:59", "15:00:00", "16:29:59", "16:30:00"].map(kindAt), [
        "Closed",
        "Open",
        "Open",
        "Closed",
      ]);
    },
  },
  {
    number: "B21",
    says: "what players are told of the time that is left is true, whatever the time limit is",
    async prove() {
      const units = { minute: 60, minutes: 60, second: 1, seconds: 1 } as const;
      for (const graceSeconds of [1, 7, 45, 90, 300, 3_600]) {
        const all = announcements(graceSeconds);
        for (const [index, { command }] of all.entries()) {
          const [, count, unit] = /in (\d+) (minutes?|seconds?)$/.exec(command) ?? [];
          const promised = unit === undefined ? 0 : Number(count) * units[unit as keyof typeof units];
          // From the moment at which it is said, until the last word.
          const saidAtMs = (graceSeconds - promised) * 1_000;
          assert.equal(dueAnnouncements(all, saidAtMs).count, index + 1, `${command}, of ${graceSeconds} s`);
          assert.equal(dueAnnouncements(all, saidAtMs - 1).count, index, `${command}, of ${graceSeconds} s`);
        }
        assert.equal(all.at(-1)?.command, "say The server restarts now");
      }
    },
  },
];

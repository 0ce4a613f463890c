import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { Event } from "../../src/api/builtin/event.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { VolumeSnapshot } from "../../src/api/builtin/volume.ts";
import { StatefulSet } from "../../src/api/builtin/workloads.ts";
import { PaperMCServer } from "../../src/api/papermc-server.ts";
import { Plugin } from "../../src/api/plugin.ts";
import { annotations } from "../../src/api/well-known.ts";
import type { Env } from "../../src/env/env.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { customResourceDefinition } from "../../src/kube/crd.ts";
import { simulateAnnotation } from "../../src/localnode/pod/simulate.ts";
import { eventually, startEmbedded } from "./embedded.ts";
import { startRcon } from "./minecraft-rcon.ts";
import { recordHangar, recordPaper, startRecordings } from "./minecraft-recordings.ts";
import { namespace, newPlugin, newServer, rconSecret } from "./minecraft-world.ts";

const key = { namespace, name: "survival" };
const minuteMs = 60_000;
const command = [process.execPath, join(import.meta.dirname, "prepare-program.ts")];

test("on a whole control plane, updates succeed with a backup and farewells, or are rolled back", async (context) => {
  let aheadMs = 0;
  const env: Env = { ...systemEnv, now: () => new Date(systemEnv.now().getTime() + aheadMs) };
  const recordings = await startRecordings();
  context.after(() => recordings.server.close());
  const { client, dataDir } = await startEmbedded(context, [], { env, command, baseUrls: recordings.baseUrls });
  const rcon = await startRcon("secret");
  context.after(() => rcon.close());
  const definition = customResourceDefinition(VolumeSnapshot);
  const approved = { "api-approved.kubernetes.io": "unapproved, for a test" };
  await client.create(CustomResourceDefinition, {
    ...definition,
    metadata: { ...definition.metadata, annotations: approved },
  });
  await client.create(Namespace, { metadata: { name: namespace } });
  await rconSecret(client, "secret");

  const server = (): Promise<PaperMCServer> => client.get(PaperMCServer, key);
  const untilStatus = (passes: (status: NonNullable<PaperMCServer["status"]>) => void): Promise<PaperMCServer> =>
    eventually(server, ({ status }) => passes(status ?? {}));
  /** Any change is a reason to look at the clock, before the time for it has come. */
  let touches = 0;
  const touch = (): Promise<unknown> =>
    client.patch(PaperMCServer, key, {
      type: "merge",
      value: { metadata: { annotations: { touched: String(++touches) } } },
    });
  const untilReady = (image: string): Promise<StatefulSet> =>
    eventually(
      () => client.get(StatefulSet, key),
      ({ spec, status, metadata }) => {
        assert.equal(spec.template.spec.containers[0]?.image, `docker.io/lexfrei/papermc:${image}`);
        assert.equal(status?.observedGeneration, metadata.generation);
        assert.deepEqual([status?.updatedReplicas, status?.readyReplicas], [1, 1]);
      },
    );
  const eventsOf = async (reason: string): Promise<readonly string[]> =>
    (await client.list(Event, { namespace })).items
      .filter((event) => event.reason === reason && event.involvedObject.name === "survival")
      .flatMap(({ message = "", count = 1 }) => Array.from({ length: count }, () => message));
  /** Events of an earlier hour are gone by then. */
  const startsTo = async (version: string): Promise<number> =>
    (await eventsOf("UpdateStarted")).filter((text) => text.includes(version)).length;
  const untilTold = (reason: string, message: RegExp): Promise<readonly string[]> =>
    eventually(
      () => eventsOf(reason),
      (told) =>
        assert.ok(
          told.some((text) => message.test(text)),
          `${reason}: ${told.join("; ")}`,
        ),
    );
  const jar = (): string => {
    const [path, ...others] = globSync(`${dataDir}/**/plugins/homes.jar`);
    assert.ok(path !== undefined && others.length === 0, `${path} ${others.join()}`);
    return readFileSync(path, "utf8");
  };

  recordPaper(recordings, { "1.21.4": [{ id: 232 }], "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] });
  const homes = { "2.21.0": { minecraft: ["1.20.6"] }, "2.22.0": { minecraft: ["1.21.1"] } };
  recordHangar(recordings, "homes", { "2.21.0": homes["2.21.0"] });
  // Two hours from now, so that the window is closed until the clock is put forward.
  const opensAt = new Date(Math.ceil(env.now().getTime() / (60 * minuteMs)) * 60 * minuteMs + 60 * minuteMs);

  await context.test("the first start fetches the jars into its volume, and becomes ready", async () => {
    await newPlugin(client, "homes");
    await newServer(client, "survival", rcon.port, {
      updateSchedule: {
        checkCron: "0 3 * * *",
        timeZone: "UTC",
        maintenanceWindow: { cron: `0 ${opensAt.getUTCHours()} * * *`, enabled: true, duration: "1h" },
      },
      backup: { enabled: true, beforeUpdate: true, retention: { maxCount: 5 } },
      // The console listens on this machine.
      podTemplate: { spec: { hostNetwork: true, containers: [{ name: "minecraft" }] } },
    });
    await untilReady("1.20.6-151");
    assert.equal(jar(), "homes 2.21.0");
    await untilStatus((status) => {
      assert.equal(status.currentVersion, "1.20.6");
      assert.equal(findCondition(status.conditions, "BackupReady")?.status, "True");
      assert.equal(findCondition(status.conditions, "StatefulSetReady")?.status, "True");
    });
  });

  await context.test(
    "asked for, an update is backed up, announced, stopped cleanly, installed and recorded",
    async () => {
      recordHangar(recordings, "homes", homes);
      await client.patch(
        Plugin,
        { namespace, name: "homes" },
        { type: "merge", value: { spec: { updateDelay: "1h" } } },
      );
      await untilStatus(({ availableUpdate }) => assert.equal(availableUpdate?.version, "1.21.1"));
      const applyNow = String(Math.floor(env.now().getTime() / 1_000));
      await client.patch(PaperMCServer, key, {
        type: "merge",
        value: { metadata: { annotations: { [annotations.applyNow]: applyNow } } },
      });
      await saveSnapshot();
      await untilReady("1.21.1-133");
      const { status } = await untilStatus(({ lastUpdate }) => assert.equal(lastUpdate?.successful, true));
      assert.equal(status?.currentVersion, "1.21.1");
      assert.equal(status?.lastUpdate?.previousVersion, "1.20.6");
      assert.equal(status?.backup?.lastBackup?.trigger, "before-update");
      assert.deepEqual(rcon.commands.slice(0, 3), ["save-all flush", "save-off", "save-on"]);
      assert.deepEqual(rcon.commands.slice(-3), ["say The server restarts now", "save-all flush", "stop"]);
      assert.equal(jar(), "homes 2.22.0");
      await untilTold("UpdateCompleted", /Paper 1\.21\.1 build 133 runs/);
    },
  );

  await context.test(
    "in the window, one that does not become ready is rolled back, and not tried again in it",
    async () => {
      recordHangar(recordings, "homes", { ...homes, "3.0.0": { minecraft: ["1.21.4"] } });
      // Good when it is checked, and something else when the pod wants it.
      const path = "/jars/homes-3.0.0.jar";
      const good = recordings.answers.get(path);
      recordings.answers.set(path, () => (recordings.count(path) > 1 ? Buffer.from("something else") : good));
      await client.patch(
        Plugin,
        { namespace, name: "homes" },
        { type: "merge", value: { spec: { updateDelay: "2h" } } },
      );
      await untilStatus(({ availableUpdate }) => assert.equal(availableUpdate?.version, "1.21.4"));
      assert.equal(await startsTo("1.21.4"), 0, "outside the window nothing begins by itself");

      putClockTo(new Date(opensAt.getTime() + 5 * minuteMs));
      await touch();
      await saveSnapshot();
      await eventually(
        () => client.get(Pod, { namespace, name: "survival-0" }),
        ({ spec, status }) => {
          assert.equal(spec.containers[0]?.image, "docker.io/lexfrei/papermc:1.21.4-232");
          assert.ok(
            status?.initContainerStatuses?.some(({ lastState, state }) =>
              [lastState, state].some((one) => (one?.terminated?.exitCode ?? 0) > 0),
            ),
          );
        },
      );
      await untilStatus(({ updateProgress }) => assert.equal(updateProgress?.step, "verify"));
      assert.equal(jar(), "homes 2.22.0", "what is not the promised jar is not installed");

      putClockTo(new Date(opensAt.getTime() + 20 * minuteMs));
      await touch();
      await untilReady("1.21.1-133");
      const { status } = await untilStatus(({ lastUpdate, updateProgress }) => {
        assert.equal(lastUpdate?.successful, false);
        assert.equal(updateProgress, undefined);
      });
      const { appliedAt: _, ...record } = status?.lastUpdate ?? { appliedAt: "" };
      const snapshot = status?.backup?.lastBackup?.snapshotName;
      assert.deepEqual(record, {
        previousVersion: "1.21.1",
        previousBuild: 133,
        version: "1.21.4",
        build: 232,
        successful: false,
        rolledBack: true,
        message: `Paper 1.21.4 did not become ready within 10 minutes; the world before it is in VolumeSnapshot ${snapshot}`,
      });
      assert.equal(status?.currentVersion, "1.21.1");
      assert.equal(status?.plugins?.[0]?.currentVersion, "2.22.0");
      assert.equal(findCondition(status?.conditions, "Updating")?.reason, "UpdateRolledBack");
      assert.equal(jar(), "homes 2.22.0");
      await untilTold("UpdateFailed", /did not become ready within 10 minutes; the previous version is put back/);
      await untilTold("UpdateRolledBack", /did not become ready within 10 minutes/);

      assert.equal(await startsTo("1.21.4"), 1);
      for (let look = 0; look < 3; look++) {
        await touch();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const after = await server();
      assert.equal(after.status?.availableUpdate?.version, "1.21.4", "it is still there to be had");
      assert.equal(after.status?.updateProgress, undefined, "and not tried again at once");
      await untilReady("1.21.1-133");
    },
  );

  await context.test("the next window tries it again, and now it succeeds", async () => {
    recordings.answers.set("/jars/homes-3.0.0.jar", Uint8Array.from(Buffer.from("homes 3.0.0")));
    putClockTo(new Date(opensAt.getTime() + (24 * 60 + 5) * minuteMs));
    await touch();
    await saveSnapshot();
    await untilReady("1.21.4-232");
    await untilStatus(({ lastUpdate, currentVersion }) => {
      assert.equal(lastUpdate?.successful, true);
      assert.equal(currentVersion, "1.21.4");
    });
    assert.equal(jar(), "homes 3.0.0");
  });

  await context.test("a pod that never becomes ready is replaced as soon as its template is mended", async () => {
    const simulating = (behaviour: string | null): Promise<unknown> =>
      client.patch(PaperMCServer, key, {
        type: "merge",
        value: { spec: { podTemplate: { metadata: { annotations: { [simulateAnnotation]: behaviour } } } } },
      });
    await simulating("never-ready");
    await eventually(
      () => client.get(StatefulSet, key),
      ({ status, metadata }) => {
        assert.equal(status?.observedGeneration, metadata.generation);
        assert.deepEqual([status?.updatedReplicas, status?.readyReplicas], [1, undefined]);
      },
    );
    await simulating(null);
    await untilReady("1.21.4-232");
  });

  function putClockTo(time: Date): void {
    aheadMs = time.getTime() - systemEnv.now().getTime();
  }

  /** Plays the storage: a snapshot that was asked for becomes ready. */
  async function saveSnapshot(): Promise<void> {
    const { items } = await eventually(
      () => client.list(VolumeSnapshot, { namespace }),
      (list) => assert.ok(list.items.some(({ status }) => status?.readyToUse !== true)),
    );
    for (const { metadata, status } of items) {
      if (status?.readyToUse === true) continue;
      const patch = { type: "merge", value: { status: { readyToUse: true } } } as const;
      await client.patch(VolumeSnapshot, { namespace, name: metadata.name }, patch, { subresource: "status" });
    }
    await touch();
  }
});

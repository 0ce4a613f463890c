import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "../../src/api/builtin/configuration.ts";
import { Event } from "../../src/api/builtin/event.ts";
import { Service } from "../../src/api/builtin/service.ts";
import { StatefulSet } from "../../src/api/builtin/workloads.ts";
import { PaperMCServer } from "../../src/api/papermc-server.ts";
import { Plugin } from "../../src/api/plugin.ts";
import { annotations } from "../../src/api/well-known.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { eventually } from "./embedded.ts";
import { startRcon } from "./minecraft-rcon.ts";
import { recordHangar, recordPaper } from "./minecraft-recordings.ts";
import { namespace, newPlugin, newServer, rconSecret, startMinecraft } from "./minecraft-world.ts";

const paper = {
  "1.21.4": [{ id: 232 }],
  "1.21.1": [{ id: 133 }],
  "1.20.6": [
    { id: 149, time: "2024-08-01T00:00:00.000Z" },
    { id: 151, time: "2024-09-01T00:00:00.000Z" },
    { id: 150, time: "2024-08-15T00:00:00.000Z" },
    { id: 152, time: "2024-10-01T00:00:00.000Z", channel: "ALPHA" },
  ],
  "1.20.4": [{ id: 499 }],
};

test("a server follows its plugins: chosen, run, blocked, freed, updated with farewells, and a plugin leaves", async (context) => {
  const world = await startMinecraft(context);
  const { client, recordings } = world;
  recordPaper(recordings, paper);
  recordHangar(recordings, "essentialsx", {
    "2.22.0-dev": { minecraft: ["1.20.4", "1.20.6"], channel: "Snapshot" },
    "2.21.0": { minecraft: ["1.20.4", "1.20.6", "1.21.1"] },
    "2.20.1": { minecraft: ["1.19.4", "1.20.4"] },
  });
  recordHangar(recordings, "old-plugin", { "1.5.0": { minecraft: ["1.20.4", "1.20.6"] } });
  const rcon = await startRcon("secret");
  context.after(() => rcon.close());
  await rconSecret(client, "secret");
  await newPlugin(client, "essentialsx");
  await newPlugin(client, "old-plugin");
  await newServer(client, "survival", rcon.port);

  await eventually(
    () => world.server("survival"),
    ({ status }) => {
      assert.equal(status?.currentVersion, "1.20.6");
      // The newest settled build by time, wherever it stands in the list.
      assert.equal(status.currentBuild, 151);
      assert.equal(status.updateBlocked?.reason, "Plugin 'old-plugin' is incompatible with Paper 1.21.1, 1.21.4");
      assert.deepEqual(status.updateBlocked?.blockedBy, {
        plugin: "old-plugin",
        version: "1.5.0",
        supportedVersions: ["1.20.6", "1.20.4"],
      });
      assert.equal(findCondition(status.conditions, "UpdateBlocked")?.status, "True");
      assert.equal(findCondition(status.conditions, "Ready")?.reason, "ReconcileSuccess");
      assert.equal(findCondition(status.conditions, "CronScheduleValid")?.status, "True");
    },
  );
  const set = await client.get(StatefulSet, { namespace, name: "survival" });
  const [container] = set.spec.template.spec.containers;
  assert.equal(container?.name, "minecraft");
  assert.equal(container?.image, "docker.io/lexfrei/papermc:1.20.6-151");
  assert.deepEqual(set.spec.template.spec.initContainers?.[0]?.command?.slice(0, 2), ["capstan", "prepare-minecraft"]);
  const service = await client.get(Service, { namespace, name: "survival" });
  assert.deepEqual(
    service.spec.ports?.map(({ name, port }) => [name, port]),
    [["minecraft", 25565]],
  );
  const list = await client.get(ConfigMap, { namespace, name: "survival-plugins" });
  assert.match(list.data?.["plugins.json"] ?? "", /essentialsx-2\.21\.0\.jar/);
  await eventually(
    () => world.plugin("essentialsx"),
    ({ status, metadata }) => {
      assert.equal(status?.resolvedVersion, "2.21.0");
      assert.equal(status.repositoryStatus, "available");
      assert.deepEqual(status.matchedInstances, [{ name: "survival", namespace, version: "1.20.6", compatible: true }]);
      assert.equal(findCondition(status.conditions, "Compatible")?.reason, "AllServersCompatible");
      assert.deepEqual(metadata.finalizers, ["mc.k8s.lex.la/plugin-cleanup"]);
    },
  );
  await world.playNode();
  await eventually(
    () => world.server("survival"),
    ({ status }) => assert.equal(findCondition(status?.conditions, "StatefulSetReady")?.status, "True"),
  );

  // The plugin that held it learns a newer version; asked again because its spec changes.
  recordHangar(recordings, "old-plugin", {
    "1.6.0": { minecraft: ["1.21.1"] },
    "1.5.0": { minecraft: ["1.20.4", "1.20.6"] },
  });
  await client.patch(
    Plugin,
    { namespace, name: "old-plugin" },
    { type: "merge", value: { spec: { updateDelay: "1h" } } },
  );
  await eventually(
    () => world.server("survival"),
    ({ status }) => {
      assert.equal(status?.availableUpdate?.version, "1.21.1");
      assert.deepEqual(
        status.availableUpdate.plugins.map(({ pluginRef, version }) => [pluginRef.name, version]),
        [
          ["essentialsx", "2.21.0"],
          ["old-plugin", "1.6.0"],
        ],
      );
      // The window is closed, so what fits stays installed.
      assert.equal(status.currentVersion, "1.20.6");
      assert.equal(status.plugins?.find(({ pluginRef }) => pluginRef.name === "old-plugin")?.currentVersion, "1.5.0");
    },
  );
  assert.deepEqual(rcon.commands, []);

  const now = String(Math.floor(systemEnv.now().getTime() / 1_000));
  await client.patch(
    PaperMCServer,
    { namespace, name: "survival" },
    { type: "merge", value: { metadata: { annotations: { [annotations.applyNow]: now } } } },
  );
  await eventually(
    () => client.get(StatefulSet, { namespace, name: "survival" }),
    ({ spec }) => assert.equal(spec.template.spec.containers[0]?.image, "docker.io/lexfrei/papermc:1.21.1-133"),
  );
  // A machine that is busy may come too late for the first announcement, but never says one twice.
  assert.deepEqual(rcon.commands.slice(-3), ["say The server restarts now", "save-all flush", "stop"]);
  assert.ok(rcon.commands.length <= 4, rcon.commands.join("; "));
  if (rcon.commands.length === 4) assert.equal(rcon.commands[0], "say The server restarts for an update in 2 seconds");
  await world.playNode();
  const updated = await eventually(
    () => world.server("survival"),
    ({ status }) => {
      assert.equal(status?.lastUpdate?.successful, true);
      assert.equal(status.currentVersion, "1.21.1");
      assert.equal(status.updateProgress, undefined);
      assert.equal(status.availableUpdate, undefined);
      assert.equal(findCondition(status.conditions, "Updating")?.reason, "UpdateComplete");
    },
  );
  assert.equal(updated.metadata.annotations?.[annotations.applyNow], undefined);
  assert.equal(updated.status?.lastUpdate?.previousVersion, "1.20.6");
  assert.equal(
    updated.status?.plugins?.find(({ pluginRef }) => pluginRef.name === "old-plugin")?.currentVersion,
    "1.6.0",
  );
  assert.ok(recordings.count("/jars/old-plugin-1.6.0.jar") >= 1, "the jar was checked before the server was disturbed");

  await client.delete(Plugin, { namespace, name: "old-plugin" });
  await eventually(
    () =>
      client.get(Plugin, { namespace, name: "old-plugin" }).then(
        () => "there",
        (error: unknown) => (isNotFound(error) ? "gone" : Promise.reject(error)),
      ),
    (state) => assert.equal(state, "gone"),
  );
  await eventually(
    () => world.server("survival"),
    ({ status }) => {
      const leaving = status?.plugins?.find(({ pluginRef }) => pluginRef.name === "old-plugin");
      assert.equal(leaving?.pendingDeletion, true);
      assert.deepEqual(
        status?.availableUpdate?.plugins.map(({ pluginRef }) => pluginRef.name),
        ["essentialsx"],
      );
    },
  );
  const told = [
    "UpdateAvailable",
    "UpdateBlocked",
    "UpdateStarted",
    "PluginDownloaded",
    "UpdateCompleted",
    "PluginsResolved",
    "Resolved",
    "MatchedServers",
  ];
  // Events follow the status that they tell of.
  await eventually(
    () => client.list(Event, { namespace }),
    ({ items }) => {
      const reasons = new Set(items.map(({ reason }) => reason));
      assert.deepEqual(
        told.filter((reason) => !reasons.has(reason)),
        [],
      );
    },
  );
  const exposed = world.manager.metrics.expose();
  for (const name of [
    'minecraft_operator_updates_total{result="success"} 1',
    "minecraft_operator_solver_runs_total",
    'minecraft_operator_plugin_api_requests_total{source="hangar"}',
  ])
    assert.ok(exposed.includes(name), name);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Event } from "../../src/api/builtin/event.ts";
import { StatefulSet } from "../../src/api/builtin/workloads.ts";
import { PaperMCServer } from "../../src/api/papermc-server.ts";
import { annotations } from "../../src/api/well-known.ts";
import { systemEnv } from "../../src/env/system.ts";
import { eventually } from "./embedded.ts";
import { recordHangar, recordPaper } from "./minecraft-recordings.ts";
import { namespace, newPlugin, newServer, startMinecraft } from "./minecraft-world.ts";

const key = { namespace, name: "survival" };
const rcon = { enabled: false, passwordSecret: { name: "", key: "" }, port: 25_575 };

test("an update whose last word comes too late is told and counted once", async (context) => {
  let conflicts = 0;
  const world = await startMinecraft(context, {
    // Somebody else is always a moment faster, so that the first status that says it is refused.
    beforeWrite: async ({ body, target }, client) => {
      const isLastWord = target.includes("/status") && Buffer.from(body ?? []).includes('"successful":true');
      if (!isLastWord || conflicts > 0) return;
      conflicts += 1;
      const value = { metadata: { labels: { faster: "yes" } } };
      await client.patch(PaperMCServer, key, { type: "merge", value });
    },
  });
  const { client } = world;
  recordPaper(world.recordings, { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] });
  await newServer(client, "survival", 25_575, { rcon, updateStrategy: "pin", version: "1.20.6" });
  await eventually(
    () => world.server("survival"),
    ({ status }) => assert.equal(status?.currentVersion, "1.20.6"),
  );
  await world.playNode();
  const applyNow = String(Math.floor(systemEnv.now().getTime() / 1_000));
  const value = { metadata: { annotations: { [annotations.applyNow]: applyNow } }, spec: { version: "1.21.1" } };
  await client.patch(PaperMCServer, key, { type: "merge", value });
  await eventually(
    () => client.get(StatefulSet, key),
    ({ spec }) => assert.equal(spec.template.spec.containers[0]?.image, "docker.io/lexfrei/papermc:1.21.1-133"),
  );
  await world.playNode();
  await eventually(
    () => world.server("survival"),
    ({ status }) => assert.equal(status?.lastUpdate?.successful, true),
  );
  const { items } = await eventually(
    () => client.list(Event, { namespace }),
    (list) => assert.ok(list.items.some(({ reason }) => reason === "UpdateCompleted")),
  );
  assert.equal(conflicts, 1);
  assert.equal(
    items.filter(({ reason }) => reason === "UpdateCompleted").reduce((sum, { count = 1 }) => sum + count, 0),
    1,
  );
  assert.match(world.manager.metrics.expose(), /minecraft_operator_updates_total\{result="success"\} 1\n/);
});

test("what the first start installs stays installed, even if the status that says so comes too late", async (context) => {
  let conflicts = 0;
  const world = await startMinecraft(context, {
    beforeWrite: async ({ body, target }, client) => {
      const saysIt =
        target.includes("/papermcservers/survival/status") && Buffer.from(body ?? []).includes("homes.jar");
      if (!saysIt || conflicts > 0) return;
      conflicts += 1;
      await client.patch(PaperMCServer, key, { type: "merge", value: { metadata: { labels: { faster: "yes" } } } });
    },
  });
  const { client, recordings } = world;
  recordPaper(recordings, { "1.21.1": [{ id: 133 }] });
  recordHangar(recordings, "homes", { "2.21.0": { minecraft: ["1.21.1"] } });
  await newPlugin(client, "homes");
  await newServer(client, "survival", 25_575, { rcon });
  const { status } = await eventually(
    () => world.server("survival"),
    (server) => assert.equal(server.status?.plugins?.[0]?.currentVersion, "2.21.0"),
  );
  assert.equal(conflicts, 1);
  assert.equal(status?.plugins?.[0]?.installedJarName, "homes.jar");
  await eventually(
    () => world.server("survival"),
    (server) => assert.equal(server.status?.availableUpdate, undefined),
  );
  const { metadata } = await client.get(StatefulSet, key);
  assert.equal(metadata.generation, 1, "the pod was not replaced for it");
});

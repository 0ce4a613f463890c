import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { Event } from "../../src/api/builtin/event.ts";
import { StatefulSet } from "../../src/api/builtin/workloads.ts";
import { PaperMCServer } from "../../src/api/papermc-server.ts";
import { Plugin } from "../../src/api/plugin.ts";
import { annotations } from "../../src/api/well-known.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { eventually } from "./embedded.ts";
import { startRcon } from "./minecraft-rcon.ts";
import { handled, recordHangar, recordPaper } from "./minecraft-recordings.ts";
import { namespace, newPlugin, newServer, rconSecret, startMinecraft } from "./minecraft-world.ts";

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

test("a host that has trouble for a moment when its jar is wanted does not end the update", async (context) => {
  const world = await startMinecraft(context);
  const { client, recordings } = world;
  recordPaper(recordings, { "1.21.1": [{ id: 133 }] });
  recordHangar(recordings, "homes", { "1.0": { minecraft: ["1.21.1"] } });
  const path = "/jars/homes-1.0.jar";
  const jar = recordings.answers.get(path);
  recordings.answers.set(path, (_: URLSearchParams, response: ServerResponse) => {
    recordings.answers.set(path, jar);
    response.writeHead(503, { "retry-after": "1" }).end();
    return handled;
  });
  await newServer(client, "survival", 25_575, { rcon });
  await eventually(
    () => world.server("survival"),
    ({ status }) => assert.equal(status?.currentVersion, "1.21.1"),
  );
  await world.playNode();
  await newPlugin(client, "homes");
  await eventually(
    () => world.server("survival"),
    ({ status }) => assert.equal(status?.availableUpdate?.plugins.length, 1),
  );
  const applyNow = String(Math.floor(systemEnv.now().getTime() / 1_000));
  const value = { metadata: { annotations: { [annotations.applyNow]: applyNow } } };
  await client.patch(PaperMCServer, key, { type: "merge", value });
  await eventually(
    async () => {
      await world.playNode();
      return world.server("survival");
    },
    ({ status }) => assert.equal(status?.lastUpdate?.successful, true, status?.lastUpdate?.message),
  );
  assert.equal(recordings.count(path), 2);
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

test("nothing is lost or done twice when every second status comes too late", async (context) => {
  let [statuses, snags] = [0, 0];
  const world = await startMinecraft(context, {
    beforeWrite: async ({ target }, client) => {
      const found = /\/(papermcservers|plugins)\/([^/]+)\/status/.exec(target);
      if (!found || ++statuses % 2 === 0) return;
      const value = { metadata: { labels: { snag: `s${++snags}` } } };
      const one = { namespace, name: found[2] ?? "" };
      const patch = { type: "merge", value } as const;
      const touched =
        found[1] === "plugins" ? client.patch(Plugin, one, patch) : client.patch(PaperMCServer, one, patch);
      // It may be gone by now.
      await touched.catch(() => undefined);
    },
  });
  const { client, recordings } = world;
  recordPaper(recordings, { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] });
  recordHangar(recordings, "homes", { "2.21.0": { minecraft: ["1.20.6", "1.21.1"] } });
  recordHangar(recordings, "market", { "1.5.0": { minecraft: ["1.20.6"] } });
  const console = await startRcon("secret");
  context.after(() => console.close());
  await rconSecret(client, "secret");
  await newPlugin(client, "homes");
  await newPlugin(client, "market");
  await newServer(client, "survival", console.port);
  const installed = (expected: Readonly<Record<string, string | undefined>>): Promise<PaperMCServer> =>
    eventually(
      () => world.server("survival"),
      ({ status }) =>
        assert.deepEqual(
          Object.fromEntries(
            (status?.plugins ?? []).map(({ pluginRef, currentVersion }) => [pluginRef.name, currentVersion]),
          ),
          expected,
        ),
    );
  await installed({ homes: "2.21.0", market: "1.5.0" });
  await world.playNode();
  await eventually(
    () => world.server("survival"),
    ({ status }) => assert.equal(findCondition(status?.conditions, "StatefulSetReady")?.status, "True"),
  );
  assert.equal((await client.get(StatefulSet, key)).metadata.generation, 1);

  await client.delete(Plugin, { namespace, name: "market" });
  await eventually(
    () => world.server("survival"),
    ({ status }) => assert.equal(status?.availableUpdate?.version, "1.21.1"),
  );
  const applyNow = String(Math.floor(systemEnv.now().getTime() / 1_000));
  await client.patch(PaperMCServer, key, {
    type: "merge",
    value: { metadata: { annotations: { [annotations.applyNow]: applyNow } } },
  });
  await eventually(
    () => client.get(StatefulSet, key),
    ({ spec }) => assert.equal(spec.template.spec.containers[0]?.image, "docker.io/lexfrei/papermc:1.21.1-133"),
  );
  await world.playNode();
  const { status, metadata } = await installed({ homes: "2.21.0" });
  assert.equal(status?.lastUpdate?.successful, true);
  assert.equal(metadata.annotations?.[annotations.applyNow], undefined);
  assert.equal((await client.get(StatefulSet, key)).metadata.generation, 2, "the pod was replaced once");
  assert.equal(console.commands.filter((command) => command === "stop").length, 1);
  assert.match(world.manager.metrics.expose(), /minecraft_operator_updates_total\{result="success"\} 1\n/);
  assert.ok(snags > 5, `${snags} statuses came too late`);
});

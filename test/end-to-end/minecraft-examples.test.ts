import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigMap } from "../../src/api/builtin/configuration.ts";
import { Event } from "../../src/api/builtin/event.ts";
import { NetworkPolicy } from "../../src/api/builtin/network-policy.ts";
import { Service } from "../../src/api/builtin/service.ts";
import { StatefulSet } from "../../src/api/builtin/workloads.ts";
import { withDemoJars, withDemoRepositories } from "../../src/controllers/minecraft/demo-repositories.ts";
import { createOutside } from "../../src/controllers/minecraft/outside.ts";
import { listFile } from "../../src/controllers/minecraft/plugin-list.ts";
import { prepareServer } from "../../src/controllers/minecraft/prepare-server.ts";
import { zip } from "../../src/controllers/minecraft/zip-writing.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { HttpHandler } from "../../src/http/message.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { eventually } from "./embedded.ts";
import { recordHangar, recordPaper } from "./minecraft-recordings.ts";
import { namespace, startMinecraft } from "./minecraft-world.ts";

const noNetwork: HttpHandler = ({ target }) => Promise.reject(new Error(`${target} was asked for`));

test("the demo's servers are decided, held back and prepared without a network", async (context) => {
  const world = await startMinecraft(context, { around: withDemoRepositories, isReal: true });
  await world.apply(["demo/30-minecraft.yaml"]);
  await eventually(
    () => world.server("survival", "minecraft-demo"),
    ({ status }) => {
      assert.equal(status?.currentVersion, "1.20.6");
      assert.equal(status.updateBlocked?.reason, "Plugin 'market' is incompatible with Paper 1.21.1, 1.21.4");
      assert.deepEqual(status.updateBlocked?.blockedBy?.supportedVersions, ["1.20.6", "1.20.4"]);
    },
  );
  await eventually(
    () => world.server("creative", "minecraft-demo"),
    ({ status }) => {
      assert.equal(status?.currentVersion, "1.21.4");
      assert.equal(status.updateBlocked?.blocked, false);
    },
  );
  await eventually(
    () => world.plugin("homes", "minecraft-demo"),
    ({ status }) => assert.equal(status?.resolvedVersion, "2.21.0"),
  );

  const { items } = await eventually(
    () => world.client.list(Event, { namespace: "minecraft-demo" }),
    (events) => assert.ok(events.items.some(({ reason }) => reason === "UpdateBlocked")),
  );
  const misleading = items.filter(({ message }) => /known yet|this server and all other/.test(message ?? ""));
  assert.deepEqual(
    misleading.map(({ message }) => message),
    [],
    "nobody is warned before the first facts are there",
  );

  const list = await world.client.get(ConfigMap, { namespace: "minecraft-demo", name: "survival-plugins" });
  const folder = mkdtempSync(join(tmpdir(), "capstan-demo-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const listPath = join(folder, listFile);
  writeFileSync(listPath, list.data?.[listFile] ?? "");
  const said: string[] = [];
  await prepareServer({
    listPath,
    dataDir: folder,
    outside: createOutside({ env: systemEnv, fetch: withDemoJars(noNetwork), userAgent: "test" }),
    say: (line) => said.push(line),
  });
  assert.deepEqual(said.sort(), ["homes 2.21.0 was installed", "market 1.5.0 was installed"]);
  assert.equal(
    readFileSync(join(folder, "plugins", "market.jar"))
      .subarray(0, 2)
      .toString(),
    "PK",
  );
});

test("a repository that was chosen, and all that is not the demo's, is asked itself", async () => {
  const asked: string[] = [];
  const fetch = withDemoRepositories((request) => {
    asked.push(request.target);
    return noNetwork(request);
  });
  const others = [
    "https://hangar.papermc.io/api/v1/projects/Essentials",
    "http://mirror.example.com/api/v1/projects/capstan-demo-homes",
  ];
  for (const target of others) await assert.rejects(fetch({ method: "GET", target, headers: {} }));
  assert.deepEqual(asked, others);
});

test("the examples apply, and each server gets what it asks for", async (context) => {
  const jar = zip({ "plugin.yml": "name: HouseRules\nversion: 1.0.0\n" });
  const world = await startMinecraft(context, {
    around: (fetch) => async (request) => {
      if (!request.target.startsWith("https://")) return fetch(request);
      return {
        status: 200,
        headers: {},
        body: (async function* () {
          yield jar;
        })(),
      };
    },
  });
  const { recordings, client } = world;
  recordPaper(recordings, { "1.21.6": [{ id: 48 }], "1.21.4": [{ id: 231 }, { id: 232 }], "1.21.1": [{ id: 133 }] });
  recordHangar(recordings, "Essentials", { "2.21.0": { minecraft: ["1.21.1", "1.21.4"] } }, "EssentialsX");
  recordings.answers.set("/modrinth/v2/project/bluemap/version", [
    { id: "v", version_number: "5.4", game_versions: ["1.21.4"], files: [{ url: "https://cdn.example.com/b.jar" }] },
  ]);
  await world.apply(["examples/minecraft"]);
  const expected = { survival: "1.21.4", "bleeding-edge": "1.21.6", pinned: "1.21.4", frozen: "1.21.4" };
  for (const [name, version] of Object.entries(expected))
    await eventually(
      () => world.server(name),
      ({ status }) => assert.equal(status?.currentVersion, version, name),
    );
  // The checksum in the example is not this jar's, which is told and stops nothing else.
  await eventually(
    () => world.plugin("house-rules"),
    ({ status }) => assert.equal(findCondition(status?.conditions, "RepositoryAvailable")?.reason, "ChecksumMismatch"),
  );
  const set = await client.get(StatefulSet, { namespace, name: "survival" });
  assert.equal(set.spec.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.["storage"], "20Gi");
  assert.equal(set.spec.template.metadata?.labels?.["team"], "games");
  await eventually(
    () => client.get(Service, { namespace, name: "survival" }),
    ({ spec, metadata }) => {
      assert.equal(metadata.annotations?.["metallb.universe.tf/address-pool"], "games");
      assert.deepEqual(
        spec.ports?.map(({ name }) => name),
        ["minecraft", "plugin-8100-tcp", "plugin-8100-udp"],
      );
    },
  );
  const policy = await client.get(NetworkPolicy, { namespace, name: "survival-minecraft" });
  assert.deepEqual(policy.spec?.policyTypes, ["Ingress", "Egress"]);
});

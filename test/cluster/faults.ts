import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { Lease } from "../../src/api/builtin/lease.ts";
import { CapabilityBinding } from "../../src/api/capability-binding.ts";
import { GameDefinition } from "../../src/api/game-definition.ts";
import { ModuleManifest } from "../../src/api/module-manifest.ts";
import { WorldInstance } from "../../src/api/world-instance.ts";
import type { Client } from "../../src/client/client.ts";
import { killHard, leaderOf } from "./pods.ts";
import { type ClusterWorld, eventually, pause, systemNamespace } from "./world.ts";

const namespace = "story-faults";
const worldCount = 40;

/** The leader dies, then the API server, while many worlds are being bound: afterwards everything is as if nothing had been. */
export async function resolverFaults(context: TestContext, world: ClusterWorld): Promise<void> {
  const { client } = world;
  await prepareGame(client);

  await context.test("the leader is killed with -9 in the middle of work, and the standby goes on", async () => {
    const leader = await leaderOf(client, "capstan-resolver");
    const before = await client.get(Lease, { namespace: systemNamespace, name: "capstan-resolver" });
    const creating = createWorlds(client, "killed");
    await pause(200);
    const killedAt = performance.now();
    assert.ok(killHard(leader.metadata.uid ?? "") > 0, "the leader's process was found");
    await creating;
    await eventually(
      () => client.get(Lease, { namespace: systemNamespace, name: "capstan-resolver" }),
      ({ spec }) => assert.notEqual(spec?.holderIdentity, before.spec?.holderIdentity),
    );
    context.diagnostic(`a new leader after ${((performance.now() - killedAt) / 1_000).toFixed(1)} s`);
    await allBound(client, "killed");
  });

  await context.test("a leader that is told to stop hands over at once", async () => {
    const leader = await leaderOf(client, "capstan-resolver");
    const before = await client.get(Lease, { namespace: systemNamespace, name: "capstan-resolver" });
    const askedAt = performance.now();
    await world.kubectl(["delete", "pod", "-n", systemNamespace, leader.metadata.name, "--wait=false"]);
    await eventually(
      () => client.get(Lease, { namespace: systemNamespace, name: "capstan-resolver" }),
      ({ spec }) => {
        assert.notEqual(spec?.holderIdentity, before.spec?.holderIdentity);
        assert.notEqual(spec?.holderIdentity ?? "", "");
      },
    );
    context.diagnostic(`handed over after ${((performance.now() - askedAt) / 1_000).toFixed(1)} s`);
  });

  await context.test("the API server is killed and comes back, and nothing is lost", async () => {
    const creating = createWorlds(client, "restarted");
    await pause(200);
    await world.restart("kube-apiserver");
    await creating;
    await allBound(client, "restarted");
    await allBound(client, "killed");
  });

  await client.delete(Namespace, { name: namespace });
}

async function prepareGame(client: Client): Promise<void> {
  await client.create(Namespace, { metadata: { name: namespace } });
  const scaling = { defaultScope: "world", statefulness: "stateless" } as const;
  const offer = { capabilityId: "time.source", version: "1.0.0", scope: "world", multiplicity: "1" } as const;
  const { version: _, ...asked } = offer;
  await client.create(ModuleManifest, {
    metadata: { name: "clock", namespace },
    spec: { module: { id: "story.clock", version: "1.0.0" }, provides: [offer], requires: [], scaling },
  });
  await client.create(ModuleManifest, {
    metadata: { name: "weather", namespace },
    spec: {
      module: { id: "story.weather", version: "1.0.0" },
      provides: [],
      requires: [{ ...asked, versionConstraint: "^1.0.0", dependencyMode: "required" }],
      scaling,
    },
  });
  await client.create(GameDefinition, {
    metadata: { name: "story", namespace },
    spec: {
      gameId: "story",
      version: "1.0.0",
      modules: ["clock", "weather"].map((name) => ({ name, required: true })),
    },
  });
}

/** One after the other and again until it is there, so that a fault falls into the middle. */
async function createWorlds(client: Client, prefix: string): Promise<void> {
  for (let index = 0; index < worldCount; index++) {
    const name = `${prefix}-${index}`;
    const wanted = {
      metadata: { name, namespace },
      spec: { gameRef: { name: "story" }, worldId: name, region: "eu", shardCount: 1 },
    };
    await eventually(
      () => client.apply(WorldInstance, wanted, { fieldManager: "cluster-test", force: true }),
      () => undefined,
    );
    await pause(50);
  }
}

async function allBound(client: Client, prefix: string): Promise<void> {
  await eventually(
    () => client.list(WorldInstance, { namespace }),
    ({ items }) => {
      const ours = items.filter(({ metadata }) => metadata.name.startsWith(`${prefix}-`));
      assert.equal(ours.length, worldCount);
      assert.deepEqual([...new Set(ours.map(({ status }) => status?.phase))], ["Running"]);
    },
  );
  const { items } = await client.list(CapabilityBinding, { namespace });
  const ofWorlds = items.map(({ spec }) => spec.worldRef?.name ?? "").filter((name) => name.startsWith(`${prefix}-`));
  assert.equal(ofWorlds.length, worldCount, "one binding for each world");
  assert.equal(new Set(ofWorlds).size, worldCount, "and none twice");
}

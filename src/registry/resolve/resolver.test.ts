import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ManualEnv, manualEnv } from "../../testing/manual-env.ts";
import { discoveryPath, type RegistryWorld, registryWorld } from "../registry-for-tests.ts";
import type { StrategyName } from "./resolver.ts";

type World = RegistryWorld<ManualEnv>;

async function threeTools(): Promise<{ world: World; ids: readonly string[] }> {
  const world = await registryWorld(manualEnv());
  const ids: string[] = [];
  for (const port of [1, 2, 3]) {
    const id = await world.register({ serviceName: "tool", serviceType: "tool-invoker", port });
    await world.ping(id);
    ids.push(id);
  }
  return { world, ids };
}

const pick = (world: World, strategy: StrategyName): number | undefined =>
  world.registry.resolve({ serviceName: "tool", serviceType: "tool-invoker", strategy })?.port;
const report = (world: World, id: string | undefined, healthy: boolean): Promise<unknown> =>
  world.call("POST", `${discoveryPath}/update/${id}`, { healthy, reason: "r" });

describe("resolution", () => {
  test("takes the oldest live one by default", async () => {
    const { world, ids } = await threeTools();
    assert.equal(pick(world, "first-available"), 1);
    await report(world, ids[0], false);
    assert.equal(pick(world, "first-available"), 2);
    await world.call("DELETE", discoveryPath, { id: ids[1] });
    assert.equal(pick(world, "first-available"), 3);
  });

  test("never hands out what is missing, unhealthy, down or gone", async () => {
    const { world, ids } = await threeTools();
    for (const id of ids) await report(world, id, false);
    for (const strategy of ["first-available", "round-robin", "least-recently-failed", "weighted-by-health"] as const)
      assert.equal(pick(world, strategy), undefined, strategy);
    await report(world, ids[2], true);
    assert.equal(pick(world, "round-robin"), 3);
    await world.env.advance(90_000);
    assert.equal(pick(world, "round-robin"), undefined);
  });

  test("prefers what is known to be healthy to what is not known at all", async () => {
    const world = await registryWorld(manualEnv());
    await world.register({ serviceName: "tool", port: 1 });
    const second = await world.register({ serviceName: "tool", port: 2 });
    assert.equal(world.registry.resolve({ serviceName: "tool" })?.port, 1);
    await world.ping(second);
    assert.equal(world.registry.resolve({ serviceName: "tool" })?.port, 2);
  });

  test("in turn gives everybody the same share", async () => {
    const { world } = await threeTools();
    const picks = Array.from({ length: 6 }, () => pick(world, "round-robin"));
    assert.deepEqual(picks, [1, 2, 3, 1, 2, 3]);
  });

  test("by failure takes whose last failure lies furthest back", async () => {
    const { world, ids } = await threeTools();
    for (const index of [0, 1, 2]) {
      await world.env.advance(1_000);
      await report(world, ids[index], false);
      await report(world, ids[index], true);
    }
    assert.equal(pick(world, "least-recently-failed"), 1);
    await report(world, ids[0], false);
    await world.env.advance(1_000);
    await report(world, ids[0], true);
    assert.equal(pick(world, "least-recently-failed"), 2);
  });

  test("by weight gives a flapping service fewer turns, but some", async () => {
    const { world, ids } = await threeTools();
    for (let round = 0; round < 4; round++) {
      await report(world, ids[1], false);
      await report(world, ids[1], true);
    }
    const counts = new Map<number | undefined, number>();
    for (let turn = 0; turn < 300; turn++) {
      const port = pick(world, "weighted-by-health");
      counts.set(port, (counts.get(port) ?? 0) + 1);
    }
    assert.ok(Math.abs((counts.get(1) ?? 0) - (counts.get(3) ?? 0)) <= 2, JSON.stringify([...counts]));
    assert.ok(
      (counts.get(2) ?? 0) > 0 && (counts.get(2) ?? 0) < (counts.get(1) ?? 0) * 0.8,
      JSON.stringify([...counts]),
    );
  });

  test("finds engines by exact match, and tools also among services that can do everything", async () => {
    const world = await registryWorld(manualEnv());
    const engine = { serviceType: "code-execution-engine", serviceSubType: "camel", languageName: "yaml" };
    await world.register({ serviceName: "all", serviceType: "multi-capability", port: 1 });
    await world.register({ serviceName: "engine", ...engine, port: 2 });
    assert.equal(world.registry.resolve({ serviceName: "all", serviceType: "tool-invoker" })?.port, 1);
    assert.equal(world.registry.resolve(engine)?.port, 2);
    assert.equal(world.registry.resolve({ ...engine, languageName: "java" }), undefined);
  });

  test("answers many questions at once", async () => {
    const { world } = await threeTools();
    const questions = [
      { serviceName: "tool" },
      { serviceName: "nobody" },
      { serviceName: "tool", strategy: "round-robin" },
    ];
    const { data } = await world.call("POST", "/api/v1/resolve", questions);
    assert.deepEqual(
      (data as ({ port: number } | null)[]).map((target) => target?.port),
      [1, undefined, 1],
    );
    for (const bad of ["{}", "[1]", '[{"strategy":"luck","serviceName":"x"}]', "[{}]"])
      assert.equal((await world.call("POST", "/api/v1/resolve", bad)).status, 400);
  });

  test("says whether nobody is there or nobody who can be used", async () => {
    const world = await registryWorld(manualEnv());
    const id = await world.register({ serviceName: "engine", serviceType: "code-execution-engine" });
    const why = async (query: string): Promise<unknown> =>
      (await world.call("GET", `/api/v1/resolve?serviceName=engine${query}`)).message;
    assert.equal(await why(""), undefined);
    assert.equal(await why("&dialect=a"), "service engine is of a type that this dialect has no word for");
    await world.call("POST", `${discoveryPath}/update/${id}`, { healthy: false, reason: "tired" });
    assert.equal(await why(""), "There is no live host for service engine: 1 unhealthy, 0 down");
    assert.equal(await why("&serviceType=tool-invoker"), "There is no host registered for service engine");
  });

  test("is the same over HTTP and on every replica", async () => {
    const { world } = await threeTools();
    const other = await world.replica();
    assert.equal(other.resolve({ serviceName: "tool" })?.port, 1);
    const { data } = await world.call("GET", "/api/v1/resolve?serviceName=tool&serviceType=tool-invoker");
    assert.equal((data as { port: number }).port, 1);
    const none = await world.call("GET", "/api/v1/resolve?serviceName=nobody");
    assert.deepEqual([none.status, none.message], [404, "There is no host registered for service nobody"]);
    await other.stop();
  });
});

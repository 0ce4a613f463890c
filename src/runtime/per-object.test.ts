import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sleep } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { createWorld, type World } from "../testing/world.ts";
import type { Controller } from "./controller.ts";
import { createManager, type Manager } from "./manager.ts";
import { defineDaemon, defineTimer } from "./per-object.ts";

interface Thing extends KubeObject {
  readonly spec?: { readonly enabled: boolean };
}
const Thing: KindRef<Thing> = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};
const key = { name: "a", namespace: "ns" };
const put = (world: World, enabled = true): Promise<unknown> =>
  world.direct.apply(Thing, { metadata: key, spec: { enabled } });

async function started(controller: (world: World) => Controller): Promise<{ world: World; manager: Manager }> {
  const world = createWorld({ kinds: [Thing] });
  const manager = createManager({ env: world.env, client: world.client });
  manager.add(controller(world));
  const start = manager.start();
  await world.env.flush();
  await start;
  return { world, manager };
}

describe("timers", () => {
  test("run at their pace for each object, whatever happens to it in between, and end with it", async () => {
    const runs: number[] = [];
    const { world, manager } = await started(({ env }) =>
      defineTimer({
        name: "ticks",
        reconciles: Thing,
        everyMs: 1000,
        firstAfterMs: 500,
        run: async () => void runs.push(env.monotonicMs()),
      }),
    );
    await put(world);
    await world.env.advance(700);
    await put(world, false);
    await world.env.advance(2000);
    assert.deepEqual(runs, [500, 1500, 2500]);
    await world.direct.delete(Thing, key);
    await world.env.advance(5000);
    assert.equal(runs.length, 3);
    await manager.stop();
  });

  test("a run that throws is retried sooner than its pace", async () => {
    let runs = 0;
    const { world, manager } = await started(() =>
      defineTimer({
        name: "ticks",
        reconciles: Thing,
        everyMs: 60_000,
        async run() {
          if (++runs < 3) throw new Error("not yet");
        },
      }),
    );
    await put(world);
    await world.env.advance(1000);
    assert.equal(runs, 3);
    await manager.stop();
  });
});

describe("daemons", () => {
  const daemon =
    (story: string[], fail: () => boolean = () => false) =>
    (world: World): Controller =>
      defineDaemon({
        name: "tails",
        reconciles: Thing,
        when: ({ spec }) => spec?.enabled === true,
        async run(object, { signal }) {
          story.push(`start ${object.metadata.name}`);
          if (fail()) throw new Error("crashed");
          await sleep(world.env, 1_000_000_000, signal).catch(() => undefined);
          story.push(`stop ${object.metadata.name}`);
        },
      });

  test("live as long as their object is there and wanted", async () => {
    const story: string[] = [];
    const { world, manager } = await started(daemon(story));
    await put(world);
    await world.env.advance(100);
    await world.direct.patch(Thing, key, { type: "merge", value: { metadata: { labels: { touched: "yes" } } } });
    await world.env.advance(100);
    assert.deepEqual(story, ["start a"]);
    await put(world, false);
    await world.env.advance(100);
    assert.deepEqual(story, ["start a", "stop a"]);
    await put(world, true);
    await world.env.advance(100);
    await world.direct.delete(Thing, key);
    await put(world, true);
    await world.env.advance(100);
    assert.deepEqual(story, ["start a", "stop a", "start a", "stop a", "start a"], "a namesake gets its own");
    await manager.stop();
    assert.equal(story.at(-1), "stop a");
  });

  test("are started again with back-off when they crash, and counted", async () => {
    const story: string[] = [];
    let crashes = 4;
    const { world, manager } = await started(daemon(story, () => crashes-- > 0));
    await put(world);
    await world.env.advance(10_000);
    assert.equal(story.filter((line) => line === "start a").length, 5);
    assert.ok(manager.metrics.expose().includes('controller_runtime_reconcile_errors_total{controller="tails"} 4\n'));
    await manager.stop();
  });
});

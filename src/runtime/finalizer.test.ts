import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineKind } from "../kube/kind.ts";
import { object, optional, string } from "../kube/schema/build.ts";
import { eventually } from "../testing/eventually.ts";
import { createWorld, type World } from "../testing/world.ts";
import { defineController } from "./controller.ts";
import type { CleanUp } from "./finalizer.ts";
import { createManager, type Manager } from "./manager.ts";

const Account = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Account",
  plural: "accounts",
  description: "Something outside that must be given back.",
  spec: object({ owner: string() }),
  status: object({ phase: optional(string()) }),
});
const key = { name: "one", namespace: "ns" };
const finalizer = "example.com/clean-up";

async function started(
  story: string[],
  cleanUp: () => CleanUp | Promise<CleanUp>,
  before: (world: World) => Promise<unknown> = async () => undefined,
): Promise<{ world: World; manager: Manager }> {
  const world = createWorld({ kinds: [Account] });
  await before(world);
  const manager = createManager({ env: world.env, client: world.client });
  manager.add(
    defineController({
      name: "accounts",
      reconciles: Account,
      finalizer: {
        name: finalizer,
        async cleanUp() {
          story.push("clean up");
          return cleanUp();
        },
      },
      observe: (account) => account,
      evaluate: (account) => account.metadata.finalizers,
      async act(finalizers) {
        story.push(`work with ${finalizers?.join() ?? "no finalizer"}`);
      },
      reduce: () => ({ status: { phase: "Open" } }),
    }),
  );
  const start = manager.start();
  await world.env.flush();
  await start;
  return { world, manager };
}

const create = (world: World): Promise<unknown> =>
  world.direct.create(Account, { metadata: key, spec: { owner: "me" } });

describe("finalizer", () => {
  test("it is there before any work is done, and removed last", async () => {
    const story: string[] = [];
    const { world, manager } = await started(story, () => ({ kind: "Finished" }));
    await create(world);
    await eventually(world.env, () => assert.equal(world.all(Account)[0]?.status?.phase, "Open"));
    await world.direct.delete(Account, key);
    await eventually(world.env, () => assert.equal(world.all(Account).length, 0));
    assert.deepEqual(story, [`work with ${finalizer}`, "clean up"]);
    await manager.stop();
  });

  test("a clean-up that is not finished is asked again", async () => {
    const story: string[] = [];
    const { world, manager } = await started(story, () =>
      story.filter((line) => line === "clean up").length < 3
        ? { kind: "Waiting", lookAgainMs: 1000 }
        : { kind: "Finished" },
    );
    await create(world);
    await world.env.advance(100);
    await world.direct.delete(Account, key);
    await world.env.advance(1500);
    assert.equal(world.all(Account).length, 1);
    await world.env.advance(1500);
    assert.equal(world.all(Account).length, 0);
    await manager.stop();
  });

  test("a clean-up that throws is retried, and other finalizers are left alone", async () => {
    const story: string[] = [];
    let failures = 3;
    const { world, manager } = await started(story, () => {
      if (failures-- > 0) throw new Error("not now");
      return { kind: "Finished" };
    });
    await create(world);
    await world.env.advance(100);
    await world.direct.patch(Account, key, {
      type: "merge",
      value: { metadata: { finalizers: [finalizer, "other.com/x"] } },
    });
    await world.direct.delete(Account, key);
    await eventually(world.env, () => assert.deepEqual(world.all(Account)[0]?.metadata.finalizers, ["other.com/x"]));
    assert.equal(story.filter((line) => line === "clean up").length, 4);
    await manager.stop();
  });

  test("an object that is deleted before we ever saw it is let go without work", async () => {
    const story: string[] = [];
    const { world, manager } = await started(
      story,
      () => ({ kind: "Finished" }),
      async ({ direct }) => {
        await direct.create(Account, { metadata: { ...key, finalizers: ["other.com/x"] }, spec: { owner: "me" } });
        await direct.delete(Account, key);
      },
    );
    await world.env.advance(1000);
    assert.equal(manager.controllers[0]?.reconciles, 1);
    assert.deepEqual(story, []);
    await manager.stop();
  });

  test("a finalizer that somebody else removed is not missed", async () => {
    const story: string[] = [];
    const { world, manager } = await started(story, async () => {
      await world.direct.patch(Account, key, { type: "merge", value: { metadata: { finalizers: null } } });
      return { kind: "Finished" };
    });
    await create(world);
    await world.env.advance(100);
    await world.direct.delete(Account, key);
    await world.env.advance(5000);
    assert.equal(world.all(Account).length, 0);
    assert.ok(
      manager.metrics.expose().includes('controller_runtime_reconcile_errors_total{controller="accounts"} 0\n'),
    );
    await manager.stop();
  });
});

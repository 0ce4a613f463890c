import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { defineKind, type KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { controllerReference } from "../kube/owner-reference.ts";
import { integer, object, optional, string } from "../kube/schema/build.ts";
import { eventually, settle } from "../testing/eventually.ts";
import type { Fault, RequestInfo } from "../testing/faults.ts";
import { holdEvents } from "../testing/stream-faults.ts";
import { createWorld, type World } from "../testing/world.ts";
import { type Controller, defineController } from "./controller.ts";
import { createManager, type Manager } from "./manager.ts";

const Parent = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Parent",
  plural: "parents",
  description: "Wants one child.",
  spec: object({ value: integer() }),
  status: object({ value: optional(integer()), refused: optional(string()), causes: optional(string()) }),
});
interface Child extends KubeObject {
  readonly data: { readonly value: string };
}
const Child: KindRef<Child> = {
  group: "example.com",
  version: "v1",
  kind: "Child",
  plural: "children",
  namespaced: true,
};

const parents = defineController({
  name: "parents",
  reconciles: Parent,
  owns: [Child],
  observe: (parent, { read }) => ({ parent, child: read.get(Child, parent.metadata) }),
  evaluate: ({ parent, child }) => ({
    value: parent.spec.value,
    change: child?.data.value !== String(parent.spec.value),
  }),
  async act({ value, change }, { object: parent, write }) {
    if (!change) return undefined;
    const { name, namespace = "" } = parent.metadata;
    const ownerReferences = [controllerReference(Parent, parent)];
    const applied = await write.apply(Child, {
      metadata: { name, namespace, ownerReferences },
      data: { value: String(value) },
    });
    return applied.ok ? undefined : applied;
  },
  reduce: ({ decision, outcome, object: { status } }) => ({
    status:
      outcome === undefined
        ? { value: decision.value }
        : {
            ...(status?.value !== undefined && { value: status.value }),
            refused: outcome.reason,
            ...(outcome.causes.length > 0 && { causes: outcome.causes.map(({ field }) => field).join() }),
          },
    // A refusal may end without any event that we could see, so it is looked at again now and then.
    ...(outcome !== undefined && { requeueAfterMs: 30_000 }),
  }),
});

interface Running {
  readonly world: World;
  readonly manager: Manager;
}

async function running(controller: Controller = parents, seed = 1): Promise<Running> {
  const world = createWorld({ kinds: [Parent, Child], seed });
  const manager = createManager({ env: world.env, client: world.client });
  manager.add(controller);
  const start = manager.start();
  await world.env.flush();
  await start;
  return { world, manager };
}

const key = { name: "one", namespace: "ns" };
const create = (world: World, value = 1): Promise<unknown> =>
  world.direct.create(Parent, { metadata: key, spec: { value } });
const setValue = (world: World, value: number): Promise<unknown> =>
  world.direct.patch(Parent, key, { type: "merge", value: { spec: { value } } });
const isChildWrite = ({ isWrite, path }: RequestInfo): boolean => isWrite && path.includes("/children");
const isStatusWrite = ({ isWrite, path }: RequestInfo): boolean => isWrite && path.endsWith("/status");
const reconciles = ({ manager }: Running): number => manager.controllers[0]?.reconciles ?? 0;

const assertDone = (world: World, value: number): void => {
  assert.equal(world.all(Child)[0]?.data.value, String(value));
  assert.deepEqual(world.all(Parent)[0]?.status, { value });
};

describe("faults of writing", () => {
  test("F3: a reconcile sees its own write although the watch is late", async () => {
    const world = createWorld({ kinds: [Parent, Child] });
    const held = holdEvents();
    world.faults.add({
      when: ({ isWatch, path }) => isWatch && path.endsWith("/children"),
      times: 1,
      fault: held.fault,
    });
    const manager = createManager({ env: world.env, client: world.client });
    manager.add(parents);
    const start = manager.start();
    await world.env.flush();
    await start;
    await create(world);
    await settle(world.env, () => reconciles({ world, manager }));
    await world.direct.patch(Parent, key, { type: "merge", value: { metadata: { labels: { touched: "yes" } } } });
    await settle(world.env, () => reconciles({ world, manager }));
    assert.equal(reconciles({ world, manager }), 2);
    assert.equal(world.faults.count(isChildWrite), 1, "the second reconcile knows that the child is there");
    held.release();
    await world.env.flush();
    assertDone(world, 1);
    await manager.stop();
  });

  for (const percent of [1, 50, 90]) {
    test(`F21: conflicts in ${percent} % of the writes only delay the result`, async () => {
      const { world, manager } = await running(parents, percent);
      const fault: Fault = { kind: "Answer", code: 409, reason: "Conflict" };
      world.faults.add({ when: (request) => request.isWrite && world.env.random() * 100 < percent, fault });
      await create(world);
      for (let value = 2; value <= 6; value++) {
        await setValue(world, value);
        await eventually(world.env, () => assertDone(world, value), { withinMs: 20_000_000, stepMs: percent * 100 });
      }
      await manager.stop();
    });
  }

  test("F21: while every write conflicts there is no hot loop, and afterwards all is well", async () => {
    const { world, manager } = await running();
    const recover = world.faults.add({ when: isStatusWrite, fault: { kind: "Answer", code: 409, reason: "Conflict" } });
    await create(world);
    await world.env.advance(600_000);
    const tries = world.faults.count(isStatusWrite);
    assert.ok(tries > 5 && tries < 40, `${tries} tries in 10 minutes`);
    recover();
    await eventually(world.env, () => assertDone(world, 1), { withinMs: 1_000_000, stepMs: 1000 });
    await manager.stop();
  });

  test("F21: what is counted after the write is counted once, however often the status came too late", async () => {
    let counted = 0;
    let reduced = 0;
    const { world, manager } = await running(
      defineController({
        name: "counting",
        reconciles: Parent,
        observe: (parent) => parent.spec.value,
        evaluate: (value) => value,
        reduce({ decision: value }) {
          reduced++;
          return { status: { value }, afterWrite: () => void counted++ };
        },
      }),
    );
    world.faults.add({ when: isStatusWrite, times: 3, fault: { kind: "Answer", code: 409, reason: "Conflict" } });
    await create(world);
    await eventually(world.env, () => assert.deepEqual(world.all(Parent)[0]?.status, { value: 1 }), {
      withinMs: 100_000,
      stepMs: 100,
    });
    assert.equal(counted, 1);
    assert.equal(reduced, 4);
    await manager.stop();
  });

  test("F21: a real conflict, because somebody else wrote in between, is solved with fresh eyes", async () => {
    const { world, manager } = await running();
    let interfered = false;
    world.faults.add({
      when: (request) => {
        if (isChildWrite(request) && !interfered) {
          interfered = true;
          void setValue(world, 7);
        }
        return false;
      },
      fault: { kind: "Unreachable" },
    });
    await create(world);
    await eventually(world.env, () => assertDone(world, 7));
    await manager.stop();
  });

  test("F22: a field of another manager is a conflict with its field, told in the status, and solved when they let go", async () => {
    const { world, manager } = await running();
    await world.direct.apply(Child, { metadata: key, data: { value: "theirs" } }, { fieldManager: "somebody-else" });
    await create(world);
    await eventually(world.env, () =>
      assert.deepEqual(world.all(Parent)[0]?.status, { refused: "Conflict", causes: ".data.value" }),
    );
    await world.direct.apply(Child, { metadata: key }, { fieldManager: "somebody-else" });
    await eventually(world.env, () => assertDone(world, 1));
    await manager.stop();
  });

  for (const [id, name, fault, reason] of [
    ["F23", "422 Invalid", { kind: "Answer", code: 422, reason: "Invalid" }, "Invalid"],
    ["F24", "403 because a permission was taken away", { kind: "Answer", code: 403, reason: "Forbidden" }, "Forbidden"],
    [
      "F25",
      "403 because the namespace is terminating",
      {
        kind: "Answer",
        code: 403,
        reason: "Forbidden",
        causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }],
      },
      "Forbidden",
    ],
    ["F25", "404 because the namespace is gone", { kind: "Answer", code: 404, reason: "NotFound" }, "NotFound"],
  ] as const satisfies readonly (readonly [string, string, Fault, string])[]) {
    test(`${id}: ${name} is a refusal with a reason: shown, not retried in a loop, and recovered from`, async () => {
      const running_ = await running();
      const { world, manager } = running_;
      const recover = world.faults.add({ when: isChildWrite, fault });
      await create(world);
      await eventually(world.env, () => assert.equal(world.all(Parent)[0]?.status?.refused, reason));
      await world.env.advance(600_000);
      const tries = world.faults.count(isChildWrite);
      assert.ok(tries <= 22, `${tries} tries in 10 minutes`);
      assert.equal(world.faults.count(isStatusWrite), 1, "the same refusal is written once");
      recover();
      await eventually(world.env, () => assertDone(world, 1), { withinMs: 61_000, stepMs: 1000 });
      await manager.stop();
    });
  }

  test("F26: 429 is retried after the time that the server asks for", async () => {
    const { world, manager } = await running();
    world.faults.add({
      when: isChildWrite,
      times: 2,
      fault: { kind: "Answer", code: 429, reason: "TooManyRequests", retryAfterSeconds: 7 },
    });
    const startedAtMs = world.env.monotonicMs();
    await create(world);
    await eventually(world.env, () => assertDone(world, 1), { stepMs: 100 });
    assert.ok(world.env.monotonicMs() - startedAtMs >= 14_000, "never earlier than asked");
    assert.equal(world.faults.count(isChildWrite), 3);
    await manager.stop();
  });

  for (const [name, fault] of [
    ["500", { kind: "Answer", code: 500, reason: "InternalError" }],
    ["503", { kind: "Answer", code: 503, reason: "ServiceUnavailable" }],
    ["504", { kind: "Answer", code: 504, reason: "Timeout" }],
    ["no connection", { kind: "Unreachable" }],
    ["no answer at all", { kind: "Hang" }],
    ["an answer that is lost", { kind: "AnswerLost" }],
  ] as const satisfies readonly (readonly [string, Fault])[]) {
    test(`F27: ${name} for any write is retried until it works, and nothing is done twice`, async () => {
      const { world, manager } = await running();
      world.faults.add({ when: ({ isWrite, path }) => isWrite && !path.includes("/events"), times: 4, fault });
      await create(world);
      await eventually(world.env, () => assertDone(world, 1), { withinMs: 1_200_000, stepMs: 1000 });
      assert.equal(world.all(Child).length, 1);
      await manager.stop();
    });
  }

  test("property: whatever sequence of write faults strikes, the end state is the same", async () => {
    const faults: readonly Fault[] = [
      { kind: "Answer", code: 409, reason: "Conflict" },
      { kind: "Answer", code: 403, reason: "Forbidden" },
      { kind: "Answer", code: 422, reason: "Invalid" },
      { kind: "Answer", code: 429, reason: "TooManyRequests", retryAfterSeconds: 3 },
      { kind: "Answer", code: 500, reason: "InternalError" },
      { kind: "Unreachable" },
      { kind: "AnswerLost" },
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.constantFrom(...faults)), { maxLength: 8 }),
        fc.nat(),
        async (plan, seed) => {
          const { world, manager } = await running(parents, seed);
          const queue = [...plan];
          for (const fault of plan) {
            if (fault === null) continue;
            world.faults.add({ when: ({ isWrite }) => isWrite && queue.shift() !== null, times: 1, fault });
          }
          await create(world);
          await setValue(world, 2);
          await eventually(world.env, () => assertDone(world, 2), { withinMs: 3_600_000, stepMs: 2000 });
          const quiet = await settle(world.env, () => world.faults.count(({ isWrite }) => isWrite), {
            quietMs: 120_000,
          });
          await world.env.advance(1_200_000);
          assert.equal(
            world.faults.count(({ isWrite }) => isWrite),
            quiet,
            "no further writes",
          );
          await manager.stop();
        },
      ),
      { numRuns: Number(process.env["CAPSTAN_PROPERTY_RUNS"] ?? 40) },
    );
  });
});

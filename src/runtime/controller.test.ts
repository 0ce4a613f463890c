import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineKind, type KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { controllerReference } from "../kube/owner-reference.ts";
import { integer, object, optional, string } from "../kube/schema/build.ts";
import { eventually, settle } from "../testing/eventually.ts";
import { createWorld, type World } from "../testing/world.ts";
import { defineController, defineReconciler } from "./controller.ts";
import { createManager, type Manager } from "./manager.ts";
import { allow } from "./permission.ts";
import { done, requeueAfter, TerminalError } from "./result.ts";

const Widget = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  description: "A thing with parts.",
  spec: object({ parts: integer() }),
  status: object({ made: optional(integer()), message: optional(string()) }),
});

interface Part extends KubeObject {
  readonly data: { readonly index: string };
}
const Part: KindRef<Part> = { group: "example.com", version: "v1", kind: "Part", plural: "parts", namespaced: true };

const widgets = defineController({
  name: "widgets",
  reconciles: Widget,
  owns: [Part],
  permissions: [allow(Part, ["patch", "delete"])],
  observe: (widget, { read }) => ({ widget, parts: read.owned(Part, widget) }),
  evaluate: ({ widget, parts }) => ({
    missing: Array.from({ length: widget.spec.parts }, (_, index) => index).filter(
      (index) => !parts.some((part) => part.data.index === String(index)),
    ),
    surplus: parts.filter((part) => Number(part.data.index) >= widget.spec.parts),
  }),
  async act({ missing, surplus }, { object: widget, write }) {
    for (const index of missing) {
      const made = await write.apply(Part, {
        metadata: {
          name: `${widget.metadata.name}-${index}`,
          ...(widget.metadata.namespace && { namespace: widget.metadata.namespace }),
          ownerReferences: [controllerReference(Widget, widget)],
        },
        data: { index: String(index) },
      });
      if (!made.ok) return { refused: made.reason };
    }
    for (const part of surplus) await write.delete(Part, part);
    return { refused: undefined };
  },
  reduce: ({ snapshot, decision, outcome }) => ({
    status: {
      made: snapshot.parts.length + decision.missing.length - decision.surplus.length,
      ...(outcome.refused !== undefined && { message: outcome.refused }),
    },
  }),
});

const widget = (name: string, parts: number) => ({ metadata: { name, namespace: "default" }, spec: { parts } });

async function started(world: World, ...controllers: Parameters<Manager["add"]>[0][]): Promise<Manager> {
  const manager = createManager({ env: world.env, client: world.client });
  for (const controller of controllers) manager.add(controller);
  const start = manager.start();
  await world.env.flush();
  await start;
  return manager;
}

const writes = (world: World): number => world.faults.count(({ isWrite }) => isWrite);

describe("a controller of observe, evaluate, act and reduce", () => {
  test("makes what is wanted, writes its status once, and then is quiet", async () => {
    const world = createWorld({ kinds: [Widget, Part] });
    await world.direct.create(Widget, widget("one", 3));
    const manager = await started(world, widgets);
    await eventually(world.env, () => assert.equal(world.all(Widget)[0]?.status?.made, 3));
    assert.equal(world.all(Part).length, 3);
    const before = await settle(world.env, () => writes(world));
    assert.equal(before, 4, "three parts and one status");
    await world.env.advance(600_000);
    assert.equal(writes(world), 4, "nothing is written when nothing changes");
    await manager.stop();
  });

  test("sees its own writes and does not wake up from their echoes", async () => {
    const world = createWorld({ kinds: [Widget, Part] });
    const manager = await started(world, widgets);
    await world.direct.create(Widget, widget("one", 2));
    await settle(world.env, () => writes(world));
    const [running] = manager.controllers;
    assert.equal(running?.reconciles, 1, "one change, one reconcile");
    assert.ok(manager.metrics.expose().includes('capstan_own_write_echoes_total{controller="widgets"} 3\n'));
    await manager.stop();
  });

  test("heals what others break, and reacts to a new specification", async () => {
    const world = createWorld({ kinds: [Widget, Part] });
    const manager = await started(world, widgets);
    await world.direct.create(Widget, widget("one", 2));
    await settle(world.env, () => writes(world));
    await world.direct.delete(Part, { name: "one-0", namespace: "default" });
    await eventually(world.env, () => assert.equal(world.all(Part).length, 2));
    await world.direct.patch(
      Widget,
      { name: "one", namespace: "default" },
      { type: "merge", value: { spec: { parts: 1 } } },
    );
    await eventually(world.env, () =>
      assert.deepEqual(
        world.all(Part).map(({ metadata }) => metadata.name),
        ["one-0"],
      ),
    );
    await eventually(world.env, () => assert.equal(world.all(Widget)[0]?.status?.made, 1));
    await manager.stop();
  });

  test("declares what it needs, and what it used is among it", async () => {
    const world = createWorld({ kinds: [Widget, Part] });
    const manager = await started(world, widgets);
    await world.direct.create(Widget, widget("one", 1));
    await settle(world.env, () => writes(world));
    assert.deepEqual(manager.controllers[0]?.usedPermissions, [
      { group: "example.com", resource: "parts", verbs: ["patch"] },
      { group: "example.com", resource: "widgets/status", verbs: ["patch"] },
    ]);
    assert.deepEqual(widgets.permissions, [
      { group: "example.com", resource: "parts", verbs: ["delete", "get", "list", "patch", "watch"] },
      { group: "example.com", resource: "widgets", verbs: ["get", "list", "watch"] },
      { group: "example.com", resource: "widgets/finalizers", verbs: ["update"] },
      { group: "example.com", resource: "widgets/status", verbs: ["patch"] },
    ]);
    await manager.stop();
  });
});

describe("a plain reconciler", () => {
  test("asks to be called again, fails for good, and is retried after an exception", async () => {
    const world = createWorld({ kinds: [Widget] });
    const calls = new Map<string, number>();
    const plain = defineReconciler({
      name: "plain",
      reconciles: Widget,
      async reconcile({ name }) {
        const call = (calls.get(name) ?? 0) + 1;
        calls.set(name, call);
        if (name === "later") return call < 3 ? requeueAfter(1000) : done;
        if (name === "bad") throw new TerminalError("Broken", "it cannot work");
        if (name === "buggy" && call < 4) throw new TypeError("undefined is not a function");
        return done;
      },
    });
    const manager = await started(world, plain);
    for (const name of ["later", "bad", "buggy"]) await world.direct.create(Widget, widget(name, 0));
    await settle(world.env, () => manager.controllers[0]?.reconciles ?? 0);
    assert.deepEqual(Object.fromEntries(calls), { later: 3, bad: 1, buggy: 4 });
    const text = manager.metrics.expose();
    for (const line of [
      'controller_runtime_reconcile_total{controller="plain",result="requeue_after"} 2',
      'controller_runtime_reconcile_total{controller="plain",result="error"} 4',
      'controller_runtime_terminal_reconcile_errors_total{controller="plain"} 1',
      'controller_runtime_reconcile_panics_total{controller="plain"} 3',
      'workqueue_retries_total{name="plain",controller="plain"} 3',
    ]) {
      assert.ok(text.includes(`${line}\n`), line);
    }
    await manager.stop();
  });
});

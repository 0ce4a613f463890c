import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HttpHandler } from "../http/message.ts";
import type { KindRef } from "../kube/kind.ts";
import { createWorld } from "../testing/world.ts";
import { defineReconciler } from "./controller.ts";
import { createDiagnostics, runtimeState } from "./diagnostics.ts";
import { HealthChecks, livenessOf, readinessOf } from "./health.ts";
import { createManager } from "./manager.ts";
import { done } from "./result.ts";

const Thing: KindRef = { group: "example.com", version: "v1", kind: "Thing", plural: "things", namespaced: true };

const neverEnding: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
};

async function ask(
  handler: HttpHandler,
  target: string,
  method = "GET",
): Promise<{ status: number; text: string; bytes: number }> {
  const { status, body } = await handler({ method, target, headers: {} });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return { status, text: bytes.subarray(0, 5000).toString(), bytes: bytes.length };
}

describe("health checks", () => {
  test("answer in the words of Kubernetes' own probes", async () => {
    const checks = new HealthChecks();
    checks.add("ping", () => undefined);
    const handler = checks.handler("/readyz");
    assert.deepEqual(await ask(handler, "/readyz"), { status: 200, text: "ok", bytes: 2 });
    checks.add("database", () => "no connection");
    checks.add("buggy", () => {
      throw new Error("a bug");
    });
    const failed = await ask(handler, "/readyz");
    assert.equal(failed.status, 503);
    assert.equal(
      failed.text,
      "[+]ping ok\n[-]database failed: no connection\n[-]buggy failed: a bug\nreadyz check failed\n",
    );
    assert.equal((await ask(handler, "/readyz/ping")).status, 200);
    assert.equal((await ask(handler, "/readyz/nothing")).status, 404);
    assert.equal(
      (await ask(handler, "/readyz?verbose&exclude=database&exclude=buggy")).text,
      "[+]ping ok\nreadyz check passed\n",
    );
    assert.throws(() => checks.add("ping", () => undefined), /two health checks named ping/);
  });

  test("a manager is ready when its caches are full, and not alive when a watch has silently died", async () => {
    const world = createWorld({ kinds: [Thing] });
    const manager = createManager({ env: world.env, client: world.client, watcher: { idleTimeoutMs: 100_000_000 } });
    manager.add(defineReconciler({ name: "things", reconciles: Thing, reconcile: async () => done }));
    const ready = readinessOf(manager).handler("/readyz");
    const alive = livenessOf(manager, world.env).handler("/healthz");
    assert.match((await ask(ready, "/readyz")).text, /\[-\]caches failed: not synced: Thing/);
    // A watch that neither speaks nor ends, with the watchdog turned off for the test.
    world.faults.add({ when: ({ isWatch }) => isWatch, fault: { kind: "Stream", change: () => neverEnding } });
    const start = manager.start();
    await world.env.flush();
    await start;
    assert.equal((await ask(ready, "/readyz")).status, 200);
    assert.equal((await ask(alive, "/healthz")).status, 200);
    await world.env.advance(899_000);
    assert.equal((await ask(alive, "/healthz")).status, 200);
    await world.env.advance(2_000);
    const dead = await ask(alive, "/healthz");
    assert.equal(dead.status, 503);
    assert.match(dead.text, /\[-\]watches failed: Thing silent for 901 s\n/);
    await manager.stop();
  });

  test("diagnostics: runtime state, memory, heap snapshot and CPU profile", async () => {
    const world = createWorld({ kinds: [Thing] });
    const manager = createManager({ env: world.env, client: world.client });
    manager.add(defineReconciler({ name: "things", reconciles: Thing, reconcile: async () => done }));
    const start = manager.start();
    await world.env.flush();
    await start;
    const debug = createDiagnostics(world.env, manager);
    const state = JSON.parse(JSON.stringify(runtimeState(world.env, manager)));
    assert.equal(state.informers[0].state, "Watching");
    assert.equal(state.controllers[0].name, "things");
    assert.match((await ask(debug, "/debug/runtime")).text, /"kind":"Thing"/);
    assert.match((await ask(debug, "/debug/memory")).text, /used_heap_size/);
    assert.ok((await ask(debug, "/debug/pprof/heap")).bytes > 1_000_000);
    const timers = world.env.pendingTimers;
    const profile = ask(debug, "/debug/pprof/profile?seconds=2");
    // The profiler takes real time to start; only then does it wait for our clock.
    while (world.env.pendingTimers === timers) await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await ask(debug, "/debug/pprof/profile")).status, 409, "one at a time");
    await world.env.advance(2_000);
    assert.match((await profile).text, /"nodes":\[/);
    assert.equal((await ask(debug, "/debug/pprof/profile?seconds=1e9")).status, 400);
    assert.equal((await ask(debug, "/debug/x")).status, 404);
    assert.equal((await ask(debug, "/debug/memory", "POST")).status, 405);
    await manager.stop();
  });
});

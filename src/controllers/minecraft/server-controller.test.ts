import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "../../api/builtin/configuration.ts";
import { NetworkPolicy } from "../../api/builtin/network-policy.ts";
import { Service } from "../../api/builtin/service.ts";
import { StatefulSet } from "../../api/builtin/workloads.ts";
import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { createManager } from "../../runtime/manager.ts";
import { eventually } from "../../testing/eventually.ts";
import { mapEvents } from "../../testing/stream-faults.ts";
import { createWorld, type World } from "../../testing/world.ts";
import { server } from "../version-solver/example-fleet.ts";
import { minecraftMetrics } from "./metrics.ts";
import { serverController } from "./server-controller.ts";

const key = { namespace: "games", name: "survival" };
const children = [Service, StatefulSet, ConfigMap, NetworkPolicy] as const;

/** A server whose version has been chosen, and the controller that runs it. */
async function setUp(faults: (world: World) => void) {
  const world = createWorld({ kinds: [PaperMCServer, Plugin, ...children] });
  const { env } = world;
  faults(world);
  const manager = createManager({ env, client: world.client });
  const metrics = minecraftMetrics(manager.metrics, env);
  manager.add(serverController({ metrics, image: "capstan:test", trustedUrls: [], namespace: "capstan-system" }));
  const { status: _, ...wanted } = server("survival", { paper: [] });
  await world.direct.create(PaperMCServer, wanted);
  const chosen = { status: { desiredVersion: "1.21.1", desiredBuild: 133 } };
  await world.direct.patch(PaperMCServer, key, { type: "merge", value: chosen }, { subresource: "status" });
  const started = manager.start();
  await env.advance(100);
  await started;
  return { world, env, manager };
}

for (const [what, plural] of [
  ["the Service", Service.plural],
  ["the StatefulSet", StatefulSet.plural],
] as const)
  test(`${what} is made once the quota, the webhook or the right that refused it allows it`, async () => {
    let allow = (): void => undefined;
    const { world, env, manager } = await setUp(({ faults }) => {
      allow = faults.add({
        when: ({ isWrite, path }) => isWrite && path.includes(`/${plural}`),
        fault: { kind: "Answer", code: 403, reason: "Forbidden", message: "exceeded quota: small" },
      });
    });
    const statusText = async (): Promise<string> =>
      JSON.stringify((await world.direct.get(PaperMCServer, key)).status ?? {});
    await eventually(env, async () => assert.match(await statusText(), /exceeded quota: small/));
    allow();
    await env.advance(70_000);
    assert.doesNotMatch(await statusText(), /exceeded quota/);
    assert.equal(world.all(StatefulSet).length, 1);
    assert.equal(world.all(Service).length, 1);
    await manager.stop();
  });

test("what a server owned is not made again when its end was not told (F13)", async () => {
  const { world, env, manager } = await setUp(({ faults }) =>
    faults.add({
      when: ({ isWatch, path }) => isWatch && path.includes(`/${PaperMCServer.plural}`),
      fault: mapEvents((event) => (event.type === "DELETED" ? [] : [event])),
    }),
  );
  await eventually(env, async () => assert.equal(world.all(StatefulSet).length, 1));
  await world.direct.delete(PaperMCServer, key);
  // As the garbage collector does it, whose own eyes are better.
  for (let turn = 0; turn < 3; turn++) {
    for (const kind of children)
      for (const { metadata } of world.all(kind))
        await world.direct.delete(kind, { namespace: metadata.namespace ?? "", name: metadata.name });
    await env.advance(1_000);
    if (turn === 0) continue;
    for (const kind of children) assert.deepEqual(world.all(kind), [], kind.kind);
  }
  await manager.stop();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { createManager } from "../../runtime/manager.ts";
import { eventually } from "../../testing/eventually.ts";
import { createWorld } from "../../testing/world.ts";
import { plugin, server } from "../version-solver/example-fleet.ts";
import { defaultBaseUrls } from "./base-urls.ts";
import { withDemoRepositories } from "./demo-repositories.ts";
import { minecraftMetrics } from "./metrics.ts";
import { createOutside } from "./outside.ts";
import { pluginController } from "./plugin-controller.ts";

const key = { namespace: "games", name: "homes" };

test("what a repository failed to tell about an edited plugin is asked for again within a quarter of an hour", async () => {
  const world = createWorld({ kinds: [PaperMCServer, Plugin] });
  const { env } = world;
  let isDown = false;
  const repository = withDemoRepositories(() => Promise.reject(new Error("nobody is there")));
  const outside = createOutside({
    env,
    userAgent: "test",
    fetch: (request) => (isDown ? Promise.reject(new Error("connect ECONNREFUSED")) : repository(request)),
  });
  const manager = createManager({ env, client: world.client });
  const metrics = minecraftMetrics(manager.metrics, env);
  manager.add(pluginController({ env, outside, baseUrls: defaultBaseUrls, metrics }));
  const { status: _server, ...newServer } = server("survival", { paper: [] });
  const source = { type: "hangar" as const, project: "capstan-demo-homes" };
  const { status: _plugin, ...newPlugin } = plugin("homes", { versions: {}, spec: { source } });
  await world.direct.create(PaperMCServer, newServer);
  await world.direct.create(Plugin, newPlugin);
  const started = manager.start();
  await env.advance(100);
  await started;
  const says = (wanted: string): Promise<unknown> =>
    eventually(env, async () => assert.equal((await world.direct.get(Plugin, key)).status?.repositoryStatus, wanted));
  await says("available");
  isDown = true;
  await world.direct.patch(Plugin, key, { type: "merge", value: { spec: { updateDelay: "1h" } } });
  await says("orphaned");
  isDown = false;
  // Something else happens meanwhile, and is no reason to forget the question.
  const labels = { more: "yes" };
  await world.direct.patch(
    PaperMCServer,
    { ...key, name: "survival" },
    { type: "merge", value: { metadata: { labels } } },
  );
  await env.advance(16 * 60_000);
  await says("available");
  await manager.stop();
});

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { ModuleManifest } from "../../src/api/module-manifest.ts";
import { Plugin } from "../../src/api/plugin.ts";
import { ServiceTarget } from "../../src/api/service-target.ts";
import { WorldInstance } from "../../src/api/world-instance.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import type { Client } from "../../src/client/client.ts";
import { eventually, startEmbedded } from "./embedded.ts";

const providerProgram = [process.execPath, join(import.meta.dirname, "../../src/cli/provide-main.ts")];
const stormy = { namespace: "anvil-demo", name: "stormy-world" };
const weather = { namespace: "anvil-demo", name: "weather" };
const providers = { namespace: "anvil-demo", name: "providers" };

const phaseIs = (client: Client, wanted: string): Promise<WorldInstance> =>
  eventually(
    () => client.get(WorldInstance, stormy),
    ({ status }) => assert.equal(status?.phase, wanted),
  );

/** Who the dashboard takes the holder of a cookie for. */
async function whoIs(url: string, cookie: string): Promise<object> {
  const headers = { cookie: cookie.split(";", 1)[0] ?? "", "sec-fetch-site": "same-origin" };
  const session = (await (await fetch(`${url}/ui/api/session`, { headers })).json()) as Record<string, unknown>;
  return { signedIn: session["signedIn"], username: session["username"] };
}

test("the next start goes on where the last one stopped: what a person mended, scaled and deleted stays so", {
  timeout: 180_000,
}, async (context) => {
  const first = await startEmbedded(context, ["demo"], { demo: true, command: providerProgram });
  await phaseIs(first.client, "Error");
  await eventually(
    () => first.client.list(ServiceTarget),
    ({ items }) =>
      assert.deepEqual(items.map(({ spec, status }) => `${spec.serviceName} ${status?.health}`).sort(), [
        "core-physics-engine HEALTHY",
        "core-time-source HEALTHY",
        "forecast HEALTHY",
        "route-runner HEALTHY",
      ]),
  );
  const { spec } = await first.client.get(ModuleManifest, weather);
  const requires = spec.requires?.map((each) => ({ ...each, versionConstraint: "^1.0.0" }));
  await first.client.patch(ModuleManifest, weather, { type: "merge", value: { spec: { requires } } });
  await phaseIs(first.client, "Running");
  await first.client.delete(Plugin, { namespace: "minecraft-demo", name: "market" });
  await first.client.patch(Deployment, providers, { type: "merge", value: { spec: { replicas: 0 } } });
  const cookie = (await fetch(first.plane.signInLink, { redirect: "manual" })).headers.get("set-cookie") ?? "";
  assert.deepEqual(await whoIs(first.plane.http, cookie), { signedIn: true, username: "capstan-admin" });
  await first.stop();

  const second = await startEmbedded(context, ["demo"], {
    demo: true,
    command: providerProgram,
    dataDir: first.dataDir,
  });
  assert.deepEqual(
    await whoIs(second.plane.http, cookie),
    { signedIn: true, username: "capstan-admin" },
    "still signed in",
  );
  await phaseIs(second.client, "Running");
  assert.equal((await second.client.get(Deployment, providers)).spec.replicas, 0);
  await assert.rejects(second.client.get(Plugin, { namespace: "minecraft-demo", name: "market" }), isNotFound);

  await context.test("providers that were taken away stay away", async () => {
    await second.client.delete(Deployment, providers);
    await second.stop();
    const third = await startEmbedded(context, ["demo"], { demo: true, dataDir: first.dataDir });
    await assert.rejects(third.client.get(Deployment, providers), isNotFound);
  });
});

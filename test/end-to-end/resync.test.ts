import assert from "node:assert/strict";
import { test } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { ConfigMap } from "../../src/api/builtin/configuration.ts";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { Service } from "../../src/api/builtin/service.ts";
import { CapabilityBinding } from "../../src/api/capability-binding.ts";
import { customResourceDefinitions } from "../../src/api/crds.ts";
import { GameDefinition } from "../../src/api/game-definition.ts";
import { ModuleManifest } from "../../src/api/module-manifest.ts";
import { annotations } from "../../src/api/well-known.ts";
import { WorldInstance } from "../../src/api/world-instance.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import { createClient } from "../../src/client/create-client.ts";
import { bindingEndpoints } from "../../src/controllers/binding-endpoints/controller.ts";
import { endpointConfig } from "../../src/controllers/binding-endpoints/endpoint-config.ts";
import { capabilityResolver } from "../../src/controllers/capability-resolver/controller.ts";
import {
  game,
  manifest,
  namespace,
  provides,
  requires,
  world,
} from "../../src/controllers/capability-resolver/example-world.ts";
import { gameStatus } from "../../src/controllers/capability-resolver/game-status.ts";
import { moduleStatus } from "../../src/controllers/capability-resolver/module-status.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { HttpHandler } from "../../src/http/message.ts";
import { createManager, type Manager } from "../../src/runtime/manager.ts";
import { eventually } from "./embedded.ts";

const worldCount = 1_000;

test("a resync of a thousand worlds writes nothing", async (context) => {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
  });
  context.after(() => server.close());
  const writes = new Map<string, number>();
  const transport: HttpHandler = (request) => {
    if (request.method !== "GET") writes.set(request.method, (writes.get(request.method) ?? 0) + 1);
    return server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } });
  };
  const client = createClient({ env: systemEnv, transport });
  for (const definition of customResourceDefinitions) await client.create(CustomResourceDefinition, definition);
  await client.create(Namespace, { metadata: { name: namespace } });
  await eventually(
    () => client.list(WorldInstance),
    ({ items }) => assert.equal(items.length, 0),
  );
  const bare = <T extends { readonly metadata: { readonly name: string } }>(object: T): T => ({
    ...object,
    metadata: { name: object.metadata.name, namespace },
  });
  await client.create(ModuleManifest, bare(manifest("clock", [provides("time.source")])));
  const physics = bare(manifest("physics", [provides("physics.engine")], [requires("time.source")]));
  await client.create(ModuleManifest, {
    ...physics,
    metadata: { ...physics.metadata, annotations: { [annotations.endpoints]: "configmap" } },
  });
  await client.create(Service, { metadata: { name: "clock", namespace }, spec: { ports: [{ port: 80 }] } });
  await client.create(GameDefinition, bare(game(["clock", "physics"])));
  for (let index = 0; index < worldCount; index++) await client.create(WorldInstance, bare(world(`world-${index}`)));

  const first = await start();
  await eventually(
    () => client.list(ConfigMap, { labelSelector: "capstan.dev/controller=endpoint-config" }),
    ({ items }) =>
      assert.equal(items.filter(({ data }) => data?.["ANVIL_CAPABILITY_TIME_SOURCE_PORT"] === "80").length, worldCount),
  );
  await eventually(
    () => client.list(CapabilityBinding),
    ({ items }) => assert.equal(items.filter(({ status }) => status?.phase === "Bound").length, worldCount),
  );
  await eventually(
    () => client.list(WorldInstance),
    ({ items }) => assert.equal(items.filter(({ status }) => status?.phase === "Running").length, worldCount),
  );
  await eventually(
    () => client.list(ModuleManifest),
    ({ items }) =>
      assert.ok(items.every(({ status }) => status?.message?.startsWith(`${worldCount} worlds use this module`))),
  );
  await first.stop();

  writes.clear();
  const second = await start();
  const reconciled = (controller: string): number =>
    second.metrics
      .counter({ name: "controller_runtime_reconcile_total", help: "", labels: ["controller", "result"] })
      .get({ controller, result: "success" });
  for (const controller of ["capability-resolver", "binding-endpoints", "endpoint-config"]) {
    await eventually(
      async () => reconciled(controller),
      (count) => assert.ok(count >= worldCount, `${controller} looked ${count} times`),
    );
  }
  await second.stop();
  assert.deepEqual(Object.fromEntries(writes), {});

  async function start(): Promise<Manager> {
    const manager = createManager({ env: systemEnv, client });
    manager.add(capabilityResolver(manager.metrics));
    manager.add(bindingEndpoints({ registryNamespace: "capstan-system" }));
    manager.add(endpointConfig);
    manager.add(gameStatus);
    manager.add(moduleStatus());
    await manager.start();
    return manager;
  }
});

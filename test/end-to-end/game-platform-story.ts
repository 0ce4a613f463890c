import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { ConfigMap } from "../../src/api/builtin/configuration.ts";
import { Service } from "../../src/api/builtin/service.ts";
import { CapabilityBinding } from "../../src/api/capability-binding.ts";
import { GameDefinition } from "../../src/api/game-definition.ts";
import { ModuleManifest } from "../../src/api/module-manifest.ts";
import { WorldInstance } from "../../src/api/world-instance.ts";
import type { Client } from "../../src/client/client.ts";
import { findCondition } from "../../src/kube/condition.ts";

const namespace = "anvil-demo";
const running = { namespace, name: "anvil-sample-world" };
const stormy = { namespace, name: "stormy-world" };

/** Asks until the answer passes, as patiently as the server under test deserves. */
export type Eventually = <T>(ask: () => Promise<T>, passes: (answer: T) => void) => Promise<T>;

/** The story of the demo's worlds, on whatever API the client reaches; the demo has been applied. */
export async function worldsStory(context: TestContext, client: Client, eventually: Eventually): Promise<void> {
  await context.test("a world whose requirements are met runs", async () => {
    const world = await eventually(
      () => client.get(WorldInstance, running),
      ({ status }) => assert.equal(status?.phase, "Running"),
    );
    assert.equal(findCondition(world.status?.conditions, "BindingsResolved")?.reason, "AllResolved");
    const bindings = await client.list(CapabilityBinding, {
      namespace,
      labelSelector: "game.platform/world=anvil-sample-world",
    });
    assert.deepEqual(bindings.items.map(({ metadata }) => metadata.name).sort(), [
      "cb-anvil-sample-world-core-interaction-engine-physics-engine-world-1",
      "cb-anvil-sample-world-core-physics-engine-time-source-world-1",
    ]);
  });

  await context.test("a world with an unmet requirement says which and why", async () => {
    const world = await eventually(
      () => client.get(WorldInstance, stormy),
      ({ status }) => assert.equal(status?.phase, "Error"),
    );
    assert.equal(findCondition(world.status?.conditions, "BindingsResolved")?.reason, "UnresolvedRequired");
    assert.match(
      world.status?.message ?? "",
      /weather requires time\.source \(no compatible provider found: core-time-source has version 1\.0\.0/,
    );
  });

  await context.test("games and modules tell how they fare", async () => {
    await eventually(
      () => client.get(GameDefinition, { namespace, name: "anvil-sample" }),
      ({ status }) => assert.equal(status?.phase, "Valid"),
    );
    await eventually(
      () => client.get(ModuleManifest, { namespace, name: "weather" }),
      ({ status }) => assert.deepEqual(status?.unresolvedRequires?.[0]?.worlds, ["stormy-world"]),
    );
  });

  await context.test("a manifest that appears heals the world", async () => {
    const weather = await client.get(ModuleManifest, { namespace, name: "weather" });
    const [need] = weather.spec.requires;
    assert.ok(need);
    await client.patch(
      ModuleManifest,
      { namespace, name: "weather" },
      { type: "merge", value: { spec: { requires: [{ ...need, versionConstraint: "^1.0.0" }] } } },
    );
    await eventually(
      () => client.get(WorldInstance, stormy),
      ({ status }) => assert.equal(status?.phase, "Running"),
    );
  });

  await context.test("a binding that somebody edited is put back, a deleted one comes back", async () => {
    const key = { namespace, name: "cb-anvil-sample-world-core-physics-engine-time-source-world-1" };
    await client.patch(CapabilityBinding, key, {
      type: "merge",
      value: { spec: { provider: { moduleManifestName: "elsewhere" } } },
    });
    await eventually(
      () => client.get(CapabilityBinding, key),
      ({ spec }) => assert.equal(spec.provider.moduleManifestName, "core-time-source"),
    );
    const { uid } = (await client.get(CapabilityBinding, key)).metadata;
    await client.delete(CapabilityBinding, key);
    await eventually(
      () => client.get(CapabilityBinding, key),
      ({ metadata }) => assert.notEqual(metadata.uid, uid),
    );
  });

  await context.test(
    "a binding is Bound when its provider has a Service, and the consumer gets its endpoints",
    async () => {
      const key = { namespace, name: "cb-anvil-sample-world-core-physics-engine-time-source-world-1" };
      await eventually(
        () => client.get(CapabilityBinding, key),
        ({ status }) => assert.equal(status?.phase, "Pending"),
      );
      await client.patch(
        ModuleManifest,
        { namespace, name: "core-physics-engine" },
        { type: "merge", value: { metadata: { annotations: { "capstan.dev/endpoints": "configmap" } } } },
      );
      await client.create(Service, {
        metadata: { namespace, name: "core-time-source" },
        spec: { ports: [{ port: 50051 }] },
      });
      const bound = await eventually(
        () => client.get(CapabilityBinding, key),
        ({ status }) => assert.equal(status?.phase, "Bound"),
      );
      assert.equal(bound.status?.resolvedEndpoint, "core-time-source.anvil-demo.svc:50051");
      await eventually(
        () => client.get(ConfigMap, { namespace, name: "anvil-sample-world-core-physics-engine-endpoints" }),
        ({ data }) => assert.equal(data?.["ANVIL_CAPABILITY_TIME_SOURCE_PORT"], "50051"),
      );
      await client.delete(Service, { namespace, name: "core-time-source" });
      await eventually(
        () => client.get(CapabilityBinding, key),
        ({ status }) => {
          assert.equal(status?.phase, "Pending");
          assert.equal(status?.resolvedEndpoint, undefined);
        },
      );
    },
  );

  await context.test("an unreadable constraint is the world's error, and other worlds do not notice", async () => {
    await client.patch(
      ModuleManifest,
      { namespace, name: "weather" },
      {
        type: "merge",
        value: {
          spec: {
            requires: [
              {
                capabilityId: "time.source",
                versionConstraint: ">=oops",
                scope: "world",
                multiplicity: "1",
                dependencyMode: "optional",
              },
            ],
          },
        },
      },
    );
    const world = await eventually(
      () => client.get(WorldInstance, stormy),
      ({ status }) =>
        assert.equal(findCondition(status?.conditions, "BindingsResolved")?.reason, "InvalidSemverConstraint"),
    );
    assert.equal(world.status?.phase, "Error");
    assert.equal((await client.get(WorldInstance, running)).status?.phase, "Running");
  });

  await context.test("a binding of somebody else keeps its name, and the world gets its own beside it", async () => {
    const name = "cb-late-world-core-physics-engine-time-source-world-1";
    await client.create(CapabilityBinding, {
      metadata: { namespace, name },
      spec: {
        capabilityId: "time.source",
        scope: "world",
        multiplicity: "1",
        consumer: { moduleManifestName: "core-physics-engine" },
        provider: { moduleManifestName: "by-hand", capabilityVersion: "9.0.0" },
      },
    });
    const { spec } = await client.get(WorldInstance, running);
    await client.create(WorldInstance, { metadata: { namespace, name: "late-world" }, spec });
    await eventually(
      () => client.get(WorldInstance, { namespace, name: "late-world" }),
      ({ status }) => assert.equal(status?.phase, "Running"),
    );
    const { items } = await client.list(CapabilityBinding, {
      namespace,
      labelSelector: "game.platform/world=late-world,game.platform/capabilityId=time.source",
    });
    assert.match(items.map(({ metadata }) => metadata.name).join(), new RegExp(`^${name}-[0-9a-f]{8}$`));
    const byHand = await client.get(CapabilityBinding, { namespace, name });
    assert.equal(byHand.spec.provider.moduleManifestName, "by-hand");
    await client.delete(CapabilityBinding, { namespace, name });
    await client.delete(WorldInstance, { namespace, name: "late-world" });
  });

  await context.test("without its game a world loses its bindings, and a stopped world keeps them", async () => {
    await client.patch(WorldInstance, running, { type: "merge", value: { spec: { desiredState: "Stopped" } } });
    await eventually(
      () => client.get(WorldInstance, running),
      ({ status }) => assert.equal(status?.phase, "Stopped"),
    );
    await client.delete(GameDefinition, { namespace, name: "anvil-with-weather" });
    await eventually(
      () => client.list(CapabilityBinding, { namespace }),
      ({ items }) =>
        assert.deepEqual([...new Set(items.map(({ spec }) => spec.worldRef?.name))], ["anvil-sample-world"]),
    );
    await eventually(
      () => client.get(WorldInstance, stormy),
      ({ status }) =>
        assert.equal(findCondition(status?.conditions, "BindingsResolved")?.reason, "GameDefinitionNotFound"),
    );
  });
}

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Namespace } from "../../api/builtin/cluster.ts";
import { ServiceTarget } from "../../api/service-target.ts";
import { createManager, type Manager } from "../../runtime/manager.ts";
import { eventually, settle } from "../../testing/eventually.ts";
import { createWorld, type World } from "../../testing/world.ts";
import { openAccess } from "../access/access.ts";
import { createRegistry, type Registry } from "../registry.ts";
import { MemoryLog } from "../storage/memory-log.ts";
import { serviceTargetMirror } from "./mirror.ts";

interface Mirrored {
  readonly world: World;
  readonly registry: Registry;
  readonly manager: Manager;
  readonly memory: MemoryLog;
}

async function mirrored(
  world = createWorld({ kinds: [ServiceTarget, Namespace] }),
  memory?: MemoryLog,
): Promise<Mirrored> {
  const { env } = world;
  const kept = memory ?? new MemoryLog(() => env.now().getTime());
  const registry = createRegistry({ env, storage: kept.replica(), access: openAccess });
  await registry.start();
  const manager = createManager({ env, client: world.client });
  manager.add(serviceTargetMirror({ core: registry.core }));
  const started = manager.start();
  await env.advance(100);
  await started;
  return { world, registry, manager, memory: kept };
}

const target = (id: string | null, own: object = {}): Parameters<Registry["core"]["submit"]>[0] => ({
  kind: "Register",
  newId: "new",
  by: { name: "", namespace: null, isAdministrator: true },
  target: {
    id,
    serviceName: "chat",
    host: "10.0.0.1",
    port: 9009,
    serviceType: "tool-invoker",
    serviceSubType: null,
    languageName: null,
    languageType: null,
    languageSubType: null,
    ...own,
  },
});
const anyone = { name: "", namespace: null, isAdministrator: true };
const writes = ({ world }: Mirrored): number => world.faults.count(({ isWrite }) => isWrite);

describe("the mirror", () => {
  test("writes a service as an object, its health as status, and nothing for heartbeats", async () => {
    const mirror = await mirrored();
    const { world, registry } = mirror;
    await registry.core.submit(target("aaaa"));
    await eventually(world.env, () => {
      const [object] = world.all(ServiceTarget);
      assert.deepEqual(object?.spec, {
        id: "aaaa",
        serviceName: "chat",
        host: "10.0.0.1",
        port: 9009,
        serviceType: "tool-invoker",
      });
      assert.equal(object?.metadata.namespace, "capstan-system");
      assert.equal(object?.status?.health, "PENDING");
    });
    await registry.core.ping("aaaa", anyone);
    await eventually(world.env, () => assert.equal(world.all(ServiceTarget)[0]?.status?.health, "HEALTHY"));
    const before = writes(mirror);
    for (let beat = 0; beat < 20; beat++) {
      await world.env.advance(10_000);
      await registry.core.ping("aaaa", anyone);
    }
    assert.equal(writes(mirror), before, "heartbeats never reach the API");
    await world.env.advance(95_000);
    await eventually(world.env, () => {
      const status = world.all(ServiceTarget)[0]?.status;
      assert.deepEqual([status?.health, status?.active, status?.reason], ["DOWN", false, "missing in action"]);
      assert.equal(status?.lastSeen, "2026-01-01T00:03:20Z");
    });
    await world.env.advance(600_000);
    await eventually(world.env, () => assert.deepEqual(world.all(ServiceTarget), []));
    await mirror.manager.stop();
  });

  test("puts a service of a ServiceAccount into its namespace, and ids that are no names under a name", async () => {
    const mirror = await mirrored();
    const { world, registry } = mirror;
    const by = { name: "system:serviceaccount:team-a:x", namespace: "team-a", isAdministrator: false };
    await registry.core.submit({ ...target("Not/A_Name"), by } as Parameters<Registry["core"]["submit"]>[0]);
    await eventually(world.env, () => {
      const [object] = world.all(ServiceTarget);
      assert.equal(object?.metadata.namespace, "team-a");
      assert.match(object?.metadata.name ?? "", /^service-[0-9a-f]{40}$/);
      assert.equal(object?.status?.owner, "system:serviceaccount:team-a:x");
    });
    await registry.core.submit({ kind: "Deregister", id: "Not/A_Name", by });
    await eventually(world.env, () => assert.deepEqual(world.all(ServiceTarget), []));
    await mirror.manager.stop();
  });

  test("after a restart writes nothing that is there already, and removes what is gone", async () => {
    const first = await mirrored();
    await first.registry.core.submit(target("stays"));
    await first.registry.core.submit(target("goes", { port: 2 }));
    await eventually(first.world.env, () => assert.equal(first.world.all(ServiceTarget).length, 2));
    await settle(first.world.env, () => writes(first));
    await first.manager.stop();
    await first.registry.core.submit({ kind: "Deregister", id: "goes", by: anyone });
    await first.registry.stop();
    const before = writes(first);
    const second = await mirrored(first.world, first.memory);
    await eventually(second.world.env, () => assert.equal(second.world.all(ServiceTarget).length, 1));
    await settle(second.world.env, () => writes(second));
    assert.equal(writes(second) - before, 1, "one deletion");
    await second.manager.stop();
  });

  for (const [verb, method] of [
    ["writes", "PATCH"],
    ["removes", "DELETE"],
  ])
    test(`${verb} what was refused once the quota, the webhook or the right allows it again`, async () => {
      const mirror = await mirrored();
      const { world, registry } = mirror;
      await registry.core.submit(target("before"));
      await eventually(world.env, () => assert.equal(world.all(ServiceTarget).length, 1));
      const allow = world.faults.add({
        when: (request) => request.method === method && request.path.includes("servicetargets"),
        fault: { kind: "Answer", code: 403, reason: "Forbidden", message: "exceeded quota: small" },
      });
      await registry.core.submit(target("later"));
      await registry.core.submit({ kind: "Deregister", id: "before", by: anyone });
      await world.env.advance(60_000);
      allow();
      await eventually(world.env, () =>
        assert.deepEqual(
          world.all(ServiceTarget).map(({ metadata }) => metadata.name),
          ["later"],
        ),
      );
      await mirror.manager.stop();
    });

  test("mirrors what the registry loads after the mirror has begun", async () => {
    const { registry, memory, manager, world: first } = await mirrored();
    await registry.core.submit(target("kept"));
    await eventually(first.env, () => assert.equal(first.all(ServiceTarget).length, 1));
    await manager.stop();
    const world = createWorld({ kinds: [ServiceTarget, Namespace] });
    const late = createRegistry({ env: world.env, storage: memory.replica(), access: openAccess });
    const next = createManager({ env: world.env, client: world.client });
    next.add(serviceTargetMirror({ core: late.core }));
    const started = next.start();
    await world.env.advance(100);
    await started;
    await late.start();
    await eventually(world.env, () => assert.equal(world.all(ServiceTarget).length, 1));
    await next.stop();
  });

  test("leaves what people made alone, and mends what people changed", async () => {
    const mirror = await mirrored();
    const { world, registry } = mirror;
    const byHand = { serviceName: "mine", host: "h", port: 1 };
    await world.direct.create(ServiceTarget, { metadata: { name: "by-hand", namespace: "team-a" }, spec: byHand });
    await registry.core.submit(target("ours"));
    await eventually(world.env, () => assert.equal(world.all(ServiceTarget).length, 2));
    const key = { namespace: "capstan-system", name: "ours" };
    await world.direct.patch(ServiceTarget, key, { type: "merge", value: { spec: { host: "evil" } } });
    await eventually(world.env, async () =>
      assert.equal((await world.direct.get(ServiceTarget, key)).spec.host, "10.0.0.1"),
    );
    assert.ok(world.all(ServiceTarget).some(({ metadata }) => metadata.name === "by-hand"));
    await mirror.manager.stop();
  });
});

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Pod } from "../../src/api/builtin/pod.ts";
import { ServiceTarget } from "../../src/api/service-target.ts";
import { killHard, leaderOf } from "./pods.ts";
import type { SecurePostgres } from "./postgres.ts";
import { logOf, startRegistrar } from "./registry.ts";
import { type ClusterWorld, eventually, systemNamespace } from "./world.ts";

const services = 150;

/** PostgreSQL and the registry's leader are killed while services register: what was acknowledged is there afterwards. */
export async function databaseFaults(
  context: TestContext,
  world: ClusterWorld,
  postgres: SecurePostgres,
): Promise<void> {
  await context.test("PostgreSQL and the leader are killed, and no acknowledged registration is lost", async () => {
    const name = "steady";
    await startRegistrar(world, { name, services });
    const acknowledged = async (): Promise<readonly string[]> =>
      [...(await logOf(world, name)).matchAll(/^acknowledged (\S+)/gm)].map(([, id]) => id ?? "");
    const atLeast = (count: number) =>
      eventually(acknowledged, (ids) => assert.ok(ids.length >= count, `${ids.length} of ${count} acknowledged`));
    await atLeast(10);
    await postgres.restart();
    await atLeast(30);
    const leader = await leaderOf(world.client, "capstan-registry");
    assert.ok(killHard(leader.metadata.uid ?? "") > 0);
    await eventually(
      () => logOf(world, name),
      (text) => assert.match(text, /all registered/),
    );
    const ids = await acknowledged();
    assert.equal(new Set(ids).size, services);
    await eventually(
      () => world.client.list(ServiceTarget, { namespace: systemNamespace }),
      ({ items }) => {
        const mirrored = new Set(items.map(({ spec }) => spec.id));
        assert.deepEqual(
          ids.filter((id) => !mirrored.has(id)),
          [],
        );
      },
    );
    const log = await logOf(world, name);
    const troubles = log.split("\n").filter((line) => /^(refused|failed)/.test(line)).length;
    context.diagnostic(`${services} registrations acknowledged and kept, ${troubles} tries were refused on the way`);
    await world.client.delete(Pod, { namespace: systemNamespace, name: `registrar-${name}` });
  });
}

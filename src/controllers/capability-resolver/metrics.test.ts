import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorldInstance } from "../../api/world-instance.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { MetricsRegistry } from "../../runtime/metrics.ts";
import type { Read } from "../../runtime/read.ts";
import { resolverMetrics } from "./metrics.ts";

test("worlds that are gone are forgotten, although nobody asks for metrics", () => {
  const registry = new MetricsRegistry();
  const metrics = resolverMetrics(registry);
  const alive = new Set(["stays"]);
  let asked = 0;
  const read = {
    get: (_kind: unknown, { name }: ObjectKey) => {
      asked++;
      return alive.has(name) ? {} : undefined;
    },
  } as unknown as Read;
  const observe = (name: string): void => {
    const world = { metadata: { namespace: "ns", name } } as WorldInstance;
    const plan = { apply: [], unchanged: 3 };
    const verdict = { bindings: { reason: "Resolved" } };
    metrics.observe(world, { kind: "Resolve", plan, verdict } as never, { applied: 0 } as never, read);
  };
  observe("stays");
  for (let index = 0; index < 10_000; index++) observe(`passing-${index}`);
  assert.ok(asked < 3 * 10_000, `looking who is gone took ${asked} looks`);
  asked = 0;
  assert.match(registry.expose(), /^capabilityresolver_bindings_desired 3$/m);
  assert.ok(asked < 200, `${asked} worlds were remembered`);
});

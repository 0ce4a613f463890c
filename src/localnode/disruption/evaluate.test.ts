import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/builtin/pod.ts";
import type { PodDisruptionBudget } from "../../api/builtin/scaling.ts";
import { evaluate } from "./evaluate.ts";

const now = new Date(Date.UTC(2026, 0, 1, 12));

const pod = (name: string, isReady: boolean): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, uid: name },
  spec: { containers: [] },
  status: { phase: "Running", conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
});

const budget = (spec: PodDisruptionBudget["spec"], disruptedPods = {}): PodDisruptionBudget => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "b", generation: 3 },
  spec,
  status: { disruptedPods },
});

const three = [pod("a", true), pod("b", true), pod("c", true)];
const cases: readonly [string, PodDisruptionBudget, readonly Pod[], number, readonly [number, number, number]][] = [
  ["a number that must stay", budget({ minAvailable: 2 }), three, 3, [3, 2, 1]],
  ["a share that must stay, of what is wanted", budget({ minAvailable: "50%" }), three, 4, [3, 2, 1]],
  ["a number that may be missing", budget({ maxUnavailable: 1 }), three, 4, [3, 3, 0]],
  ["unready pods do not count", budget({ minAvailable: 1 }), [pod("a", true), pod("b", false)], 2, [1, 1, 0]],
  ["nothing wanted, nothing allowed", budget({ maxUnavailable: 1 }), [], 0, [0, 0, 0]],
  [
    "an eviction under way counts as done",
    budget({ minAvailable: 1 }, { a: "2026-01-01T11:59:30Z" }),
    three,
    3,
    [2, 1, 1],
  ],
  ["one that never happened does not", budget({ minAvailable: 1 }, { a: "2026-01-01T11:50:00Z" }), three, 3, [3, 1, 2]],
];

for (const [name, subject, pods, expected, [healthy, desired, allowed]] of cases) {
  test(`disruption budget: ${name}`, () => {
    const { status } = evaluate({ budget: subject, pods, expected, now });
    assert.deepEqual(
      [status.currentHealthy, status.desiredHealthy, status.disruptionsAllowed],
      [healthy, desired, allowed],
    );
    assert.equal(status.conditions?.[0]?.status, allowed > 0 ? "True" : "False");
  });
}

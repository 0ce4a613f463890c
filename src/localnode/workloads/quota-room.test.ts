import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceQuota } from "../../api/builtin/cluster.ts";
import { givesRoom } from "./quota-room.ts";

type Amounts = Readonly<Record<string, string>>;

const quota = (hard: Amounts, used: Amounts): ResourceQuota => ({
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { namespace: "n", name: "q" },
  spec: {},
  status: { hard, used },
});

const full = quota({ pods: "2", cpu: "1" }, { pods: "2", cpu: "500m" });

const cases: readonly [string, ResourceQuota, boolean][] = [
  ["nothing changes", full, false],
  ["more is used", quota({ pods: "2", cpu: "1" }, { pods: "2", cpu: "600m" }), false],
  ["less is used", quota({ pods: "2", cpu: "1" }, { pods: "1", cpu: "500m" }), true],
  ["more of one and less of another is used", quota({ pods: "2", cpu: "1" }, { pods: "1", cpu: "1" }), true],
  ["more is allowed", quota({ pods: "3", cpu: "1" }, { pods: "2", cpu: "500m" }), true],
  ["less is allowed", quota({ pods: "1", cpu: "1" }, { pods: "2", cpu: "500m" }), false],
  ["something is no longer limited", quota({ pods: "2" }, { pods: "2" }), true],
  ["something else is limited too", quota({ pods: "2", cpu: "1", memory: "1" }, { pods: "2", cpu: "500m" }), false],
];

for (const [name, object, room] of cases) {
  test(`room in a quota: ${name}`, () => {
    assert.equal(givesRoom({ kind: "Updated", old: full, object, origin: "Watch" }), room);
  });
}

test("room in a quota: one that comes gives none, one that goes gives all", () => {
  assert.equal(givesRoom({ kind: "Added", object: full, origin: "Watch" }), false);
  assert.equal(givesRoom({ kind: "Deleted", object: full, finalStateUnknown: false, origin: "Watch" }), true);
});

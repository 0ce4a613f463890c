import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome } from "./act.ts";
import type { EnforcementChange } from "./nfr/plan.ts";
import { Unsaid } from "./unsaid.ts";

const nothing: Outcome = { applied: [], removed: [], orphans: [], refusals: [], unserved: [], enforced: [] };
const change: EnforcementChange = {
  dimension: "replicas",
  target: 3,
  confidence: 1,
  cooldownUntil: new Date(0),
  holders: [],
};
const conflict = { ok: false, change, reason: "EnforceConflict", message: "no" } as const;

test("what could not be told is told with the next look, and only once", () => {
  const unsaid = new Unsaid();
  const stray = { reason: "Orphaned", message: "Found unmanaged Service/stray; cleanup scheduled." } as const;
  const first: Outcome = {
    ...nothing,
    applied: ["Service/a"],
    removed: ["Service/stray"],
    orphans: [stray],
    refusals: [{ reason: "Conflict", message: "for a moment" }],
    enforced: [{ ok: true, change }, conflict],
  };
  assert.equal(unsaid.add("uid", first), first);
  const second = unsaid.add("uid", { ...nothing, applied: ["Service/a", "Service/b"] });
  assert.deepEqual(second, {
    ...nothing,
    applied: ["Service/a", "Service/b"],
    removed: ["Service/stray"],
    orphans: [stray],
    enforced: [{ ok: true, change }],
  });
  assert.deepEqual(unsaid.add("another", nothing), nothing);
  unsaid.told("uid");
  assert.deepEqual(unsaid.add("uid", nothing), nothing);
});

test("classes that went away are forgotten in the end", () => {
  const unsaid = new Unsaid();
  for (let index = 0; index < 1_001; index++) unsaid.add(`uid-${index}`, { ...nothing, applied: ["x"] });
  assert.deepEqual(unsaid.add("uid-0", nothing), nothing);
  assert.deepEqual(unsaid.add("uid-1000", nothing).applied, ["x"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { findCondition } from "../../kube/condition.ts";
import { server } from "./example-fleet.ts";
import { serverStatus } from "./server-status.ts";

const now = new Date("2026-01-15T00:00:00Z");

test("without an answer in time everything stays as it was decided last, and the condition says so", () => {
  const before = server("survival", { current: "1.20.4", build: 499, paper: ["1.21.4", "1.20.4"] });
  const decided = { ...before.status, desiredVersion: "1.20.4", updateBlocked: { blocked: true, reason: "r" } };
  const { status, events } = serverStatus({ ...before, status: decided }, undefined, undefined, now);
  const { conditions, ...rest } = status;
  assert.deepEqual(rest, decided);
  assert.deepEqual(events, []);
  const running = findCondition(conditions, "SolverRunning");
  assert.deepEqual([running?.status, running?.reason], ["False", "SolverFailed"]);
  assert.equal(running?.message, "No answer was found in time; the last one stays");
});

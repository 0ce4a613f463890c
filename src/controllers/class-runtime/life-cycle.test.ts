import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClassRuntimePhase, classRuntimePhases } from "../../api/class-runtime.ts";
import { edges, mayGo, nextPhase } from "./life-cycle.ts";

const drawn: readonly string[] = [
  "pending applying",
  "applying progressing",
  "applying degraded",
  "progressing available",
  "progressing degraded",
  "degraded progressing",
  "available progressing",
  "available degraded",
  "pending deleting",
  "applying deleting",
  "progressing deleting",
  "available deleting",
  "degraded deleting",
];

test("the table has the edges of the drawing and the two that its tables need, and no other", () => {
  assert.deepEqual(edges.map(([from, to]) => `${from} ${to}`).sort(), [...drawn].sort());
  for (const from of classRuntimePhases) {
    for (const to of classRuntimePhases)
      assert.equal(mayGo(from, to), from === to || drawn.includes(`${from} ${to}`), `${from} -> ${to}`);
  }
});

test("a phase that is not next is reached step by step", () => {
  const ways: readonly (readonly [ClassRuntimePhase, ClassRuntimePhase, ClassRuntimePhase])[] = [
    ["degraded", "available", "progressing"],
    ["pending", "available", "applying"],
    ["pending", "degraded", "applying"],
    ["applying", "available", "progressing"],
    ["deleting", "available", "deleting"],
  ];
  for (const [from, wanted, next] of ways) assert.equal(nextPhase(from, wanted), next, `${from} towards ${wanted}`);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Behaviour, parseSimulation, plainBehaviour } from "./simulate.ts";

const understood: readonly [string, string, string, Partial<Behaviour>][] = [
  ["nothing at all", "", "web", {}],
  ["slow to be ready", "ready-after=5s", "web", { readyAfterMs: 5_000 }],
  ["slow to start", "start-after=1m30s", "web", { startAfterMs: 90_000 }],
  ["never ready", "never-ready", "web", { readyAfterMs: undefined }],
  ["never started", "never-start", "web", { neverStart: true }],
  ["ends at once", "exit=0", "web", { exit: { code: 0, afterMs: 0 } }],
  ["ends after a while", "exit=1 after=2s", "web", { exit: { code: 1, afterMs: 2_000 } }],
  ["the words in any order", "after=2s  exit=1", "web", { exit: { code: 1, afterMs: 2_000 } }],
  ["a rule for one container", "web: exit=3; never-ready", "web", { exit: { code: 3, afterMs: 0 } }],
  ["the rule for all others", "web: exit=3; never-ready", "db", { readyAfterMs: undefined }],
  ["killed for its memory", "oom", "web", { exit: { code: 137, afterMs: 0, isOutOfMemory: true } }],
  ["killed after a while", "after=2s oom", "web", { exit: { code: 137, afterMs: 2_000, isOutOfMemory: true } }],
  ["fits nowhere", "unschedulable", "web", { lacking: "cpu" }],
  ["fits nowhere for want of a resource", "unschedulable=example.com/gpu", "web", { lacking: "example.com/gpu" }],
  ["slow to stop", "stop-after=500ms", "web", { stopAfterMs: 500 }],
];

for (const [name, text, container, expected] of understood) {
  test(`simulate: ${name}`, () => {
    const parsed = parseSimulation(text);
    assert.ok(parsed.ok);
    assert.deepEqual(parsed.value.of(container), { ...plainBehaviour, ...expected });
  });
}

const refused: readonly [string, string, RegExp][] = [
  ["an unknown word", "explode", /"explode" is not understood: known words are start-after=5s/],
  ["no duration", "ready-after=soon", /takes a duration such as 5s/],
  ["an exit code out of range", "exit=256", /a number from 0 to 255/],
  ["a time without an end", "after=5s", /says when `exit=CODE` or `oom` happens/],
  ["a resource that is none", "unschedulable=a b", /"b" is not understood/],
  ["a resource without a name", "unschedulable=", /a resource is named as in requests/],
];

for (const [name, text, message] of refused) {
  test(`simulate refuses ${name}`, () => {
    const parsed = parseSimulation(text);
    assert.ok(!parsed.ok);
    assert.match(parsed.message, message);
  });
}

test("a pod fits nowhere when one of its containers does not", () => {
  const parsed = parseSimulation("web: never-ready; db: unschedulable=memory");
  assert.ok(parsed.ok);
  assert.equal(parsed.value.unschedulable, "memory");
});

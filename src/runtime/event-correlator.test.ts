import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { collectEverywhere } from "../env/threads.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { BoundedMap } from "./bounded-map.ts";
import { EventCorrelator, type RawEvent } from "./event-correlator.ts";

const eventOf = (name: string, message: string): RawEvent => ({
  component: "widgets",
  involvedObject: { apiVersion: "example.com/v1", kind: "Widget", name, namespace: "ns", uid: `uid-of-${name}` },
  type: "Warning",
  reason: "Failed",
  message,
});

describe("what events are remembered by", () => {
  const apart: readonly { readonly name: string; readonly other: Partial<RawEvent> }[] = [
    { name: "another component", other: { component: "gadgets" } },
    { name: "another type", other: { type: "Normal" } },
    { name: "another reason", other: { reason: "Lost" } },
    { name: "another message", other: { message: "no room!" } },
    {
      name: "an object of the same name that came after it",
      other: { involvedObject: { ...eventOf("one", "").involvedObject, uid: "uid-2" } },
    },
  ];
  for (const { name, other } of apart)
    test(`${name} makes another event`, () => {
      const correlator = new EventCorrelator(manualEnv());
      const first = correlator.correlate(eventOf("one", "no room"));
      const second = correlator.correlate({ ...eventOf("one", "no room"), ...other });
      assert.deepEqual([first?.count, second?.count], [1, 1]);
      assert.notEqual(first?.name, second?.name);
      const again = correlator.correlate(eventOf("one", "no room"));
      assert.deepEqual([again?.count, again?.name, again?.message], [2, first?.name, "no room"]);
    });

  test("similar events are single ones again ten minutes after the last of them", async () => {
    const env = manualEnv();
    const correlator = new EventCorrelator(env);
    for (let part = 0; part < 12; part++) correlator.correlate(eventOf("one", `part ${part}`));
    assert.match(correlator.correlate(eventOf("one", "part 12"))?.message ?? "", /^\(combined/);
    await env.advance(600_001);
    assert.equal(correlator.correlate(eventOf("one", "part 13"))?.message, "part 13");
  });
});

test("what is remembered of an event costs a few hundred bytes, however much it said", () => {
  const correlator = new EventCorrelator(manualEnv());
  const before = heapUsed();
  for (let index = 0; index < remembered; index++)
    correlator.correlate(eventOf(`object-${index}`, `${index} ${"x".repeat(1_000)}`));
  const bytesEach = (heapUsed() - before) / remembered;
  assert.ok(bytesEach < 1_000, `${bytesEach} bytes each`);
  assert.equal(correlator.correlate(eventOf("object-0", `0 ${"x".repeat(1_000)}`))?.count, 2, "and it is remembered");
});

describe("a bounded map", () => {
  test("forgets what was used longest ago", () => {
    const map = new BoundedMap<number>(2);
    for (const key of ["a", "b", "a", "c"]) map.set(key, 1);
    assert.deepEqual([map.has("a"), map.has("b"), map.has("c")], [true, false, true]);
  });

  test("forgets what has become stale, but never what it was just given", () => {
    let nowMs = 0;
    const map = new BoundedMap<number>(10, (atMs) => nowMs - atMs >= 5);
    map.set("a", 0);
    map.set("b", 3);
    nowMs = 6;
    map.set("c", 0);
    assert.deepEqual([map.has("a"), map.has("b"), map.has("c")], [false, true, true]);
  });
});

const remembered = 4_000;

function heapUsed(): number {
  collectEverywhere();
  return process.memoryUsage().heapUsed;
}

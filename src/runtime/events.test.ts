import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject } from "../kube/object.ts";
import { createWorld, type World } from "../testing/world.ts";
import { CoreEventKind, EventRecorder } from "./events.ts";
import { silentLogger } from "./log.ts";

const widget: KubeObject = {
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "one", namespace: "ns", uid: "uid-1", resourceVersion: "7" },
};
const recorderOf = (world: World): EventRecorder =>
  new EventRecorder({ env: world.env, client: world.client, log: silentLogger, instance: "pod-1" });
const events = (world: World) => world.all(CoreEventKind);

describe("event recorder", () => {
  test("an event has all that kubectl describe shows", async () => {
    const world = createWorld();
    recorderOf(world).as("widgets").record(widget, { type: "Normal", reason: "Made", message: "made 3 parts" });
    await world.env.flush();
    const [event] = events(world);
    assert.match(event?.metadata.name ?? "", /^one\.[0-9a-f]{16}$/);
    assert.deepEqual(
      { ...event, metadata: event?.metadata.namespace },
      {
        apiVersion: "v1",
        kind: "Event",
        metadata: "ns",
        involvedObject: {
          apiVersion: "example.com/v1",
          kind: "Widget",
          name: "one",
          namespace: "ns",
          uid: "uid-1",
          resourceVersion: "7",
        },
        type: "Normal",
        reason: "Made",
        message: "made 3 parts",
        count: 1,
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
        source: { component: "widgets" },
        reportingComponent: "widgets",
        reportingInstance: "pod-1",
      },
    );
  });

  test("a repetition raises the count by a patch", async () => {
    const world = createWorld();
    const recorder = recorderOf(world).as("widgets");
    for (let index = 0; index < 5; index++) {
      recorder.record(widget, { type: "Warning", reason: "Failed", message: "no room" });
      await world.env.advance(1000);
    }
    assert.equal(events(world).length, 1);
    assert.equal(events(world)[0]?.count, 5);
    assert.equal(events(world)[0]?.firstTimestamp, "2026-01-01T00:00:00Z");
    assert.equal(events(world)[0]?.lastTimestamp, "2026-01-01T00:00:04Z");
    const count = events(world)[0]?.count;
    assert.deepEqual(events(world)[0]?.series, { count, lastObservedTime: "2026-01-01T00:00:04.000000Z" });
    assert.equal(
      world.faults.count(({ method }) => method === "POST"),
      1,
    );
  });

  test("more than ten similar events are combined into one", async () => {
    const world = createWorld();
    const recorder = recorderOf(world).as("widgets");
    for (let index = 0; index < 20; index++)
      recorder.record(widget, { type: "Warning", reason: "Failed", message: `part ${index}` });
    await world.env.flush();
    assert.equal(events(world).length, 10);
    const combined = events(world).filter(({ message }) => message.startsWith("(combined from similar events): "));
    assert.deepEqual(
      combined.map(({ message, count }) => [message, count]),
      [["(combined from similar events): part 19", 11]],
    );
  });

  test("one object gets 25 events at once and then one every 5 minutes", async () => {
    const world = createWorld();
    const recorder = recorderOf(world);
    const voice = recorder.as("widgets");
    const record = (): void => voice.record(widget, { type: "Normal", reason: "Again", message: "again" });
    for (let index = 0; index < 40; index++) record();
    await world.env.flush();
    assert.equal(events(world)[0]?.count, 25);
    assert.equal(recorder.dropped, 15);
    await world.env.advance(300_000);
    record();
    record();
    await world.env.flush();
    assert.equal(recorder.dropped, 16);
  });

  test("an event that has expired is written anew, and a cluster-scoped object's goes to default", async () => {
    const world = createWorld();
    const recorder = recorderOf(world).as("widgets");
    const node: KubeObject = { apiVersion: "v1", kind: "Node", metadata: { name: "n1", uid: "uid-n" } };
    recorder.record(node, { type: "Normal", reason: "Seen", message: "seen" });
    await world.env.flush();
    const [first] = events(world);
    await world.direct.delete(CoreEventKind, { name: first?.metadata.name ?? "", namespace: "default" });
    recorder.record(node, { type: "Normal", reason: "Seen", message: "seen" });
    await world.env.flush();
    assert.equal(events(world)[0]?.count, 2);
    assert.equal(events(world)[0]?.metadata.namespace, "default");
  });

  test("a server in trouble is tried again, a refusal is not, and nothing is ever thrown", async () => {
    const world = createWorld();
    const recorder = recorderOf(world);
    world.faults.add({ when: ({ isWrite }) => isWrite, times: 8, fault: { kind: "Unreachable" } });
    recorder.as("widgets").record(widget, { type: "Normal", reason: "Made", message: "made" });
    await world.env.advance(120_000);
    assert.equal(events(world).length, 1);
    world.faults.add({ when: ({ isWrite }) => isWrite, fault: { kind: "Answer", code: 403, reason: "Forbidden" } });
    recorder.as("widgets").record(widget, { type: "Normal", reason: "Lost", message: "x".repeat(3000) });
    await world.env.advance(60_000);
    assert.equal(recorder.dropped, 1);
    await recorder.drained();
  });

  test("a long message is cut to what the API takes, between characters", async () => {
    const world = createWorld();
    recorderOf(world)
      .as("widgets")
      .record(widget, { type: "Normal", reason: "Made", message: "ü".repeat(2000) });
    await world.env.flush();
    const message = events(world)[0]?.message ?? "";
    assert.ok(Buffer.byteLength(message) <= 1024);
    assert.match(message, /^ü+…$/);
  });
});

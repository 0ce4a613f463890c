import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { manualEnv } from "../../testing/manual-env.ts";
import type { Registry } from "../registry.ts";
import { discoveryPath, registryWorld } from "../registry-for-tests.ts";

const path = "/api/v1/capabilities/notifications";

/** A reader that takes what it is given when it asks, and no sooner. */
async function reader(registry: Registry, query = "", headers: Record<string, string> = {}): Promise<Reader> {
  const hangUp = new AbortController();
  const response = await registry.handle({ method: "GET", target: path + query, headers, signal: hangUp.signal });
  assert.equal(response?.headers["content-type"], "text/event-stream");
  const body = response?.body[Symbol.asyncIterator]();
  let text = "";
  let waiting: Promise<IteratorResult<Uint8Array>> | undefined;
  return {
    hangUp: () => hangUp.abort(),
    async read(env) {
      for (;;) {
        waiting ??= body?.next();
        await env.flush();
        const next = await Promise.race([waiting, Promise.resolve("nothing" as const)]);
        if (next === "nothing" || next === undefined || next.done) break;
        waiting = undefined;
        text += new TextDecoder().decode(next.value);
      }
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      return frames;
    },
  };
}

interface Reader {
  hangUp(): void;
  read(env: { flush(): Promise<void> }): Promise<readonly string[]>;
}

const idOf = (frame: string): number => Number(/^id:(\d+)/.exec(frame)?.[1] ?? Number.NaN);
const eventOf = (frame: string): string => /event:(\w+)/.exec(frame)?.[1] ?? "";

describe("the notification feed", () => {
  test("tells its headers to whoever asks for no more, without making a subscriber of them", async () => {
    const { call, registry } = await registryWorld(manualEnv());
    const { status, headers, text } = await call("HEAD", path);
    assert.deepEqual([status, headers["content-type"], text], [200, "text/event-stream", ""]);
    assert.equal(registry.feed.subscribers, 0);
  });

  test("has the original's frames, byte for byte", async () => {
    const world = await registryWorld(manualEnv());
    const { read, hangUp } = await reader(world.registry);
    await read(world.env);
    const id = await world.register({ serviceName: "tool", serviceType: "tool-invoker" });
    const state = { timestamp: "2026-01-01T00:00:00Z", healthy: false, reason: "tired" };
    await world.call("POST", `${discoveryPath}/update/${id}`, state);
    await world.call("DELETE", discoveryPath, { id });
    const target = `{"id":"${id}","serviceName":"tool","host":"h","port":1,"serviceType":"tool-invoker","serviceSubType":null,"languageName":null,"languageType":null,"languageSubType":null}`;
    assert.deepEqual(await read(world.env), [
      `id:${id}\nevent:REGISTER\ndata:{"eventType":"REGISTER","id":"${id}","serviceTarget":${target},"serviceState":null}`,
      `id:${id}\nevent:UPDATE\ndata:{"eventType":"UPDATE","id":"${id}","serviceTarget":null,"serviceState":{"timestamp":"2026-01-01T00:00:00Z","healthy":false,"healthStatus":"UNHEALTHY","reason":"tired"}}`,
      `id:${id}\nevent:DEREGISTER\ndata:{"eventType":"DEREGISTER","id":"${id}","serviceTarget":${target},"serviceState":null}`,
    ]);
    hangUp();
  });

  test("begins with what happens after the subscription", async () => {
    const world = await registryWorld(manualEnv());
    await world.register({ serviceName: "before" });
    const { read, hangUp } = await reader(world.registry);
    assert.deepEqual(await read(world.env), []);
    await world.register({ serviceName: "after", port: 2 });
    assert.equal((await read(world.env)).length, 1);
    hangUp();
    await world.env.flush();
    assert.equal(world.registry.feed.subscribers, 0);
  });

  test("tells one heartbeat per service and second, to whoever listens now", async () => {
    const world = await registryWorld(manualEnv());
    const id = await world.register();
    await world.ping(id);
    const { read, hangUp } = await reader(world.registry);
    await read(world.env);
    for (let beat = 0; beat < 30; beat++) {
      await world.ping(id);
      await world.env.advance(100);
    }
    const pings = await read(world.env);
    assert.equal(pings.length, 3);
    assert.equal(
      pings[0],
      `id:${id}\nevent:PING\ndata:{"eventType":"PING","id":"${id}","serviceTarget":null,"serviceState":null}`,
    );
    hangUp();
  });

  test("is kept alive by comments, which in a resumable one move the reader's place", async () => {
    const world = await registryWorld(manualEnv());
    const plain = await reader(world.registry);
    const resumable = await reader(world.registry, "?resume=true");
    assert.deepEqual(await resumable.read(world.env), ["id:0\n:bookmark"]);
    await plain.read(world.env);
    await world.env.advance(15_000);
    assert.deepEqual(await plain.read(world.env), [":"]);
    assert.deepEqual(await resumable.read(world.env), ["id:0\n:bookmark"]);
    plain.hangUp();
    resumable.hangUp();
  });
});

describe("a resumable feed", () => {
  test("goes on after a cut where it was, without loss, without doubles, in order", async () => {
    const world = await registryWorld(manualEnv());
    let last = 0;
    const seen: number[] = [];
    for (let round = 0; round < 8; round++) {
      const { read, hangUp } = await reader(world.registry, "?resume=true", { "last-event-id": String(last) });
      await world.register({ port: round });
      for (const frame of await read(world.env)) if (eventOf(frame)) seen.push(idOf(frame));
      hangUp();
      // What happens while nobody listens is not lost.
      await world.register({ port: 100 + round });
      await world.register({ port: 200 + round });
      last = seen.at(-1) ?? 0;
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 22 }, (_, index) => index + 1),
    );
  });

  test("goes on at another replica with the same numbers", async () => {
    const world = await registryWorld(manualEnv());
    const other = await world.replica();
    await world.register({ port: 1 });
    await world.register({ port: 2 });
    await world.env.flush();
    const { read, hangUp } = await reader(other, "?resume=true", { "last-event-id": "1" });
    assert.deepEqual((await read(world.env)).map(idOf), [2]);
    hangUp();
  });

  test("reads from the log what memory no longer has, and names the gap when the log has it no more either", async () => {
    const world = await registryWorld(manualEnv(), { maxKeptChanges: 20 });
    for (let port = 0; port < 100; port++) await world.register({ port });
    await world.env.flush();
    await world.registry.stop();
    const restarted = await world.replica();
    const { read, hangUp } = await reader(restarted, "?resume=true", { "last-event-id": "10" });
    const frames = await read(world.env);
    const [first = "", ...rest] = frames;
    assert.equal(eventOf(first), "GAP");
    const { from, to } = JSON.parse(/data:(.*)/.exec(first)?.[1] ?? "{}") as { from: number; to: number };
    assert.equal(from, 11);
    assert.equal(idOf(first), to);
    assert.deepEqual(
      rest.map(idOf),
      Array.from({ length: 100 - to }, (_, index) => to + 1 + index),
    );
    hangUp();
    await restarted.stop();
  });

  test("says so when it is asked for a number that was never given", async () => {
    const world = await registryWorld(manualEnv());
    await world.register();
    const { read, hangUp } = await reader(world.registry, "?resume=true", { "last-event-id": "999" });
    assert.deepEqual((await read(world.env)).map(eventOf), ["GAP"]);
    await world.register({ port: 2 });
    assert.deepEqual((await read(world.env)).map(idOf), [2]);
    hangUp();
  });

  test("gives heartbeats no number: they are never replayed", async () => {
    const world = await registryWorld(manualEnv());
    const { read, hangUp } = await reader(world.registry, "?resume=true");
    await read(world.env);
    const id = await world.register();
    await world.ping(id);
    await world.env.advance(1_000);
    await world.ping(id);
    const frames = (await read(world.env)).filter((frame) => eventOf(frame) === "PING");
    assert.ok(frames.length > 0 && frames.every((frame) => frame.startsWith("event:PING\n")));
    hangUp();
  });
});

test("a slow reader costs no memory: it is told what it has missed, and goes on", async () => {
  const world = await registryWorld(manualEnv());
  const slow = await reader(world.registry);
  await slow.read(world.env);
  for (let port = 0; port < 12_000; port++) await world.register({ port });
  const frames = await slow.read(world.env);
  assert.match(frames.find((frame) => frame.startsWith(":gap")) ?? "", /^:gap \d+ events were missed$/);
  assert.ok(frames.length <= 10_300, `${frames.length}`);
  assert.ok(world.registry.feed.gaps > 0);
  slow.hangUp();
});

describe("what is kept in memory", () => {
  const changes = 3_000;
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const fewest = 500;

  test("is little when nobody listens, and whoever resumes still gets everything", async () => {
    const world = await registryWorld(manualEnv());
    for (let port = 1; port <= changes; port++) await world.register({ port });
    assert.ok(world.registry.feed.remembered <= fewest + 1, `${world.registry.feed.remembered}`);
    const { read, hangUp } = await reader(world.registry, "?resume=true", { "last-event-id": "10" });
    assert.deepEqual((await read(world.env)).map(idOf), numbers(11, changes));
    hangUp();
  });

  test("is little when all keep up, and they miss nothing", async () => {
    const world = await registryWorld(manualEnv());
    const { read, hangUp } = await reader(world.registry, "?resume=true");
    await read(world.env);
    const seen: number[] = [];
    for (let port = 1; port <= changes; port++) {
      await world.register({ port });
      if (port % 100 === 0) seen.push(...(await read(world.env)).filter(eventOf).map(idOf));
    }
    assert.deepEqual(seen, numbers(1, changes));
    assert.ok(world.registry.feed.remembered <= fewest + 100, `${world.registry.feed.remembered}`);
    hangUp();
  });

  test("is what a slow reader has yet to read, until it leaves", async () => {
    const world = await registryWorld(manualEnv());
    const fast = await reader(world.registry);
    const slow = await reader(world.registry);
    const gone = await reader(world.registry);
    for (const { read } of [fast, slow, gone]) await read(world.env);
    for (let port = 1; port <= changes; port++) {
      await world.register({ port });
      if (port % 100 === 0) await fast.read(world.env);
    }
    assert.ok(world.registry.feed.remembered >= changes - 1, `${world.registry.feed.remembered}`);
    const frames = await slow.read(world.env);
    assert.deepEqual([frames.length, frames.filter((frame) => frame.startsWith(":gap")).length], [changes, 0]);
    gone.hangUp();
    await gone.read(world.env);
    assert.ok(world.registry.feed.remembered <= fewest, `${world.registry.feed.remembered}`);
    fast.hangUp();
    slow.hangUp();
  });
});

test("S14: whatever a service says of itself, no field ends a frame early or begins another", async () => {
  const world = await registryWorld(manualEnv());
  const { read, hangUp } = await reader(world.registry);
  await read(world.env);
  const poison = 'x\n\nid:1\nevent:DEREGISTER\ndata:{"eventType":"DEREGISTER"}\n\n';
  for (const field of ["id", "serviceName", "host", "serviceType"]) {
    const target = { serviceName: "s", host: "h", port: 1, [field]: poison };
    assert.equal((await world.call("POST", discoveryPath, target)).status, 400, field);
  }
  const id = await world.register({ serviceName: "event: REGISTER data:" });
  const reason = `${poison}\r\n\u2029`;
  await world.call("POST", `${discoveryPath}/update/${id}`, { healthy: false, reason });
  const frames = await read(world.env);
  assert.deepEqual(frames.map(eventOf), ["REGISTER", "UPDATE"]);
  for (const frame of frames) assert.equal(frame.split(/\r\n|\r|\n/).length, 3, "id, event and data, one line each");
  const said = JSON.parse(frames[1]?.split("\ndata:")[1] ?? "{}") as { serviceState?: { reason?: string } };
  assert.equal(typeof said.serviceState?.reason, "string");
  hangUp();
});

test("there is a limit to subscribers", async () => {
  const world = await registryWorld(manualEnv(), { maxSubscribers: 1 });
  const first = await reader(world.registry);
  await first.read(world.env);
  assert.equal((await world.call("GET", path)).status, 503);
  first.hangUp();
});

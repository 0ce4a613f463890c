import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { MetricsRegistry } from "../runtime/metrics.ts";
import { StoreError } from "../store/store-error.ts";
import { type ManualEnv, manualEnv } from "../testing/manual-env.ts";
import type { Access } from "./access/access.ts";
import { callRegistry, discoveryPath, type RegistryWorld, registryWorld } from "./registry-for-tests.ts";
import { MemoryLog } from "./storage/memory-log.ts";

const states = async (world: RegistryWorld<ManualEnv>, query = ""): Promise<Record<string, unknown[]>> =>
  (await world.call("GET", `/api/v1/capabilities/tools/state${query}`)).data as Record<string, unknown[]>;

describe("a registered service", () => {
  test("is pending, healthy, missing and gone, each at its time", async () => {
    const world = await registryWorld(manualEnv());
    const id = await world.register({ serviceName: "tool", serviceType: "tool-invoker" });
    const seen = async (): Promise<string> => {
      const [record] = (await states(world))["tool"] ?? [];
      const { healthStatus, active } = (record ?? {}) as { healthStatus?: string; active?: boolean };
      return `${healthStatus} ${active}`;
    };
    assert.equal(await seen(), "PENDING true");
    await world.ping(id);
    assert.equal(await seen(), "HEALTHY true");
    await world.env.advance(89_999);
    assert.equal(await seen(), "HEALTHY true");
    await world.env.advance(1);
    assert.equal(await seen(), "DOWN false", "lookups know the time, the sweep need not have come round");
    await world.env.advance(510_000 - 1);
    assert.deepEqual(await world.names(), ["tool"]);
    await world.env.advance(1);
    assert.deepEqual(await world.names(), []);
    await world.env.advance(60_000);
    assert.equal((await world.ping(id)).status, 200);
    assert.deepEqual(await world.names(), ["tool"], "a late heartbeat brings it back with its id");
    assert.equal(await seen(), "HEALTHY true");
  });

  test("that never sends a heartbeat stays, and is known as unprobed", async () => {
    const world = await registryWorld(manualEnv());
    await world.register({ serviceName: "quiet", serviceType: "tool-invoker" });
    await world.env.advance(2 * 3_600_000);
    assert.deepEqual(await world.names(), ["quiet"]);
    const [record] = (await states(world))["quiet"] ?? [];
    assert.equal((record as { healthStatus: string }).healthStatus, "PENDING");
    assert.deepEqual(
      (await states(world, "?dialect=a"))["quiet"],
      [null],
      "A has no record before the first heartbeat",
    );
  });

  test("is active in A and S while it is heard, whatever it reports, and was never pending there", async () => {
    const world = await registryWorld(manualEnv());
    const id = await world.register({ serviceName: "tool", serviceType: "tool-invoker" });
    const seen = async (dialect: string): Promise<unknown> => {
      const [record] = (await states(world, `?dialect=${dialect}`))["tool"] ?? [];
      const { active, states: known } = record as { active: boolean; states: { reason: string }[] };
      return [active, ...known.map(({ reason }) => reason)];
    };
    await world.call("POST", `${discoveryPath}/update/${id}`, { healthy: false, reason: "early" });
    assert.deepEqual(await seen("a"), [false, "early"], "a report is no heartbeat");
    await world.ping(id);
    for (const dialect of ["a", "s"]) assert.deepEqual(await seen(dialect), [true, "early"]);
    await world.env.advance(90_000);
    assert.deepEqual(await seen("s"), [false, "early", "missing in action"]);
    await world.ping(id);
    await world.call("DELETE", discoveryPath, { id });
    await world.register({ id, serviceName: "tool", serviceType: "tool-invoker" });
    assert.equal(((await seen("s")) as unknown[])[0], false, "who comes back is inactive until it is heard");
  });

  test("survives a restart, with its id, health and last heartbeat", async () => {
    const world = await registryWorld(manualEnv());
    const id = await world.register({ serviceName: "tool", serviceType: "tool-invoker" });
    await world.ping(id);
    await world.env.advance(30_000);
    await world.ping(id);
    await world.registry.stop();
    await world.env.advance(3_600_000);
    const again = await world.replica();
    const answer = await callRegistry(again, {
      method: "GET",
      target: "/api/v1/capabilities/tools/state",
      headers: {},
    });
    const [record] =
      (answer.data as Record<string, { id: string; healthStatus: string; lastSeen: string }[]>)["tool"] ?? [];
    assert.deepEqual(
      [record?.id, record?.healthStatus, record?.lastSeen],
      [id, "HEALTHY", "2026-01-01T00:00:30.000Z"],
      "nobody could be heard while the registry was away, so that silence does not count",
    );
    await world.env.advance(90_000);
    assert.equal(again.resolve({ serviceName: "tool" }), undefined);
    await again.stop();
  });
});

test("P18: whatever the rhythm of heartbeats, a lookup gives exactly those heard of in time", async () => {
  const beats = fc.array(fc.record({ waitMs: fc.integer({ min: 1, max: 3_000 }), who: fc.nat({ max: 2 }) }), {
    minLength: 5,
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(beats, async (steps) => {
      const world = await registryWorld(manualEnv(), { missingAfterMs: 1_000, deregisterAfterMs: 4_000 });
      const ids = await Promise.all([0, 1, 2].map((port) => world.register({ serviceName: `s${port}`, port })));
      const heardAt: (number | undefined)[] = [undefined, undefined, undefined];
      for (const { waitMs, who } of steps) {
        await world.env.advance(waitMs);
        await world.ping(ids[who] ?? "");
        heardAt[who] = world.env.monotonicMs();
        for (const [index, atMs] of heardAt.entries()) {
          const live = atMs === undefined || world.env.monotonicMs() - atMs < 1_000;
          const found = world.registry.resolve({ serviceName: `s${index}` });
          assert.equal(found !== undefined, live, `s${index} after ${world.env.monotonicMs() - (atMs ?? 0)} ms`);
          const listed = atMs === undefined || world.env.monotonicMs() - atMs < 4_000;
          assert.equal((await world.names(`?serviceName=s${index}`)).length > 0, listed);
        }
      }
      await world.registry.stop();
    }),
    { numRuns: 40 },
  );
});

describe("heartbeats (F48)", () => {
  test("for an unknown id are answered as the original does, and create nothing", async () => {
    const world = await registryWorld(manualEnv());
    for (const path of ["ping", "ping/", "heartbeats"])
      assert.equal((await world.call("POST", `${discoveryPath}/${path}`, "no-such-id")).status, 200);
    assert.equal(world.registry.core.directory.size, 0);
  });

  test("that come too late bring the service back with its id", async () => {
    const world = await registryWorld(manualEnv());
    const id = await world.register();
    await world.ping(id);
    await world.env.advance(601_000);
    assert.deepEqual(await world.names(), [], "deregistered by its silence");
    assert.equal((await world.ping(id)).status, 200);
    assert.deepEqual(await world.names(), ["s"]);
    assert.equal(world.registry.resolve({ serviceName: "s" })?.id, id);
  });

  test("and registrations with the same id are one service, the last word counts", async () => {
    const world = await registryWorld(manualEnv());
    const id = await world.register();
    const twice = await Promise.all([2, 3].map((port) => world.register({ id, port })));
    assert.deepEqual(twice, [id, id]);
    assert.equal(world.registry.core.directory.size, 1);
    assert.equal(world.registry.core.directory.get(id)?.instance.target.port, 3);
  });

  test("in bulk say which ids are unknown", async () => {
    const world = await registryWorld(manualEnv());
    const ids = await Promise.all([1, 2, 3].map((port) => world.register({ port })));
    const { data } = await world.call("POST", `${discoveryPath}/heartbeats`, [...ids, "who"]);
    assert.deepEqual(data, { accepted: 3, unknown: ["who"], refused: [] });
    assert.equal((await world.call("POST", `${discoveryPath}/heartbeats`, "[1]")).status, 400);
  });

  test("do not trust the client's clock", async () => {
    const world = await registryWorld(manualEnv());
    const id = await world.register();
    await world.ping(id);
    const state = { timestamp: "1999-01-01T00:00:00Z", healthy: true, reason: "skewed" };
    await world.call("POST", `${discoveryPath}/update/${id}`, state);
    assert.ok(world.registry.resolve({ serviceName: "s" }));
    await world.env.advance(90_000);
    assert.equal(world.registry.resolve({ serviceName: "s" }), undefined);
  });

  test("cost no write while a service is in good standing", async () => {
    const world = await registryWorld(manualEnv());
    const id = await world.register();
    await world.ping(id);
    const before = world.registry.core.directory.sequence;
    for (let beat = 0; beat < 100; beat++) {
      await world.env.advance(1_000);
      await world.ping(id);
    }
    assert.equal(world.registry.core.directory.sequence, before);
  });

  test("10,000 services that fall silent together all expire, once each, within a sweep", async () => {
    const world = await registryWorld(manualEnv(), { missingAfterMs: 10_000, deregisterAfterMs: 20_000 });
    const { core } = world.registry;
    const by = { name: "", namespace: null, isAdministrator: true };
    const target = { ...example, serviceName: "many" };
    const ids = Array.from({ length: 10_000 }, (_, index) => `id-${index}`);
    const inParts = async (work: (id: string, index: number) => Promise<unknown>): Promise<void> => {
      for (let start = 0; start < ids.length; start += 5_000)
        await Promise.all(ids.slice(start, start + 5_000).map((id, index) => work(id, start + index)));
    };
    await inParts((id, index) =>
      core.submit({ kind: "Register", target: { ...target, id, host: `h${index}` }, newId: id, by }),
    );
    await inParts(async (id) => core.ping(id, by));
    const counts = { Updated: 0, Deregistered: 0 };
    core.observe({
      onChanges: (changes) => {
        for (const { kind } of changes) if (kind === "Updated" || kind === "Deregistered") counts[kind]++;
      },
    });
    await world.env.advance(10_600);
    assert.deepEqual(counts, { Updated: 10_000, Deregistered: 0 });
    await world.env.advance(10_000);
    assert.deepEqual(counts, { Updated: 10_000, Deregistered: 10_000 });
    assert.deepEqual(await world.names(), []);
    await world.registry.stop();
  });
});

describe("replicas", () => {
  test("agree on membership, health and order, whoever was asked", async () => {
    const world = await registryWorld(manualEnv());
    const other = await world.replica();
    const id = await world.register({ serviceName: "one" });
    await callRegistry(other, post(discoveryPath, { serviceName: "two", host: "h", port: 2 }));
    await world.ping(id);
    await world.env.flush();
    const seen = [world.registry, other].map(({ core }) =>
      core.directory.registered().map(({ instance }) => `${instance.target.serviceName} ${instance.report}`),
    );
    assert.deepEqual(seen, [
      ["one HEALTHY", "two PENDING"],
      ["one HEALTHY", "two PENDING"],
    ]);
    await Promise.all([world.registry.stop(), other.stop()]);
  });

  test("do not expire what another one hears, and do expire it when the other is gone", async () => {
    const world = await registryWorld(manualEnv(), {
      missingAfterMs: 10_000,
      deregisterAfterMs: 60_000,
      beatSaveMs: 1_000,
    });
    const other = await world.replica();
    const id = await world.register({ serviceName: "one" });
    for (let second = 0; second < 60; second++) {
      await world.ping(id);
      await world.env.advance(1_000);
      assert.ok(other.resolve({ serviceName: "one" }), `after ${second} s`);
    }
    await world.registry.stop();
    await world.env.advance(16_000);
    assert.equal(other.resolve({ serviceName: "one" }), undefined);
    await world.env.advance(60_000);
    assert.deepEqual(other.core.directory.registered().length, 0);
    await other.stop();
  });

  test("bring a service back that another one gave up too early", async () => {
    const world = await registryWorld(manualEnv(), {
      missingAfterMs: 10_000,
      remoteToleranceMs: 0,
      beatSaveMs: 30_000,
    });
    const hasty = await world.replica({ missingAfterMs: 2_000 });
    const id = await world.register({ serviceName: "one" });
    await world.ping(id);
    await world.env.advance(1_500);
    await world.ping(id);
    await world.env.advance(2_000);
    assert.ok(world.registry.resolve({ serviceName: "one" }), "whoever heard it knows better");
    await Promise.all([world.registry.stop(), hasty.stop()]);
  });
});

describe("bad input", () => {
  const cases: readonly (readonly [string, string, string, unknown, number, RegExp | undefined])[] = [
    ["no body", "POST", discoveryPath, undefined, 400, /not valid JSON/],
    ["an array", "POST", discoveryPath, "[]", 400, undefined],
    ["no host", "POST", discoveryPath, { serviceName: "s", port: 1 }, 400, /host: is required/],
    [
      "a port out of range",
      "POST",
      discoveryPath,
      { serviceName: "s", host: "h", port: 70_000 },
      400,
      /port: must be from 0 to 65535/,
    ],
    [
      "a line break in a name",
      "POST",
      discoveryPath,
      { serviceName: "s\n\nid:1", host: "h", port: 1 },
      400,
      /serviceName: must not contain control/,
    ],
    [
      "a line break in an id",
      "POST",
      discoveryPath,
      { id: "a\nb", serviceName: "s", host: "h", port: 1 },
      400,
      /^id: /,
    ],
    [
      "a name that is too long",
      "POST",
      discoveryPath,
      { serviceName: "s".repeat(254), host: "h", port: 1 },
      400,
      /at most 253/,
    ],
    ["an object for a name", "POST", discoveryPath, { serviceName: {}, host: "h", port: 1 }, 400, undefined],
    ["an empty heartbeat", "POST", `${discoveryPath}/heartbeats`, "", 400, /must be the id/],
    ["a health that is none", "POST", `${discoveryPath}/update/x`, { healthy: "maybe" }, 400, undefined],
    ["a time that is none", "POST", `${discoveryPath}/update/x`, { healthy: true, timestamp: "soon" }, 400, undefined],
    ["a body of more than 64 KiB", "POST", discoveryPath, "x".repeat(65_537), 413, /larger than 65536/],
    ["a method that is not there", "PUT", discoveryPath, "{}", 405, /use POST or DELETE/],
    ["a path that is not there", "POST", `${discoveryPath}/nowhere`, "{}", 404, /there is no/],
    ["a dialect that is none", "GET", "/api/v1/capabilities?dialect=x", undefined, 400, /dialect: must be/],
    ["an age that is none", "GET", "/api/v1/capabilities/stale?maxAgeSeconds=old", undefined, 400, /maxAgeSeconds/],
    [
      "a strategy that is none",
      "GET",
      "/api/v1/resolve?serviceName=s&strategy=luck",
      undefined,
      400,
      /strategy: must be one of/,
    ],
    [
      "a number that is none",
      "GET",
      "/api/v1/capabilities/notifications?resume=true&lastEventId=x",
      undefined,
      400,
      /Last-Event-ID/,
    ],
  ];
  for (const [name, method, target, body, status, message] of cases) {
    test(`${name} is answered with ${status} and changes nothing`, async () => {
      const world = await registryWorld(manualEnv());
      const called = await world.call(method, target, body);
      assert.equal(called.status, status, called.text);
      if (message) assert.match(called.message ?? "", message);
      assert.equal(world.registry.core.directory.size, 0);
    });
  }

  test("nothing that can be sent as a body is answered with a fault", async () => {
    const world = await registryWorld(manualEnv());
    const value = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .jsonValue()
        .map((inner) =>
          JSON.stringify({ serviceName: inner, host: inner, port: inner, id: inner, healthy: inner, timestamp: inner }),
        ),
    );
    const path = fc.constantFrom("", "/register", "/ping", "/heartbeats", "/update/x", "/deregister");
    await fc.assert(
      fc.asyncProperty(path, value, async (rest, body) => {
        const { status, message } = await world.call("POST", `${discoveryPath}${rest}`, body);
        assert.ok(status < 500 || message === "Generic error", `${status} for ${body}`);
        if (status >= 500) assert.equal(rest, "/deregister");
      }),
      { numRuns: 500 },
    );
  });

  test("paths of others are left to others", async () => {
    const world = await registryWorld(manualEnv());
    for (const target of ["/", "/metrics", "/api/v1/pods", "/api/v1/capabilitiesx", "/q/other", "/q/healthy"])
      assert.equal((await world.call("GET", target)).status, 0, target);
  });

  test("paths of ours that do not exist are said so in the envelope, and add no metrics, whoever asks", async () => {
    const metrics = new MetricsRegistry();
    const closedMetrics = new MetricsRegistry();
    const tokens: Access = { kind: "Bearer", authenticators: [{ authenticate: async () => undefined }] };
    const open = await registryWorld(manualEnv(), { metrics });
    const closed = await registryWorld(manualEnv(), { access: tokens, metrics: closedMetrics });
    for (const path of ["/api/v1/capabilities/x", "/api/v1/management/x", `${discoveryPath}/x`, "/api/v1/resolve/x"]) {
      const called = await open.call("GET", path);
      assert.deepEqual([called.status, called.message], [404, `there is no ${path}`]);
      assert.equal((await closed.call("GET", path)).status, 401);
    }
    assert.match(metrics.expose(), /capstan_registry_requests_total\{route="unknown",code="404"\} 4/);
    assert.match(closedMetrics.expose(), /capstan_registry_requests_total\{route="unknown",code="401"\} 4/);
  });
});

describe("a store that fails", () => {
  test("is answered with 503, loses nothing that was acknowledged and shows nothing that was not", async () => {
    const world = await registryWorld(manualEnv());
    await world.register({ serviceName: "before" });
    const working = new MemoryLog(() => 0).replica();
    const broken = await world.replica({
      storage: {
        ...working,
        commit: async () => {
          throw new StoreError("DiskFull", "no space left");
        },
      },
    });
    const called = await callRegistry(broken, post(discoveryPath, { serviceName: "s", host: "h", port: 1 }));
    assert.equal(called.status, 503);
    assert.equal(called.headers["retry-after"], "1");
    assert.equal(broken.core.directory.size, 0);
    await broken.stop();
  });

  test("for a moment is tried again", async () => {
    const world = await registryWorld(manualEnv());
    const working = world.memory.replica();
    let failures = 2;
    const flaky = await world.replica({
      storage: {
        ...working,
        commit: async (request) => {
          if (failures-- > 0) throw new StoreError("Unavailable", "connection lost");
          return working.commit(request);
        },
      },
    });
    const calling = callRegistry(flaky, post(discoveryPath, { serviceName: "s", host: "h", port: 1 }));
    await world.env.advance(1_000);
    assert.equal((await calling).status, 200);
    await flaky.stop();
  });
});

describe("reads for people and command lines", () => {
  test("stale services are listed and removed, and come back with a heartbeat", async () => {
    const world = await registryWorld(manualEnv(), { missingAfterMs: 1e9, deregisterAfterMs: 1e9 });
    const old = await world.register({ serviceName: "old" });
    await world.ping(old);
    await world.env.advance(3_600_000);
    await world.register({ serviceName: "new", port: 2 });
    const { data } = await world.call("GET", "/api/v1/capabilities/stale?maxAgeSeconds=60");
    assert.deepEqual(data, [
      {
        id: old,
        serviceName: "old",
        serviceType: null,
        host: "h",
        port: 1,
        healthStatus: "healthy",
        lastSeen: "2026-01-01T00:00:00.000Z",
      },
    ]);
    assert.equal((await world.call("DELETE", "/api/v1/capabilities/stale?maxAgeSeconds=60&inactiveOnly=true")).data, 0);
    assert.equal((await world.call("DELETE", "/api/v1/capabilities/stale?maxAgeSeconds=60")).data, 1);
    assert.deepEqual(await world.names(), ["new"]);
    await world.ping(old);
    assert.deepEqual(await world.names(), ["old", "new"]);
  });

  test("who speaks A searches by A's names", async () => {
    const world = await registryWorld(manualEnv());
    await world.register({ serviceName: "tool", serviceType: "tool-invoker" });
    const found = await world.call("GET", "/api/v1/capabilities?dialect=a&serviceType=TOOL_INVOKER");
    assert.equal((found.data as unknown[]).length, 1);
    assert.equal((await world.call("GET", "/api/v1/resolve?dialect=a&serviceType=TOOL_INVOKER")).status, 200);
    assert.deepEqual(await world.names("?serviceType=TOOL_INVOKER"), []);
  });

  test("statistics, version and health have the shapes that the original's tools read", async () => {
    const world = await registryWorld(manualEnv(), { version: "1.2.3" });
    await world.register({ serviceType: "multi-capability" });
    const { data } = await world.call("GET", "/api/v1/management/statistics");
    const counts = { total: 1, healthy: 0, unhealthy: 0, down: 0, pending: 1 };
    assert.deepEqual(data, {
      toolsCount: 0,
      resourcesCount: 0,
      promptsCount: 0,
      forwardsCount: 0,
      dataStoresCount: 0,
      toolCapabilities: counts,
      resourceCapabilities: counts,
    });
    assert.deepEqual((await world.call("GET", "/api/v1/management/info/version")).data, { version: "1.2.3" });
    const health = JSON.parse((await world.call("GET", "/q/health/ready")).text) as unknown;
    assert.deepEqual(health, {
      status: "UP",
      checks: [{ name: "service-registry", status: "UP", data: { totalCapabilities: 1 } }],
    });
    await world.registry.stop();
    assert.equal((await world.call("GET", "/q/health")).status, 503);
  });

  test("long lists come in pieces and are still one JSON document", async () => {
    const world = await registryWorld(manualEnv());
    await Promise.all(Array.from({ length: 2_500 }, (_, port) => world.register({ serviceName: "x", port })));
    assert.equal((await world.names()).length, 2_500);
    assert.equal((await world.names("?serviceName=x")).length, 2_500);
  });
});

const post = (target: string, body: unknown): Parameters<typeof callRegistry>[1] => ({
  method: "POST",
  target,
  headers: {},
  body: new TextEncoder().encode(JSON.stringify(body)),
});

const example = {
  host: "h",
  port: 1,
  serviceType: "tool-invoker",
  serviceSubType: null,
  languageName: null,
  languageType: null,
  languageSubType: null,
};

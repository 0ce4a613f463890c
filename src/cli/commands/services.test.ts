import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemEnv } from "../../env/system.ts";
import type { HttpHandler, HttpResponse } from "../../http/message.ts";
import { type LoopbackServer, listenForTests } from "../../registry/loopback-for-tests.ts";
import { type RegistryWorld, registryWorld } from "../../registry/registry-for-tests.ts";
import { Failure } from "../failure.ts";
import { readFrames, type StreamFrame } from "../registry/event-stream.ts";
import { openRegistry, type RegistryReader } from "../registry/reader.ts";
import { renderServices } from "../registry/render.ts";
import { printChanges, registryUrl } from "./services.ts";

interface Running {
  readonly world: RegistryWorld<typeof systemEnv>;
  readonly reader: RegistryReader;
  readonly server: LoopbackServer;
}

async function running(context: TestContext): Promise<Running> {
  const world = await registryWorld(systemEnv);
  const handler: HttpHandler = async (request) => (await world.registry.handle(request)) as HttpResponse;
  const server = await listenForTests(handler);
  const reader = openRegistry({ env: systemEnv, url: server.url });
  context.after(async () => {
    await reader.close();
    await server.close();
    await world.registry.stop();
  });
  return { world, reader, server };
}

const pauseMs = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let waitedMs = 0; !holds(); waitedMs += 10) {
    assert.ok(waitedMs < 10_000, `never: ${what}`);
    await pauseMs(10);
  }
}

test("list shows services of every type with their health, and filters", { timeout: 120_000 }, async (context) => {
  const { world, reader } = await running(context);
  const clock = await world.register({ serviceName: "clock", host: "::1", port: 9000, serviceType: "tool-invoker" });
  await world.register({ serviceName: "shop", serviceType: "something-else" });
  await world.ping(clock);
  await pauseMs(5);
  const services = await reader.list({});
  assert.deepEqual(
    services.map(({ serviceName, healthStatus }) => `${serviceName} ${healthStatus}`),
    ["clock healthy", "shop pending"],
  );
  assert.deepEqual(
    (await reader.list({ serviceName: "shop" })).map(({ serviceName }) => serviceName),
    ["shop"],
  );
  const table = renderServices(services, "table");
  assert.match(
    table,
    /^NAME +TYPE +ADDRESS +HEALTH +LAST SEEN +ID\nclock +tool-invoker +\[::1\]:9000 +healthy +\d{4}-/,
  );
  assert.deepEqual(JSON.parse(renderServices(services, "json")), services);
  assert.match(renderServices(services, "yaml"), /serviceName: clock/);
  assert.equal(renderServices(services, "name"), "clock\nshop\n");
  assert.equal(renderServices([], "table"), "No services are registered.\n");
});

test("a name with control characters stays in its cell", () => {
  const target = { id: "1", host: "h", port: 1, serviceType: null, serviceSubType: null } as const;
  const language = { languageName: null, languageType: null, languageSubType: null } as const;
  const table = renderServices([{ ...target, ...language, serviceName: "a\u001b[2J\nb" }], "table");
  assert.equal(table.split("\n").length, 3);
  assert.ok(!table.includes("\u001b"));
});

test("watch prints what is there and then every change, over a broken connection", {
  timeout: 120_000,
}, async (context) => {
  const { world, reader, server } = await running(context);
  const first = await world.register({ serviceName: "first" });
  const lines: string[] = [];
  const stop = new AbortController();
  const ended = printChanges(reader, {
    output: "json",
    pings: false,
    signal: stop.signal,
    print: (text) => void lines.push(text),
  });
  const events = (): string[] =>
    lines.map((line) => {
      const { eventType, id } = JSON.parse(line) as { eventType: string; id: string };
      return `${eventType} ${id}`;
    });
  await until(() => lines.length === 1, "the list");
  const second = await world.register({ serviceName: "second" });
  await until(() => lines.length === 2, "the second service");

  await server.close();
  await world.call("DELETE", "/api/v1/management/discovery", { id: second });
  const again = await listenForTests(
    async (request) => (await world.registry.handle(request)) as HttpResponse,
    server.port,
  );
  context.after(() => again.close());
  await until(() => lines.length === 3, "what happened while the connection was broken");
  assert.deepEqual(events(), [`REGISTER ${first}`, `REGISTER ${second}`, `DEREGISTER ${second}`]);
  stop.abort();
  await ended;
});

test("a registry that is not there, or is something else, is named in the message", {
  timeout: 120_000,
}, async (context) => {
  const other = await listenForTests(async () => ({
    status: 200,
    headers: {},
    body: (async function* () {
      yield new TextEncoder().encode("<html>");
    })(),
  }));
  context.after(() => other.close());
  const cases = [
    { url: "http://127.0.0.1:1", says: /the registry at http:\/\/127\.0\.0\.1:1 cannot be reached/ },
    { url: other.url, says: /is no registry/ },
  ];
  for (const { url, says } of cases) {
    const reader = openRegistry({ env: systemEnv, url });
    await assert.rejects(reader.list({}), (error: Error) => says.test(error.message));
    await reader.close();
  }
});

test("the URL comes from the flag, or from ready.json", (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-services-"));
  context.after(() => rmSync(dataDir, { recursive: true, force: true }));
  assert.equal(registryUrl({ registryUrl: "http://r:1", dataDir }), "http://r:1");
  assert.throws(() => registryUrl({ registryUrl: "r:1", dataDir }), Failure);
  assert.throws(() => registryUrl({ dataDir }), /ready\.json is not there/);
  writeFileSync(join(dataDir, "ready.json"), "{");
  assert.throws(() => registryUrl({ dataDir }), /does not say where the registry is/);
  writeFileSync(join(dataDir, "ready.json"), JSON.stringify({ http: "http://127.0.0.1:7" }));
  assert.equal(registryUrl({ dataDir }), "http://127.0.0.1:7");
});

test("frames are read as the standard has them", async () => {
  const text =
    "id:1\nevent:REGISTER\ndata:{}\n\n:comment\n\nid: 2\n:bookmark\n\nevent:X\r\ndata:a\r\ndata: b\r\n\r\nid:9\ndata:cut";
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 7, bytes.length]) {
    const frames: StreamFrame[] = [];
    const body = (async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })();
    for await (const frame of readFrames(body)) frames.push(frame);
    assert.deepEqual(frames, [
      { id: "1", event: "REGISTER", data: "{}" },
      { id: "2", event: "message", data: "" },
      { event: "X", data: "a\nb" },
    ]);
  }
});

import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { createServer as createHttp2Server, type Http2Server } from "node:http2";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { silentLogger } from "../../runtime/log.ts";
import { manualEnv } from "../../testing/manual-env.ts";
import type { ServiceTarget } from "../model/service.ts";
import { discoveryPath, registryWorld } from "../registry-for-tests.ts";
import { addressRules } from "./address-rules.ts";
import { type ProbeKind, type ProbeSettings, probe } from "./probe.ts";
import { Prober } from "./prober.ts";

const settings = (kind: ProbeKind, own: Partial<ProbeSettings> = {}): ProbeSettings => ({
  kind,
  path: "/healthz",
  // Whoever answers does so in time on any machine; only cases about silence are short.
  timeoutMs: 60_000,
  rules: addressRules(["127.0.0.1"]),
  resolve: async (host) => [host],
  ...own,
});
const at = (port: number, host = "127.0.0.1"): ServiceTarget => ({
  id: "id",
  serviceName: "s",
  host,
  port,
  serviceType: null,
  serviceSubType: null,
  languageName: null,
  languageType: null,
  languageSubType: null,
});
const healthOf = async (port: number, kind: ProbeKind, own: Partial<ProbeSettings> = {}): Promise<string> => {
  const result = await probe(at(port), settings(kind, own));
  return result.kind === "Found" ? result.health : result.kind;
};
/** Nobody has listened there for decades. */
const deafPort = 1;
const listening = async (
  context: TestContext,
  server: Server | Http2Server | ReturnType<typeof createTcpServer>,
): Promise<number> => {
  // However the test ends: a server that stays open would keep the process.
  context.after(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

describe("S13: where a probe may go", () => {
  const rules = addressRules([]);
  for (const address of [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:a9fe:a9fe",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "ff02::1",
    "not an address",
    "0x7f.1",
    "2130706433",
  ])
    test(`not to ${address}`, () => assert.equal(rules.isAllowed(address), false));
  for (const address of ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1"])
    test(`to ${address}`, () => assert.equal(rules.isAllowed(address), true));

  test("and to what is named", () => {
    const named = addressRules(["10.42.0.0/16", "fd12::/16", "192.168.1.7"]);
    for (const address of ["10.42.1.1", "fd12::1", "192.168.1.7", "::ffff:10.42.1.1"])
      assert.equal(named.isAllowed(address), true, address);
    for (const address of ["10.43.1.1", "192.168.1.8", "127.0.0.1"]) assert.equal(named.isAllowed(address), false);
    assert.throws(() => addressRules(["10.0.0.0/99"]), /is no address range/);
  });

  test("a forbidden place is never called, not even through a name that changes its mind", async (context) => {
    let hits = 0;
    const canary = createTcpServer(() => hits++);
    const port = await listening(context, canary);
    const answers = [["93.184.216.34", "127.0.0.1"], ["127.0.0.1"], ["::ffff:127.0.0.1"]];
    for (const addresses of answers)
      for (const kind of ["tcp", "http", "grpc"] as const) {
        const own = { rules: addressRules([]), resolve: async () => addresses };
        const result = await probe(at(port, "rebinding.example"), settings(kind, own));
        assert.equal(result.kind, "Forbidden");
      }
    // The name is asked once; a second answer would lead inside.
    let asked = 0;
    const changing = async (): Promise<readonly string[]> => (asked++ === 0 ? ["192.0.2.1"] : ["127.0.0.1"]);
    const rules = addressRules(["192.0.2.1"]);
    await probe(at(port, "rebinding.example"), settings("tcp", { rules, resolve: changing, timeoutMs: 200 }));
    assert.equal(asked, 1);
    assert.equal(hits, 0);
  });
});

describe("a TCP probe", () => {
  test("finds who listens and who does not", async (context) => {
    const server = createTcpServer((socket) => socket.end());
    const port = await listening(context, server);
    assert.equal(await healthOf(port, "tcp"), "HEALTHY");
    assert.equal(await healthOf(deafPort, "tcp"), "DOWN");
    assert.equal(await healthOf(0, "tcp"), "DOWN");
  });
});

describe("an HTTP probe", () => {
  const cases: readonly (readonly [string, (server: Server) => void, string])[] = [
    ["200", (server) => server.on("request", (_, response) => response.end("ok")), "HEALTHY"],
    ["500", (server) => server.on("request", (_, response) => response.writeHead(500).end()), "UNHEALTHY"],
    [
      "a redirect, which is not followed",
      (server) =>
        server.on("request", (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()),
      "UNHEALTHY",
    ],
    ["an answer without end", (server) => server.on("request", (_, response) => response.write("x")), "DOWN"],
    [
      "more than 64 KiB",
      (server) => server.on("request", (_, response) => response.end("x".repeat(200_000))),
      "UNHEALTHY",
    ],
    ["no answer", (server) => server.on("request", () => undefined), "DOWN"],
  ];
  for (const [name, prepare, health] of cases)
    test(`of ${name} finds ${health}`, async (context) => {
      const server = createServer();
      prepare(server);
      const port = await listening(context, server);
      assert.equal(await healthOf(port, "http", health === "DOWN" ? { timeoutMs: 300 } : {}), health);
    });

  test("sends no credentials and its own name", async (context) => {
    let seen: Record<string, unknown> = {};
    const server = createServer((request, response) => {
      seen = request.headers;
      response.end();
    });
    const port = await listening(context, server);
    await healthOf(port, "http");
    assert.deepEqual(Object.keys(seen).sort(), ["connection", "host", "user-agent"]);
  });
});

describe("a gRPC probe", () => {
  /** A server that answers one method with a status and a number. */
  const grpc = (context: TestContext, method: string, status: number, value: number): Promise<number> => {
    const server = createHttp2Server();
    server.on("session", (session) => context.after(() => session.destroy()));
    server.on("stream", (stream, headers) => {
      const isIt = headers[":path"] === method;
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(isIt ? status : 12) }));
      stream.end(isIt && status === 0 ? Buffer.from([0, 0, 0, 0, 2, 8, value]) : undefined);
    });
    return listening(context, server);
  };
  const standard = "/grpc.health.v1.Health/Check";
  const wanaku = "/ai.wanaku.health.v1.HealthProbe/GetStatus";
  for (const [method, status, value, health] of [
    [standard, 0, 1, "HEALTHY"],
    [standard, 0, 2, "UNHEALTHY"],
    [standard, 14, 0, "DOWN"],
    [wanaku, 0, 4, "HEALTHY"],
    [wanaku, 0, 2, "UNHEALTHY"],
    [wanaku, 9, 0, "PENDING"],
    ["/neither", 0, 0, "DOWN"],
  ] as const)
    test(`of ${method} with status ${status} and ${value} finds ${health}`, async (context) => {
      assert.equal(await healthOf(await grpc(context, method, status, value), "grpc"), health);
    });
  test("of something that is no gRPC finds DOWN", async (context) => {
    const server = createTcpServer((socket) => socket.end("hello\n"));
    const port = await listening(context, server);
    assert.equal(await healthOf(port, "grpc"), "DOWN");
  });
});

describe("the prober", () => {
  test("looks at everyone, notices who falls and who comes back, and records only changes", async (context) => {
    const world = await registryWorld(manualEnv());
    const ids: string[] = [];
    for (let port = 1; port <= 25; port++) ids.push(await world.register({ host: "gone.example", port }));
    const server = createServer((_, response) => response.end());
    const port = await listening(context, server);
    const id = await world.register({ serviceName: "alive", host: "127.0.0.1", port });
    const prober = new Prober({
      env: world.env,
      core: world.registry.core,
      log: silentLogger,
      probe: settings("tcp", {
        resolve: (host) => (host === "gone.example" ? Promise.reject(new Error("not found")) : Promise.resolve([host])),
      }),
    });
    const health = (which: string): string | undefined => world.registry.core.directory.get(which)?.instance.report;
    await prober.sweep();
    assert.equal(health(id), "HEALTHY");
    assert.equal(health(ids[24] ?? ""), "PENDING", "a young one may not listen yet");
    await world.env.advance(600_000);
    await prober.sweep();
    assert.deepEqual(new Set(ids.map(health)), new Set(["DOWN"]), "the eleventh and later ones too");
    const before = world.registry.core.directory.sequence;
    await prober.sweep();
    assert.equal(world.registry.core.directory.sequence, before);
    await world.call("POST", discoveryPath, { id: ids[0], serviceName: "s", host: "127.0.0.1", port });
    await prober.sweep();
    assert.equal(health(ids[0] ?? ""), "HEALTHY");
  });

  test("looks at who has just registered at once, and at nobody once it is stopped", async (context) => {
    const world = await registryWorld(manualEnv());
    const server = createTcpServer((socket) => socket.end());
    const port = await listening(context, server);
    const prober = new Prober({ env: world.env, core: world.registry.core, log: silentLogger, probe: settings("tcp") });
    prober.start();
    const known = new Promise<string | undefined>((resolve) =>
      world.registry.core.observe({
        onChanges: ([change]) => change?.kind === "Updated" && resolve(change.instance?.report),
      }),
    );
    await world.register({ host: "127.0.0.1", port });
    assert.equal(await known, "HEALTHY", "no clock was moved");
    await prober.stop();
    const late = await world.register({ host: "127.0.0.1", port, serviceName: "late" });
    await world.env.advance(120_000);
    assert.equal(world.registry.core.directory.get(late)?.instance.report, "PENDING");
  });

  test("goes nowhere unless it is started: the registry by itself dials nobody", async (context) => {
    let hits = 0;
    const canary = createTcpServer(() => hits++);
    const port = await listening(context, canary);
    const world = await registryWorld(manualEnv());
    const id = await world.register({ host: "127.0.0.1", port });
    await world.ping(id);
    await world.env.advance(700_000);
    assert.equal(hits, 0);
  });
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { bundleRegistryClient } from "../../../scripts/registry-client.ts";
import { systemEnv } from "../../env/system.ts";
import { textReply } from "../../http/reply.ts";
import { type ManualEnv, manualEnv } from "../../testing/manual-env.ts";
import { listenForTests } from "../loopback-for-tests.ts";
import type { Registry } from "../registry.ts";
import { callRegistry, type RegistryWorld, registryWorld } from "../registry-for-tests.ts";
import { decodeIdFile, encodeIdFile, idFile } from "./id-file.ts";
import {
  createRegistrationManager,
  deregisterOnPageHide,
  type Fetch,
  type IdStore,
  type PageListener,
  type RegistrationManager,
  type RegistrationOptions,
  storedId,
} from "./index.ts";

const target = { serviceName: "tool", host: "10.0.0.1", port: 9009, serviceType: "tool-invoker" };

/** A fetch that reaches a registry without a socket, and that can be cut. */
function fetchFrom(registry: () => Registry | undefined): Fetch & { calls: string[] } {
  const calls: string[] = [];
  const reach: Fetch = async (url, { method, headers, body }) => {
    const path = new URL(url).pathname;
    calls.push(`${method} ${path.split("/").at(-1)}`);
    const reached = registry();
    if (!reached) throw new TypeError("fetch failed");
    const called = await callRegistry(reached, { method, target: path, headers, body: new TextEncoder().encode(body) });
    return { status: called.status, text: async () => called.text };
  };
  return Object.assign(reach, { calls });
}

function memoryStore(): IdStore & { id: string | undefined } {
  return {
    id: undefined,
    async load() {
      return this.id;
    },
    async save(id) {
      this.id = id;
    },
  };
}

interface Set {
  readonly world: RegistryWorld<ManualEnv>;
  readonly manager: RegistrationManager;
  readonly fetch: ReturnType<typeof fetchFrom>;
  readonly store: ReturnType<typeof memoryStore>;
  reachable: boolean;
}

async function set(own: Partial<RegistrationOptions> = {}): Promise<Set> {
  const world = await registryWorld(manualEnv());
  const store = memoryStore();
  const made = { reachable: true, world, store } as Set;
  const fetch = fetchFrom(() => (made.reachable ? world.registry : undefined));
  const manager = createRegistrationManager({
    url: "http://r/",
    target,
    env: world.env,
    idStore: store,
    fetch,
    ...own,
  });
  return Object.assign(made, { manager, fetch });
}

describe("the registration manager", () => {
  test("registers, keeps its id, sends heartbeats and says goodbye", async () => {
    const { manager, world, store } = await set();
    const story: string[] = [];
    manager.addCallBack({
      onRegistration: (_, { id }) => story.push(`registered ${id === store.id}`),
      onPing: (_m, _t, status) => story.push(`ping ${status}`),
      onDeregistration: (_m, _t, status) => story.push(`deregistered ${status}`),
    });
    await manager.start();
    assert.deepEqual(story, ["registered true", "ping 200"], "alive at once, not after the first interval");
    await world.env.advance(25_000);
    assert.ok(world.registry.resolve({ serviceName: "tool" }));
    await manager.stop();
    assert.deepEqual(story, ["registered true", "ping 200", "ping 200", "ping 200", "deregistered 200"]);
    assert.deepEqual(await world.names(), []);
    assert.equal(world.registry.core.directory.size, 1);
  });

  test("comes back with the id that it was given in an earlier life", async () => {
    const { manager, world, store, fetch } = await set();
    await manager.register();
    const first = store.id;
    const second = createRegistrationManager({
      url: "http://r",
      target: { ...target, host: "10.0.0.2" },
      env: world.env,
      idStore: store,
      fetch,
    });
    await second.register();
    assert.equal(second.target.id, first);
    assert.equal(world.registry.core.directory.size, 1);
  });

  test("tries again with growing pauses while there is no registry, and only once at a time", async () => {
    const made = await set();
    const { manager, world, fetch } = made;
    made.reachable = false;
    const both = Promise.all([manager.register(), manager.register()]);
    await world.env.advance(60_000);
    const attempts = fetch.calls.length;
    assert.ok(attempts >= 5 && attempts <= 9, `${attempts} attempts in a minute`);
    made.reachable = true;
    await world.env.advance(30_000);
    await both;
    assert.equal(manager.isRegistered, true);
    assert.equal(world.registry.core.directory.size, 1);
  });

  test("gives up when it was told how often to try, and at once when it is refused", async () => {
    const away = await set({ maxAttempts: 3 });
    away.reachable = false;
    const trying = assert.rejects(away.manager.register(), /could not be registered in 3 attempts/);
    await away.world.env.advance(60_000);
    await trying;
    const { manager, fetch } = await set({ target: { ...target, port: 99_999 } });
    await assert.rejects(manager.register(), /refused tool: port: must be from 0 to 65535/);
    assert.equal(fetch.calls.length, 1);
  });

  test("registers again when the registry has lost everything", async () => {
    const world = await registryWorld(manualEnv());
    let registry: Registry = world.registry;
    const fetch = fetchFrom(() => registry);
    const manager = createRegistrationManager({ url: "http://r", target, env: world.env, fetch });
    await manager.start();
    const { id } = manager.target;
    const fresh = await registryWorld(world.env);
    registry = fresh.registry;
    await world.env.advance(10_000);
    assert.deepEqual(await fresh.names(), ["tool"]);
    assert.equal(manager.target.id, id);
    await manager.stop();
  });

  test("reports trouble and recovery", async () => {
    const { manager, world } = await set();
    await manager.register();
    await manager.ping();
    await manager.lastAsFail("database away");
    assert.equal(world.registry.resolve({ serviceName: "tool" }), undefined);
    await manager.lastAsSuccessful();
    assert.ok(world.registry.resolve({ serviceName: "tool" }));
  });

  test("stopped while it still tries ends quietly", async () => {
    const made = await set();
    made.reachable = false;
    const starting = made.manager.start().catch((error: Error) => error.message);
    await made.world.env.advance(5_000);
    await made.manager.stop();
    assert.equal(await starting, "the registration manager was stopped");
  });
});

describe("in a page", () => {
  test("the id stays with the page's storage, under the service's name", async () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
    const store = storedId(storage, "tool");
    assert.equal(await store.load(), undefined);
    await store.save("id");
    assert.equal(await storedId(storage, "tool").load(), "id");
    assert.equal(await storedId(storage, "other").load(), undefined);
  });

  test("leaving says goodbye, and coming back from the browser's memory registers again with the same id", async () => {
    const { manager, world } = await set();
    const listeners = new Map<string, PageListener>();
    const undo = deregisterOnPageHide(manager, {
      addEventListener: (kind, listener) => void listeners.set(kind, listener),
      removeEventListener: (kind) => void listeners.delete(kind),
    });
    await manager.start();
    const { id } = manager.target;
    listeners.get("pagehide")?.({ persisted: true });
    await world.env.advance(0);
    assert.deepEqual(await world.names(), []);
    listeners.get("pageshow")?.({ persisted: true });
    await world.env.advance(0);
    assert.deepEqual(await world.names(), ["tool"]);
    assert.equal(manager.target.id, id);
    undo();
    assert.equal(listeners.size, 0);
    await manager.stop();
  });
});

describe("the data file", () => {
  test("is the Java SDK's: 50 bytes", async () => {
    const id = "0b0f7fd2-9f2e-4a3c-8c5e-5ad1f3a3c1d2";
    const bytes = encodeIdFile(id, "tool-invoker");
    assert.equal(
      Buffer.from(bytes).toString("hex"),
      `${Buffer.from("wanaku").toString("hex")}0000000100000002${Buffer.from(id).toString("hex")}`,
    );
    assert.equal(bytes.length, 50);
    assert.equal(decodeIdFile(bytes), id);
    assert.equal(decodeIdFile(new Uint8Array(3)), undefined);
    assert.throws(() => encodeIdFile("short", null), /must have 36 characters/);
  });

  test("is written and read, and its absence is no fault", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-id-"));
    const store = idFile(join(folder, "deep"), "../my tool", "tool-invoker");
    assert.equal(await store.load(), undefined);
    await store.save("0b0f7fd2-9f2e-4a3c-8c5e-5ad1f3a3c1d2");
    assert.equal(await store.load(), "0b0f7fd2-9f2e-4a3c-8c5e-5ad1f3a3c1d2");
    assert.equal(readFileSync(join(folder, "deep", ".._my_tool.wanaku.dat")).length, 50);
    rmSync(folder, { recursive: true });
  });
});

test("a process that is asked to end says goodbye first, and then ends as it was asked", {
  timeout: 120_000,
}, async () => {
  const world = await registryWorld(systemEnv);
  const server = await listenForTests(async (request) => (await world.registry.handle(request)) ?? textReply(404, ""));
  const folder = mkdtempSync(join(tmpdir(), "capstan-goodbye-"));
  const program = `
    import { deregisterOnExit, nodeRegistration } from ${JSON.stringify(new URL("node.ts", import.meta.url).href)};
    const manager = nodeRegistration({ url: ${JSON.stringify(server.url)}, dataDir: ${JSON.stringify(folder)}, target: ${JSON.stringify(target)} });
    deregisterOnExit(manager);
    await manager.start();
    console.log("ready");
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  assert.deepEqual(await world.names(), ["tool"]);
  const ended = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
  child.kill("SIGTERM");
  assert.equal(await ended, "SIGTERM");
  assert.deepEqual(await world.names(), []);
  await server.close();
  await world.registry.stop();
  rmSync(folder, { recursive: true });
});

test("the client's bundle for pages needs nothing of Node", async () => {
  const { code, imports } = await bundleRegistryClient();
  assert.deepEqual(imports, []);
  assert.doesNotMatch(code, /node:|\brequire\(|\bprocess\.|\bBuffer\b/);
  assert.ok(code.length < 8_000, `${code.length} bytes`);
  const page = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, unknown>;
  assert.equal(typeof page["createRegistrationManager"], "function");
});

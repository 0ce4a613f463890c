import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findPostgres, type PostgresServer, startPostgres } from "../store/postgres-server.ts";
import type { ReplicaSettings } from "./replica-for-tests.ts";

const discovery = "/api/v1/management/discovery";
const found = findPostgres();
const noPostgres = "missing" in found ? found.missing : false;

interface Replica {
  readonly url: string;
  readonly process: ChildProcess;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** A test that fails must not leave its replicas behind. */
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill("SIGKILL");
});

async function startReplica(settings: ReplicaSettings): Promise<Replica> {
  const script = fileURLToPath(new URL("replica-for-tests.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  running.add(child);
  void exited.then(() => running.delete(child));
  for await (const url of createInterface({ input: child.stdout })) {
    return {
      url,
      process: child,
      async kill(signal) {
        child.kill(signal);
        await exited;
      },
    };
  }
  throw new Error("the replica did not start");
}

async function call(url: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const sent = typeof body === "string" ? body : JSON.stringify(body);
  const init = body === undefined ? { method } : { method, body: sent };
  const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(10_000) });
  assert.equal(response.status, 200, `${method} ${path}`);
  return ((await response.json()) as { data: unknown }).data;
}

const register = async (url: string, port: number): Promise<string> => {
  const target = { serviceName: `s${port % 100}`, host: "10.0.0.1", port, serviceType: "tool-invoker" };
  return ((await call(url, "POST", discovery, target)) as { id: string }).id;
};
const listed = async (url: string): Promise<ReadonlySet<string>> => {
  const all = (await call(url, "GET", "/api/v1/capabilities")) as { id: string }[];
  return new Set(all.map(({ id }) => id));
};

/** Registers and deregisters from several clients until told to stop; answers what was acknowledged. */
async function load(
  url: () => string,
  stop: AbortSignal,
): Promise<{ present: Set<string>; absent: Set<string>; unsure: Set<string> }> {
  const present = new Set<string>();
  const absent = new Set<string>();
  const unsure = new Set<string>();
  let port = 0;
  const client = async (): Promise<void> => {
    while (!stop.aborted) {
      try {
        const id = await register(url(), ++port);
        present.add(id);
        if (port % 3 !== 0) continue;
        unsure.add(id);
        await call(url(), "DELETE", discovery, { id });
        present.delete(id);
        unsure.delete(id);
        absent.add(id);
      } catch {
        // Not acknowledged: may have happened or not.
        await wait(5);
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return { present, absent, unsure };
}

function assertNothingLost(
  { present, absent, unsure }: Awaited<ReturnType<typeof load>>,
  found: ReadonlySet<string>,
): void {
  const lost = [...present].filter((id) => !unsure.has(id) && !found.has(id));
  const risen = [...absent].filter((id) => found.has(id));
  assert.ok(present.size + absent.size > 50, `only ${present.size + absent.size} were acknowledged`);
  assert.deepEqual({ lost, risen }, { lost: [], risen: [] });
}

describe("kill -9 under load", { timeout: 200_000 }, () => {
  test("on SQLite loses nothing that was acknowledged", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-kill-"));
    const store = join(folder, "capstan.db");
    const everything = { present: new Set<string>(), absent: new Set<string>(), unsure: new Set<string>() };
    for (let round = 0; round < 3; round++) {
      const replica = await startReplica({ store });
      const stop = new AbortController();
      const loading = load(() => replica.url, stop.signal);
      await wait(1_500);
      await replica.kill("SIGKILL");
      stop.abort();
      const result = await loading;
      for (const id of result.present) everything.present.add(id);
      for (const id of result.absent) {
        everything.absent.add(id);
        everything.present.delete(id);
      }
      for (const id of result.unsure) everything.unsure.add(id);
      const again = await startReplica({ store });
      // The same places register again in the next round and get their old ids, so only this round's goodbyes count.
      assertNothingLost({ ...everything, absent: result.absent }, await listed(again.url));
      await again.kill("SIGTERM");
    }
    rmSync(folder, { recursive: true, force: true });
  });

  describe("on PostgreSQL", { skip: noPostgres }, () => {
    let server: PostgresServer;
    before(async () => {
      server = await startPostgres();
    });
    after(() => server.stop());

    test("any replica may be killed: the others go on and agree", async () => {
      const replicas = await Promise.all([1, 2, 3].map(() => startReplica({ store: server.url })));
      const [first, second, third] = replicas as [Replica, Replica, Replica];
      const alive = [first, second, third];
      let turn = 0;
      const stop = new AbortController();
      const loading = load(() => alive[turn++ % alive.length]?.url ?? "", stop.signal);
      await wait(1_500);
      await second.kill("SIGKILL");
      await wait(1_000);
      alive.splice(1, 1);
      await wait(1_000);
      stop.abort();
      const result = await loading;
      await wait(500);
      const [one, other] = await Promise.all([listed(first.url), listed(third.url)]);
      assert.deepEqual([...one], [...other], "the same services in the same order");
      assertNothingLost(result, one);
      await Promise.all([first.kill("SIGTERM"), third.kill("SIGTERM")]);
    });

    test("a database that is killed and comes back loses nothing, and replicas recover by themselves", async () => {
      const replicas = await Promise.all([1, 2].map(() => startReplica({ store: server.url })));
      const [first, second] = replicas as [Replica, Replica];
      let turn = 0;
      const stop = new AbortController();
      const loading = load(() => (turn++ % 2 ? first.url : second.url), stop.signal);
      await wait(1_500);
      await server.kill();
      await wait(500);
      await listed(first.url);
      await server.start();
      await wait(4_000);
      stop.abort();
      const result = await loading;
      await register(first.url, 70_000 % 65_536);
      await wait(1_500);
      const [one, other] = await Promise.all([listed(first.url), listed(second.url)]);
      assert.deepEqual([...one], [...other]);
      assertNothingLost(result, one);
      await Promise.all([first.kill("SIGTERM"), second.kill("SIGTERM")]);
    });

    test("heartbeats at one replica keep a service alive at all, and its silence is noticed by all", async () => {
      const options = { missingAfterMs: 4_000, deregisterAfterMs: 60_000, beatSaveMs: 500, remoteToleranceMs: 2_000 };
      const replicas = await Promise.all([1, 2].map(() => startReplica({ store: server.url, options })));
      const [first, second] = replicas as [Replica, Replica];
      const target = { serviceName: "beating", host: "10.9.9.9", port: 1, serviceType: "tool-invoker" };
      const { id } = (await call(first.url, "POST", discovery, target)) as { id: string };
      const healthAt = async (url: string): Promise<string | undefined> => {
        const all = (await call(url, "GET", "/api/v1/capabilities/tools/state")) as Record<
          string,
          { healthStatus: string }[]
        >;
        return all["beating"]?.[0]?.healthStatus;
      };
      for (let beat = 0; beat < 16; beat++) {
        await call(first.url, "POST", `${discovery}/heartbeats`, id);
        await wait(500);
        assert.notEqual(await healthAt(second.url), "DOWN");
      }
      await wait(3_000);
      assert.equal(await healthAt(first.url), "HEALTHY", "never early");
      await wait(2_500);
      assert.equal(await healthAt(first.url), "DOWN");
      assert.equal(await healthAt(second.url), "DOWN");
      await call(second.url, "POST", `${discovery}/heartbeats`, id);
      await wait(500);
      assert.equal(await healthAt(first.url), "HEALTHY");
      await Promise.all([first.kill("SIGTERM"), second.kill("SIGTERM")]);
    });
  });
});

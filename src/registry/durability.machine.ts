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
  const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(60_000) });
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

interface Acknowledged {
  readonly present: Set<string>;
  readonly absent: Set<string>;
  readonly unsure: Set<string>;
}
const nothing = (): Acknowledged => ({ present: new Set(), absent: new Set(), unsure: new Set() });

/** Waits for what must come about, on a busy machine too. */
async function eventually(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const startedAt = performance.now();
  while (!(await holds())) {
    assert.ok(performance.now() - startedAt < 120_000, what);
    await wait(50);
  }
}

/** Until so many more were acknowledged, so that what follows happens in the middle of work. */
async function work({ present, absent }: Acknowledged, more: number): Promise<void> {
  const before = present.size + absent.size;
  await eventually(() => present.size + absent.size >= before + more, `${more} more acknowledgements do not come`);
}

/** Registers and deregisters from several clients until told to stop; `said` is what was acknowledged. */
async function load(url: () => string, stop: AbortSignal, said: Acknowledged): Promise<void> {
  const { present, absent, unsure } = said;
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
}

const wrongs = ({ present, absent, unsure }: Acknowledged, found: ReadonlySet<string>): object => ({
  lost: [...present].filter((id) => !unsure.has(id) && !found.has(id)),
  risen: [...absent].filter((id) => found.has(id)),
});
const none = { lost: [], risen: [] };

/** News travels between replicas; in the end they list the same in the same order, and nothing acknowledged is missing. */
async function agree(one: Replica, other: Replica, said: Acknowledged): Promise<void> {
  let seen: unknown;
  const isSame = async (): Promise<boolean> => {
    const [left, right] = await Promise.all([listed(one.url), listed(other.url)]);
    seen = { ...wrongs(said, left), differ: JSON.stringify([...left]) !== JSON.stringify([...right]) };
    return JSON.stringify(seen) === JSON.stringify({ ...none, differ: false });
  };
  await eventually(isSame, "the replicas do not agree").catch((error: unknown) => {
    assert.deepEqual(seen, { ...none, differ: false });
    throw error;
  });
}

describe("kill -9 under load", { timeout: 900_000 }, () => {
  test("on SQLite loses nothing that was acknowledged", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-kill-"));
    const store = join(folder, "capstan.db");
    const everything = nothing();
    for (let round = 0; round < 3; round++) {
      const replica = await startReplica({ store });
      const stop = new AbortController();
      const result = nothing();
      const loading = load(() => replica.url, stop.signal, result);
      await work(result, 300);
      await replica.kill("SIGKILL");
      stop.abort();
      await loading;
      for (const id of result.present) everything.present.add(id);
      for (const id of result.absent) {
        everything.absent.add(id);
        everything.present.delete(id);
      }
      for (const id of result.unsure) everything.unsure.add(id);
      const again = await startReplica({ store });
      // The same places register again in the next round and get their old ids, so only this round's goodbyes count.
      assert.deepEqual(wrongs({ ...everything, absent: result.absent }, await listed(again.url)), none);
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
      const result = nothing();
      const loading = load(() => alive[turn++ % alive.length]?.url ?? "", stop.signal, result);
      await work(result, 300);
      await second.kill("SIGKILL");
      alive.splice(1, 1);
      await work(result, 300);
      stop.abort();
      await loading;
      await agree(first, third, result);
      await Promise.all([first.kill("SIGTERM"), third.kill("SIGTERM")]);
    });

    test("a database that is killed and comes back loses nothing, and replicas recover by themselves", async () => {
      const replicas = await Promise.all([1, 2].map(() => startReplica({ store: server.url })));
      const [first, second] = replicas as [Replica, Replica];
      let turn = 0;
      const stop = new AbortController();
      const result = nothing();
      const loading = load(() => (turn++ % 2 ? first.url : second.url), stop.signal, result);
      await work(result, 300);
      await server.kill();
      await listed(first.url);
      await server.start();
      await work(result, 300);
      stop.abort();
      await loading;
      await agree(first, second, result);
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
      // Twice as long as the deadline. A machine that stalls for longer than it between two beats proves nothing.
      let sentAt = performance.now();
      let longestGapMs = 0;
      for (const until = sentAt + 2 * options.missingAfterMs; sentAt < until; ) {
        const now = performance.now();
        longestGapMs = Math.max(longestGapMs, now - sentAt);
        sentAt = now;
        await call(first.url, "POST", `${discovery}/heartbeats`, id);
        await wait(500);
        const health = await healthAt(second.url);
        longestGapMs = Math.max(longestGapMs, performance.now() - sentAt);
        if (longestGapMs < options.missingAfterMs) assert.notEqual(health, "DOWN");
      }
      for (const replica of [first, second])
        await eventually(async () => {
          const isDown = (await healthAt(replica.url)) === "DOWN";
          if (isDown && longestGapMs < options.missingAfterMs)
            assert.ok(performance.now() - sentAt >= options.missingAfterMs, "never early");
          return isDown;
        }, "its silence is not noticed");
      await call(second.url, "POST", `${discovery}/heartbeats`, id);
      await eventually(async () => (await healthAt(first.url)) === "HEALTHY", "its return is not noticed");
      await Promise.all([first.kill("SIGTERM"), second.kill("SIGTERM")]);
    });
  });
});

// What the storage does when the disk or the file misbehaves (faults F34 and F44 of the fault model).
import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createApiServer } from "../../../../src/apiserver/server.ts";
import { type CommitLog, createMemoryLog } from "../../../../src/apiserver/storage/commit-log.ts";
import { createSqliteLog } from "../../../../src/apiserver/storage/sqlite-log.ts";
import { Store } from "../../../../src/apiserver/storage/store.ts";
import { systemEnv } from "../../../../src/env/system.ts";
import type { KubeObject } from "../../../../src/kube/object.ts";

const token = "faults";
const tokens = [{ token, user: { name: "admin", groups: ["system:masters"] } }];
const path = "/api/v1/namespaces/default/configmaps";

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown> & { readonly metadata?: { readonly resourceVersion?: string } };
}

const sender =
  (server: { handle: Awaited<ReturnType<typeof createApiServer>>["handle"] }) =>
  async (method: string, target: string, body?: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const payload = body && { body: Buffer.from(JSON.stringify(body)) };
    const response = await server.handle({ method, target, headers, ...payload });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return { status: response.status, json: JSON.parse(Buffer.concat(chunks).toString()) as Answer["json"] };
  };

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "capstan-faults-"));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const thing = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Thing", metadata: { name } });

describe("restarts (F34)", () => {
  it("go on with the same objects and later versions, and a watch resumes", async () => {
    await inDirectory(async (directory) => {
      const file = join(directory, "api.db");
      const first = await createApiServer({ env: systemEnv, file, tokens });
      const before = await sender(first)("POST", path, { metadata: { name: "a" } });
      await sender(first)("POST", path, { metadata: { name: "b" } });
      await first.close();
      const second = await createApiServer({ env: systemEnv, file, tokens });
      const after = await sender(second)("POST", path, { metadata: { name: "c" } });
      assert.ok(Number(after.json.metadata?.resourceVersion) > Number(before.json.metadata?.resourceVersion) + 1);
      const watch = await second.handle({
        method: "GET",
        target: `${path}?watch=true&timeoutSeconds=1&resourceVersion=${before.json.metadata?.resourceVersion}`,
        headers: { authorization: `Bearer ${token}` },
      });
      const seen: string[] = [];
      for await (const chunk of watch.body) {
        for (const line of Buffer.from(chunk).toString().trim().split("\n")) {
          const { type, object } = JSON.parse(line) as { type: string; object: KubeObject };
          seen.push(`${type} ${object.metadata.name}`);
        }
      }
      assert.deepEqual(seen, ["ADDED b", "ADDED c"]);
      await second.close();
    });
  });

  it("from an older copy tell clients that their version is in the future", async () => {
    await inDirectory(async (directory) => {
      const file = join(directory, "api.db");
      const first = await createApiServer({ env: systemEnv, file, tokens });
      await sender(first)("POST", path, { metadata: { name: "a" } });
      await first.close();
      copyFileSync(file, join(directory, "backup.db"));
      const second = await createApiServer({ env: systemEnv, file, tokens });
      const late = await sender(second)("POST", path, { metadata: { name: "lost" } });
      await second.close();
      copyFileSync(join(directory, "backup.db"), file);
      const third = await createApiServer({ env: systemEnv, file, tokens });
      const list = await sender(third)("GET", `${path}?resourceVersion=${late.json.metadata?.resourceVersion}`);
      assert.equal(list.status, 504);
      assert.match(String(list.json["message"]), /Too large resource version/);
      await third.close();
    });
  });
});

describe("a misbehaving disk (F44)", () => {
  it("a torn tail of the log costs only what was never acknowledged", async () => {
    await inDirectory(async (directory) => {
      const file = join(directory, "api.db");
      const store = new Store(systemEnv, createSqliteLog(file));
      for (let i = 0; i < 20; i++) await store.write("things", `t${i}`, undefined, thing(`t${i}`));
      // The state of the disk at this instant, with a log whose last bytes never arrived.
      const copy = join(directory, "copy.db");
      copyFileSync(file, copy);
      copyFileSync(`${file}-wal`, `${copy}-wal`);
      await store.close();
      const size = statSync(`${copy}-wal`).size;
      for (const cut of [1, 100, 3000]) {
        const torn = join(directory, `torn-${cut}.db`);
        copyFileSync(copy, torn);
        copyFileSync(`${copy}-wal`, `${torn}-wal`);
        truncateSync(`${torn}-wal`, size - cut);
        const found = new Store(systemEnv, createSqliteLog(torn));
        const names = found
          .collection("things")
          .range()
          .map(({ key }) => key);
        assert.ok(names.length >= 18 && names.length < 20, `${names.length} of 20 after losing ${cut} bytes`);
        for (const { object } of found.collection("things").range()) assert.equal(object.kind, "Thing");
        await found.write("things", "after", undefined, thing("after"));
        await found.close();
      }
    });
  });

  it("garbage in place of the file is refused with its name", async () => {
    await inDirectory(async (directory) => {
      const file = join(directory, "api.db");
      writeFileSync(
        file,
        "this is no database, and was never one; it is long enough to have a header of its own".repeat(20),
      );
      await assert.rejects(
        createApiServer({ env: systemEnv, file, tokens }),
        /cannot open .*api\.db: file is not a database/,
      );
      assert.ok(readFileSync(file, "utf8").startsWith("this is no database"), "the file is left as it was");
    });
  });

  it("a full disk refuses writes and goes on reading, and writes work again afterwards", async () => {
    let isFull = false;
    const log: CommitLog = {
      ...createMemoryLog(),
      append: async () => {
        if (isFull) throw new Error("database or disk is full");
      },
    };
    const store = new Store(systemEnv, log);
    await store.write("things", "a", undefined, thing("a"));
    isFull = true;
    await assert.rejects(store.write("things", "b", undefined, thing("b")) ?? Promise.resolve(), (error: Error) => {
      assert.match((error.cause as Error).message, /disk is full/);
      return true;
    });
    assert.equal(store.get("things", "b"), undefined);
    assert.ok(store.get("things", "a"));
    assert.match(store.failure?.message ?? "", /disk is full/);
    isFull = false;
    await store.write("things", "b", undefined, thing("b"));
    assert.ok(store.get("things", "b"));
    assert.equal(store.failure, undefined);
    await store.close();
  });

  it("keeps its files to itself", async () => {
    await inDirectory(async (directory) => {
      const file = join(directory, "api.db");
      const store = new Store(systemEnv, createSqliteLog(file));
      await store.write("things", "a", undefined, thing("a"));
      for (const each of [file, `${file}-wal`]) {
        if (existsSync(each)) assert.equal(statSync(each).mode & 0o077, 0, `${each} can be read by others`);
      }
      await store.close();
    });
  });
});

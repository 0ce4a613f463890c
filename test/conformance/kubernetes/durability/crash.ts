// Kills a writing API server at a random instant, again and again, and looks whether everything it acknowledged is there.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSqliteLog } from "../../../../src/apiserver/storage/sqlite-log.ts";
import { Store } from "../../../../src/apiserver/storage/store.ts";
import { systemEnv } from "../../../../src/env/system.ts";
import { seededRandom } from "../../../../src/testing/seeded.ts";
import { bundleWriter, drawInstant, writeUntilKilled } from "./kill.ts";

/** What the dead process had acknowledged: the last value of each object, null when it was removed. */
type Acknowledged = Map<string, string | null>;

export interface CrashReport {
  readonly kills: number;
  readonly acknowledged: number;
}

export async function crashAgainAndAgain(kills: number, seed: number): Promise<CrashReport> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-crash-"));
  const file = join(directory, "api.db");
  const writer = await bundleWriter(directory, "./crash-writer.ts");
  const acknowledged: Acknowledged = new Map();
  const random = seededRandom(seed);
  let lastVersion = 0;
  try {
    for (let kill = 0; kill < kills; kill++) {
      await writeUntilKilled(
        [writer, file, `k${kill}`],
        drawInstant(random, 20, 200),
        ({ name = "", value, version }) => {
          acknowledged.set(name, value ?? null);
          lastVersion = Math.max(lastVersion, Number(version ?? 0));
        },
      );
      await check(file, acknowledged, lastVersion, `seed ${seed}, kill ${kill}`);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
  return { kills, acknowledged: acknowledged.size };
}

async function check(file: string, acknowledged: Acknowledged, lastVersion: number, when: string): Promise<void> {
  const store = new Store(systemEnv, createSqliteLog(file));
  try {
    assert.ok(
      store.revision >= lastVersion,
      `${when}: revision ${store.revision} is behind the acknowledged ${lastVersion}`,
    );
    for (const [name, value] of acknowledged) {
      const found = store.get("configmaps", `default/${name}`)?.object as
        | { data?: { value?: string; filler?: string } }
        | undefined;
      // A write that was under way when the process died may be there or not; it can only be the next step of the object.
      if (value === null) assert.equal(found, undefined, `${when}: ${name} came back`);
      else if (value === "1")
        assert.ok(found?.data?.value === "1" || found?.data?.value === "2", `${when}: ${name} lost`);
      else if (found) assert.equal(found.data?.value, "2", `${when}: ${name} went back`);
      else assert.ok(isRemovedInTheEnd(name), `${when}: ${name} lost`);
      if (found) assert.match(found.data?.filler ?? "", /^x{100,}$/, `${when}: ${name} is torn`);
    }
  } finally {
    await store.close();
  }
}

/** Every third object of a writer is removed; the removal may have been stored and not told. */
const isRemovedInTheEnd = (name: string): boolean => Number(name.slice(name.lastIndexOf("-") + 1)) % 3 === 0;

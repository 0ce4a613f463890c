// Kills an API server in the middle of creates that a quota counts, and looks whether the count is still the truth.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ResourceQuota } from "../../../../src/api/builtin/cluster.ts";
import { createSqliteLog } from "../../../../src/apiserver/storage/sqlite-log.ts";
import { Store } from "../../../../src/apiserver/storage/store.ts";
import { systemEnv } from "../../../../src/env/system.ts";
import { seededRandom } from "../../../../src/testing/seeded.ts";
import { bundleWriter, drawInstant, writeUntilKilled } from "./kill.ts";

export interface QuotaReport {
  readonly admitted: number;
  readonly refused: number;
}

/** After every kill: as many as are counted, no more than are allowed, and all that were acknowledged. */
export async function killCreatesUnderQuota(kills: number, seed: number): Promise<QuotaReport> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-quota-"));
  const file = join(directory, "api.db");
  const random = seededRandom(seed);
  const made = new Set<string>();
  let refused = 0;
  try {
    const writer = await bundleWriter(directory, "./quota-writer.ts");
    for (let kill = 0; kill < kills; kill++) {
      const hard = made.size + morePerKill;
      // In turn: long before the quota is full, and when it has been so for a while.
      const instant = drawInstant(random, kill % 2 === 0 ? 5 : 2 * morePerKill, morePerKill / 2);
      await writeUntilKilled([writer, file, `k${kill}`, String(hard)], instant, ({ name = "", value }) => {
        if (value === null) refused++;
        else made.add(name);
      });
      await check(file, made, hard, `seed ${seed}, kill ${kill}`);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
  return { admitted: made.size, refused };
}

const morePerKill = 40;

async function check(file: string, made: ReadonlySet<string>, hard: number, when: string): Promise<void> {
  const store = new Store(systemEnv, createSqliteLog(file));
  try {
    const found = store
      .collection("configmaps")
      .range("default/")
      .map(({ object }) => object.metadata.name);
    const quota = store.get("resourcequotas", "default/q")?.object as ResourceQuota | undefined;
    assert.equal(Number(quota?.status?.used?.["count/configmaps"]), found.length, `${when}: the count is wrong`);
    assert.ok(found.length <= hard, `${when}: ${found.length} were admitted, ${hard} are allowed`);
    for (const name of made) assert.ok(found.includes(name), `${when}: ${name} was acknowledged and is lost`);
  } finally {
    await store.close();
  }
}

// Kills a writing API server at a random instant, again and again, and looks whether everything it acknowledged is there.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { createSqliteLog } from "../../../../src/apiserver/storage/sqlite-log.ts";
import { Store } from "../../../../src/apiserver/storage/store.ts";
import { systemEnv } from "../../../../src/env/system.ts";

const writerSource = fileURLToPath(new URL("./crash-writer.ts", import.meta.url));

/** What the dead process had acknowledged: the last value of each object, null when it was removed. */
type Acknowledged = Map<string, string | null>;

export interface CrashReport {
  readonly kills: number;
  readonly acknowledged: number;
}

export async function crashAgainAndAgain(kills: number, seed: number): Promise<CrashReport> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-crash-"));
  const file = join(directory, "api.db");
  const writer = await bundleWriter(directory);
  const acknowledged: Acknowledged = new Map();
  const random = randomFrom(seed);
  let lastVersion = 0;
  try {
    for (let kill = 0; kill < kills; kill++) {
      const instant = { afterWrites: 20 + Math.floor(random() * 200), andMs: random() * 10 };
      const version = await writeUntilKilled(writer, file, `k${kill}`, instant, acknowledged);
      lastVersion = Math.max(lastVersion, version);
      await check(file, acknowledged, lastVersion, `seed ${seed}, kill ${kill}`);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
  return { kills, acknowledged: acknowledged.size };
}

/** One file starts four times as fast as the sources do, and a hundred starts are many. */
async function bundleWriter(directory: string): Promise<string> {
  const built = await rolldown({ input: writerSource, platform: "node", logLevel: "silent" });
  await built.write({ dir: directory, format: "esm", entryFileNames: "crash-writer.mjs" });
  await built.close();
  return join(directory, "crash-writer.mjs");
}

/** Counted in writes, so that a busy machine kills in the middle of as many of them as an idle one. */
interface Instant {
  readonly afterWrites: number;
  readonly andMs: number;
}

async function writeUntilKilled(
  writer: string,
  file: string,
  prefix: string,
  instant: Instant,
  acknowledged: Acknowledged,
): Promise<number> {
  const child = spawn(process.execPath, [writer, file, prefix], { stdio: ["ignore", "pipe", "inherit"] });
  let lastVersion = 0;
  let writes = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    // The last line of a killed process may be cut off; what was cut off was not told to anybody.
    const said = parse(line);
    if (!said) continue;
    if (said.name === undefined) continue;
    writes++;
    if (writes === instant.afterWrites) setTimeout(() => child.kill("SIGKILL"), instant.andMs);
    acknowledged.set(said.name, said.value ?? null);
    lastVersion = Math.max(lastVersion, Number(said.version ?? 0));
  }
  return lastVersion;
}

interface Said {
  readonly name?: string;
  readonly value?: string | null;
  readonly version?: string;
}

function parse(line: string): Said | undefined {
  try {
    return JSON.parse(line) as Said;
  } catch {
    return undefined;
  }
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

/** mulberry32: small, and the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

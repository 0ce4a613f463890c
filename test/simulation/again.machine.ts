import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const again = (...args: readonly string[]): Promise<{ readonly stdout: string }> =>
  promisify(execFile)(process.execPath, [join(import.meta.dirname, "again.ts"), ...args]);

test("a seed can be played again, with its own plan or with another one", async () => {
  const { stdout } = await again("worlds", "42");
  assert.match(stdout, /the plan: \[.*nothing is wrong/s);
  const { stdout: calm } = await again("worlds", "42", "[]");
  assert.match(calm, /nothing is wrong\ntrace [0-9a-f]+/);
  await assert.rejects(again("nothing"), /usage: node test\/simulation\/again\.ts worlds\|/);
});

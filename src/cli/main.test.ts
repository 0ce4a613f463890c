import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";

test("a reader who has seen enough is no fault: capstan … | head ends quietly", async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), "completion", "bash"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  child.stdout.destroy();
  const [code] = await once(child, "close");
  assert.equal(complaint, "");
  assert.equal(code, 0);
});

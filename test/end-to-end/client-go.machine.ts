import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { embeddedTarget } from "../conformance/kubernetes/target.ts";

const hasGo = spawnSync("go", ["version"]).status === 0;

test("controllers written with client-go find what they need", {
  skip: hasGo ? false : "no Go on this machine",
  timeout: 1_100_000,
}, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-client-go-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "check");
  const cwd = fileURLToPath(new URL("client-go", import.meta.url));
  const built = spawnSync("go", ["build", "-o", program, "."], { cwd, encoding: "utf8", timeout: 900_000 });
  assert.equal(built.status, 0, built.stderr);
  const target = await embeddedTarget({ withNode: true });
  context.after(() => target.close());
  const env = { ...process.env, KUBECONFIG: target.kubeconfig };
  const { stdout } = await promisify(execFile)(program, { env, timeout: 180_000 }).catch(
    (failed: { readonly stdout: string; readonly stderr: string }) => assert.fail(failed.stdout + failed.stderr),
  );
  assert.doesNotMatch(stdout, /FAILED/);
  assert.ok(stdout.split("\n").filter((line) => line.startsWith("ok ")).length >= 50, stdout);
});

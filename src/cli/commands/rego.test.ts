import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const folder = mkdtempSync(join(tmpdir(), "capstan-rego-"));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "policy.rego"), "package a\np := data.x");
writeFileSync(join(folder, "data.json"), '{"x": 1}');
writeFileSync(join(folder, "broken.rego"), "package a\np if {");
writeFileSync(join(folder, "policy_test.rego"), "package a\ntest_p if p == 1");

const program = join(import.meta.dirname, "../main.ts");

function rego(...args: string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [program, "rego", ...args], { cwd: folder, encoding: "utf8" });
}

test("the query may follow the data files directly, as with opa", () => {
  const ways = [
    ["-d", "policy.rego", "-d", "data.json", "data.a.p"],
    ["-d", "policy.rego", "data.json", "data.a.p"],
    ["data.a.p", "-d", "policy.rego", "data.json"],
  ];
  for (const way of ways) {
    const { stdout, status } = rego("eval", "-f", "raw", ...way);
    assert.deepEqual([stdout, status], ["1\n", 0], way.join(" "));
  }
  const { stderr, status } = rego("eval", "-d", "policy.rego");
  assert.match(stderr, /there is no query/);
  assert.equal(status, 1);
});

test("files that are ignored are not read", () => {
  assert.equal(rego("check", ".").status, 1);
  assert.equal(rego("check", ".", "--ignore", "broken*").status, 0);
  const { stdout, status } = rego("test", ".", "--ignore", "broken.rego");
  assert.deepEqual([stdout, status], ["PASS: 1/1\n", 0]);
});

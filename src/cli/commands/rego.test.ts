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

test("a document can be put below a path, and a bundle's folder only has documents called data", () => {
  assert.deepEqual(rego("eval", "-f", "raw", "-d", "a.b:data.json", "data.a.b.x").stdout, "1\n");
  assert.deepEqual(rego("eval", "-f", "raw", "-b", ".", "--ignore", "broken*", "data.a.p").stdout, "1\n");
});

test("a missing file is an error with opa's words and exit code", () => {
  const { stdout, status } = rego("eval", "-d", "nothing.rego", "data");
  assert.deepEqual(JSON.parse(stdout), { errors: [{ message: "stat nothing.rego: no such file or directory" }] });
  assert.equal(status, 2);
});

test("results have their fields in opa's order, and discarded ones say so", () => {
  const { stdout } = rego("eval", "x := 1");
  assert.ok(
    stdout.indexOf('"value"') < stdout.indexOf('"text"') && stdout.indexOf('"text"') < stdout.indexOf('"location"'),
  );
  assert.deepEqual(JSON.parse(rego("eval", "-f", "discard", "1").stdout), { result: "discarded" });
});

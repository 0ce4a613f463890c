// The command line beside OPA's own on the same files: what is printed, where, and the exit code. Needs Go, or `opa` 1.22.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { obtainOpa } from "../../bench/rego/opa-http.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-rego-commands-"));
after(() => rmSync(folder, { recursive: true, force: true }));
cpSync(join(import.meta.dirname, "rego-commands"), folder, { recursive: true });
const inBundle = [".manifest", "authz.rego", "roles/data.json"];
execFileSync("tar", ["czf", join(folder, "bundle.tar.gz"), "-C", join(folder, "bundle"), ...inBundle]);

const opa = obtainOpa();
const skip = opa === undefined ? "OPA cannot be built here" : false;

const allow = "-d policy -d data.json -i input.json";

const commands: readonly string[] = [
  "test policy",
  "test -v policy",
  "test -r guest -v policy",
  "test -r nobody policy",
  "test failing",
  "test --format json failing",
  "test -z failing/skipped",
  "test failing/skipped",
  "test cases",
  "test --format json cases",
  "test -v -r concat cases",
  "test -c policy",
  "test -c failing",
  "test -c failing/a_test.rego",
  "test --threshold 50 policy",
  "test --threshold 99.9 policy",
  "test --threshold 99.9 -v policy",
  "test --threshold 10 failing",
  "test -b bundle",
  "test bad/syntax.rego",
  "test bad/unsafe.rego",
  "test missing",
  `eval ${allow} data.authz.allow`,
  `eval ${allow} x:=data.authz.allow;y:=data.authz.names`,
  `eval ${allow} -f pretty x=data.authz.by_role[y]`,
  `eval ${allow} -f pretty data.authz.names`,
  `eval ${allow} -f pretty data.authz.names;data.authz.allow`,
  `eval ${allow} -f pretty data.authz.allow;true`,
  `eval ${allow} -f bindings x=data.authz.by_role[y]`,
  `eval ${allow} -f values x=data.authz.by_role[y]`,
  `eval ${allow} -f raw x=data.authz.by_role[y];y`,
  'eval -f raw "text";[1,2];{"a":1.50}',
  "eval -f discard 1",
  "eval -f pretty input.x",
  'eval -f pretty ["<&>",1]',
  "eval --fail input.x",
  "eval --fail false",
  "eval --fail true",
  "eval --fail -f raw [][_]",
  "eval --fail-defined input.x",
  "eval --fail-defined false",
  "eval --fail-defined true",
  "eval -d conflict.rego -i x.json data.conflict.p",
  "eval -d conflict.rego -i x.json -f pretty data.conflict.p",
  "eval -d conflict.rego -i x.json -f raw data.conflict.q",
  "eval -d conflict.rego -i x.json data.conflict.o",
  "eval --strict-builtin-errors 1/0",
  "eval --strict-builtin-errors -f pretty 1/0",
  "eval 1/0",
  "eval -f pretty 1/0",
  "eval -d bad/syntax.rego data.bad",
  "eval -d bad/syntax.rego -f pretty data.bad",
  "eval -d bad/unsafe.rego data.bad",
  "eval -d bad/unsafe.rego -f pretty data.bad",
  "eval p[",
  "eval -f pretty p[",
  "eval -b bundle -i input.json data.authz.allow",
  "eval -b bundle.tar.gz -i input.json data.authz",
  "eval -d bundle.tar.gz data.roles",
  `eval --coverage ${allow} data.authz.allow`,
  `eval --coverage -f pretty ${allow} data.authz.allow`,
  "eval --coverage -d coverage.rego data.coverage",
  "eval --coverage -d coverage.rego data.coverage.h",
  "eval --coverage -d coverage.rego data.coverage.k",
  "eval -d missing.rego data",
  "eval -d missing.rego -f pretty data",
  "eval -i missing.json data",
  `eval ${allow} --package authz allow`,
  "check policy",
  "check strict.rego",
  "check --strict strict.rego",
  "check --strict --format json strict.rego",
  "check bad",
  "check --format json bad",
  "check bad/unsafe.rego",
  "check --format json bad/unsafe.rego",
  "check missing.rego",
  "check -b bundle",
  "check bundle.tar.gz",
];

for (const command of commands) {
  test(`${command} prints and exits as opa does`, { skip }, () => {
    const args = command.split(" ");
    const ours = [process.execPath, join(import.meta.dirname, "../../src/cli/main.ts"), "rego"];
    assert.deepEqual(run([...ours, ...args]), run([opa ?? "", ...args]));
  });
}

function run([program = "", ...args]: readonly string[]): object {
  const { stdout, stderr, status } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
  return { stdout: comparable(stdout), stderr: comparable(stderr), status };
}

/** Without what cannot be the same: times and the random order of OPA's tests, and what the Rego page calls different. */
function comparable(printed: string): string {
  return inOrder(
    printed
      .replace(/ \((?:[\d.]+(?:ns|µs|ms|s|m))+\)/g, " (time)")
      .replace(/"duration": \d+/g, '"duration": 0')
      .replace(/,\s*"stack_trace": \[[^\]]*\]/g, "")
      .replace(/,\s*"kinds": \[[^\]]*\]/g, "")
      .replace(/\n\nTraceback:\n(?: {2}.*\n)*/g, "\n")
      .replace(/ {2}Traceback:\n(?: {4}.*\n)*/g, ""),
  );
}

function inOrder(printed: string): string {
  if (/^\[\n {2}\{\n {4}"location"/.test(printed)) {
    return JSON.stringify((JSON.parse(printed) as object[]).map((item) => JSON.stringify(item)).sort());
  }
  if (!/^(?:\S+:\d+:\ndata\.)/.test(printed)) return printed;
  const [results = "", ...rest] = printed.split(/^-{80}\n/m);
  const blocks = results.split(/^(?=\S+\.rego:\d+:\n)/m).map((block) => block.trimEnd());
  return [blocks.sort().join("\n"), ...rest].join("----\n");
}

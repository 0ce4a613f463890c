import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { ConnectionError, CredentialError } from "../client/connection-error.ts";
import { Failure, failureOf } from "./failure.ts";

test("a server that is not there, or a credential that is missing, is told in one line and is no bug", () => {
  const refused = new ConnectionError("cannot connect to https://127.0.0.1:6443", {
    reason: "Refused",
    mayHaveBeenApplied: false,
  });
  assert.match(failureOf(refused)?.message ?? "", /^cannot connect to .*6443; does it run\? .*capstan doctor/);
  assert.equal(failureOf(refused)?.exitCode, 1);
  assert.equal(failureOf(new CredentialError("token: no such file"))?.message, "token: no such file");
  assert.equal(failureOf(new Failure("no", 2))?.exitCode, 2);
});

test("what nobody expected is a bug of ours", () => {
  assert.equal(failureOf(new TypeError("x is not a function")), undefined);
});

test("commands that find no server end at once, with a sentence and code 1", { timeout: 60_000 }, () => {
  const main = join(import.meta.dirname, "main.ts");
  for (const words of [
    ["explain", "world", "any", "--kubeconfig", "package.json"],
    ["explain", "world", "any", "--data-dir", "no-such-folder"],
    ["approve", "any", "--data-dir", "no-such-folder"],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [main, ...words], { encoding: "utf8", timeout: 30_000 });
    assert.equal(status, 1, `${words.join(" ")}: ${stderr}`);
    assert.match(stderr, /^capstan: [^\n]+\n$/, words.join(" "));
  }
});

/** Server-side apply against the library that Kubernetes uses for it: random histories, compared operation by operation. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { runCases } from "./apply.ts";
import { buildGoPeer } from "./go-peer.ts";

const peer = buildGoPeer({
  name: "apply",
  program: readFileSync(new URL("apply-random.go", import.meta.url), "utf8"),
  requires: "sigs.k8s.io/structured-merge-diff/v6 v6.4.2",
});
const histories = 2_000;
const operationsEach = 6;

for (const seed of [1, 2, Math.floor(Math.random() * 1e9)]) {
  test(`${histories} random histories with seed ${seed} lead to the same objects, owners and conflicts`, {
    skip: existsSync(peer) ? false : peer,
  }, () => {
    const cases = execFileSync(peer, [String(seed), String(histories)], { maxBuffer: 1e9, encoding: "utf8" });
    const { passed, failures } = runCases(cases);
    assert.deepEqual(failures.slice(0, 3), []);
    assert.equal(passed, histories * operationsEach);
  });
}

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { placesIn } from "./places.ts";
import { ProcessRecords } from "./process-records.ts";

test("processes that a killed node left behind are ended, and no others", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-records-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const places = placesIn(folder);
  const records = new ProcessRecords(places);
  const left = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  const exited = once(left, "exit");
  assert.ok(left.pid);
  records.add("uid-1", "main", left.pid);
  // A record whose process has gone: its number may belong to anybody, for instance to this test.
  records.add("uid-2", "main", 2 ** 22 + 1);
  assert.equal(new ProcessRecords(places).endLeftovers(), 1);
  const [, signal] = await exited;
  assert.equal(signal, "SIGKILL");
  assert.equal(new ProcessRecords(places).endLeftovers(), 0);
});

test("files of pods that are gone go", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-records-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const places = placesIn(folder);
  for (const uid of ["a", "b"]) mkdirSync(places.pod(uid), { recursive: true });
  new ProcessRecords(places).keepOnly(new Set(["b"]));
  assert.deepEqual([existsSync(places.pod("a")), existsSync(places.pod("b"))], [false, true]);
});

test("no name leads out of the folder", () => {
  for (const name of ["..", ".", "a/b", ""]) assert.throws(() => placesIn("/x").pod(name), RangeError);
});

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { type Welcome, welcome } from "./welcome.ts";

const running: Welcome = {
  startedInMs: 420,
  dataDir: resolve(".capstan"),
  signInLink: "http://127.0.0.1:8080/?token=abc",
  api: "https://127.0.0.1:6443",
  http: "http://127.0.0.1:8080",
  grpc: "http://127.0.0.1:8088",
  kubeconfig: resolve(".capstan/kubeconfig"),
  demo: true,
};

const triedIn = (text: string): readonly string[] =>
  text.split("\n").flatMap((line) => /^ {2}(\S.*?)\s+# /.exec(line)?.[1] ?? []);

test("the first screen says where everything is, and fits on a small one", () => {
  const text = welcome(running);
  for (const place of [running.signInLink, running.api, running.kubeconfig, `${running.http}/api/v1`, running.grpc])
    assert.ok(text.includes(place), place);
  assert.ok(text.split("\n").length <= 24, text);
});

test("there are three things to try, of the demo only where it is", () => {
  assert.equal(triedIn(welcome(running)).length, 3);
  const without = triedIn(welcome({ ...running, demo: false }));
  assert.equal(without.length, 3);
  assert.ok(without.every((command) => !command.includes("-demo")));
});

test("the commands are told of a data directory that they would not find", () => {
  assert.doesNotMatch(welcome(running), /CAPSTAN_DATA_DIR/);
  assert.match(welcome({ ...running, dataDir: "/tmp/try" }), /export CAPSTAN_DATA_DIR=\/tmp\/try\n/);
});

test("what is to be typed can be typed, whatever the folder is called", () => {
  const text = welcome({ ...running, kubeconfig: "/home/o'neil/my games/kubeconfig" });
  assert.match(text, /export KUBECONFIG='\/home\/o'\\''neil\/my games\/kubeconfig'\n/);
});

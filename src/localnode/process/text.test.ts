import assert from "node:assert/strict";
import { test } from "node:test";
import { isOwnImage } from "./capstan-command.ts";
import { expandVariables } from "./expand.ts";
import { translatePaths } from "./mount-paths.ts";

const mounts = [
  { inside: "/etc/app", outside: "/data/app" },
  { inside: "/etc/app/deep/", outside: "/data/deep" },
  { inside: "/dev/termination-log", outside: "/data/last" },
];

const paths: readonly [string, string, string][] = [
  ["a path alone", "/etc/app", "/data/app"],
  ["a file below it", "/etc/app/x.conf", "/data/app/x.conf"],
  ["the longer mount wins", "/etc/app/deep/x", "/data/deep/x"],
  ["in a flag", "--conf=/etc/app/x", "--conf=/data/app/x"],
  ["in a script", "cat /etc/app/x > /dev/termination-log", "cat /data/app/x > /data/last"],
  ["in a list", "/etc/app:/etc/app/deep", "/data/app:/data/deep"],
  ["not a path that only begins the same", "/etc/apple", "/etc/apple"],
  ["not inside another path", "/my/etc/app", "/my/etc/app"],
  ["nothing to translate", "hello", "hello"],
];

for (const [name, text, expected] of paths) {
  test(`mounted paths: ${name}`, () => assert.equal(translatePaths(text, mounts), expected));
}

const variables: readonly [string, string, string][] = [
  ["a known name", "$(A)-b", "1-b"],
  ["an unknown name stays", "$(X)", "$(X)"],
  ["an escaped one", "$$(A)", "$(A)"],
  ["a lone dollar", "a$b", "a$b"],
  ["no name of the language itself", "$(toString)", "$(toString)"],
];

for (const [name, text, expected] of variables) {
  test(`variables: ${name}`, () => assert.equal(expandVariables(text, { A: "1" }), expected));
}

test("our own image is known with and without a registry, and nothing else is", () => {
  assert.ok(isOwnImage("capstan:1.0.0", "capstan:1.0.0"));
  assert.ok(isOwnImage("registry.example/team/capstan:1.0.0", "capstan:1.0.0"));
  assert.ok(!isOwnImage("notcapstan:1.0.0", "capstan:1.0.0"));
  assert.ok(!isOwnImage("capstan:1.0.1", "capstan:1.0.0"));
  assert.ok(!isOwnImage(undefined, "capstan:1.0.0"));
});

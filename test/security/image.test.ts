import assert from "node:assert/strict";
import { test } from "node:test";
import { imageConfig } from "../../scripts/image/capstan-image.ts";
import { rootFiles, userId } from "../../scripts/image/root-files.ts";

test("S21: the image holds Node, its libraries, the program and a user, and no shell", {
  skip: process.platform === "linux" ? false : "images are made on Linux",
}, () => {
  const allowed = [
    /^usr\/local\/bin\/(node|capstan|capstan\.mjs)$/,
    /^(usr\/)?lib(64)?\//,
    /^opt\/capstan\/(package\.json|LICENSE|dist\/|demo\/)/,
    /^etc\/(passwd|group)$/,
  ];
  const strange = rootFiles().filter(
    ({ kind, path }) => kind !== "folder" && !allowed.some((pattern) => pattern.test(path)),
  );
  assert.deepEqual(
    strange.map(({ path }) => path),
    [],
  );
  assert.ok(!rootFiles().some(({ path }) => /(^|\/)(sh|bash|busybox|npm|apt)$/.test(path)));
});

test("S21: it runs as nobody, and may start no other program and write only where it must", () => {
  const { User, Env } = imageConfig();
  assert.equal(User, `${userId}:${userId}`);
  const options = Env.find((entry) => entry.startsWith("NODE_OPTIONS="))?.split(" ") ?? [];
  assert.ok(options.some((option) => option.endsWith("--permission")));
  assert.ok(!options.some((option) => /allow-(child-process|addons|wasi)/.test(option)));
});

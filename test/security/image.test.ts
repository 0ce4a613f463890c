import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
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

test("S21: with these permissions large questions still have their thread, which may write no more than the rest", async () => {
  const { Env } = imageConfig();
  const [, options = ""] = Env.find((entry) => entry.startsWith("NODE_OPTIONS="))?.split(/=(.*)/s) ?? [];
  const solver = new URL("../../src/solver/", import.meta.url);
  const program = `
    import { Worker } from "node:worker_threads";
    import { systemEnv } from "${new URL("../../src/env/system.ts", import.meta.url)}";
    import { pigeons } from "${new URL("example-problems.ts", solver)}";
    import { createSolverThread } from "${new URL("thread.ts", solver)}";
    import { ThreadLink } from "${new URL("thread-link.ts", solver)}";
    const { kind } = await createSolverThread(new ThreadLink(systemEnv)).solve(pigeons(3), {});
    const writer = new Worker('import("node:fs").then((fs) => fs.writeFileSync("/etc/capstan", ""))', { eval: true });
    writer.on("error", ({ code }) => console.log(kind, code));
  `;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    env: { NODE_OPTIONS: options },
  });
  assert.equal(stdout, "Impossible ERR_ACCESS_DENIED\n");
  assert.equal(stderr, "");
});

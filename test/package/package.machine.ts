/** The package as its user meets it: built, packed, unpacked elsewhere, type-checked against and run. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { isBundleStale } from "../../scripts/bundle.mjs";
import { bundleRegistryClient } from "../../scripts/registry-client.ts";
import { longLists } from "../../src/controllers/version-solver/example-fleet.ts";
import { buildLibrary, copyOfRoot, manifest, type Packed, pack, root, run, unwanted, writeJson } from "./packed.ts";

const maxPackedBytes = 4 * 1024 * 1024;
const maxUnpackedBytes = 16 * 1024 * 1024;

test("the whole package", { timeout: 600_000 }, async (context) => {
  const { packed, consumer } = await installed(context);

  await context.test("has what it promises and nothing else, within its size", () => {
    const paths = packed.files.map(({ path }) => path);
    const promised = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target),
    );
    for (const path of [
      ...promised.map((target) => target.replace("./", "")),
      "dist/bundle/capstan.mjs",
      "dist/bundle/provide.mjs",
      "dist/bundle/solver-thread.mjs",
      "dist/solver/solver-thread.js",
      "dist/web/assets/index.html",
    ])
      assert.ok(paths.includes(path), `${path} is missing`);
    const wrong = paths.flatMap((path) =>
      unwanted.filter(({ pattern }) => pattern.test(path)).map(({ reason }) => `${path} ${reason}`),
    );
    assert.deepEqual(wrong, []);
    assert.ok(packed.size < maxPackedBytes, `${packed.size} bytes packed`);
    assert.ok(packed.unpackedSize < maxUnpackedBytes, `${packed.unpackedSize} bytes unpacked`);
    context.diagnostic(`${paths.length} files, ${packed.size} bytes packed, ${packed.unpackedSize} bytes unpacked`);
  });

  await context.test("gives an ESM consumer its types, and refuses what is wrong", () => {
    const tsc = join(root, "node_modules", ".bin", "tsc");
    run(consumer, tsc, ["-p", "."]);
    writeFileSync(
      join(consumer, "wrong.ts"),
      'import { defineKind } from "capstan";\nexport const n: number = defineKind;\n',
    );
    const refused = spawnSync(tsc, ["-p", "."], { cwd: consumer, encoding: "utf8" });
    assert.match(refused.stdout, /wrong\.ts\(2,14\): error TS2322/);
    rmSync(join(consumer, "wrong.ts"));
  });

  await context.test("can be imported by Node", () => {
    const script =
      'import { defineKind } from "capstan"; import { createWorld } from "capstan/testing"; import { compile } from "capstan/rego"; console.log(typeof defineKind, typeof createWorld, typeof compile);';
    assert.equal(
      run(consumer, process.execPath, ["--input-type=module", "-e", script]),
      "function function function\n",
    );
  });

  const command = join(consumer, "node_modules", "capstan", "bin", "capstan.mjs");
  await context.test("solves what is large on a thread, as a library and as a command", () => {
    const script = `
      import { solve, systemEnv } from "capstan";
      const allowed = Array.from({ length: 2000 }, (_, value) => [Math.max(0, value - 1)]);
      const variables = ["a", "b"].map((name) => ({ name, size: 2000 }));
      const relations = [{ source: "r", left: "a", right: "b", allowed }];
      const begun = process.threadCpuUsage().user;
      const answer = await solve({ variables, limits: [], relations, order: ["a", "b"] }, { env: systemEnv });
      const share = (process.threadCpuUsage().user - begun) / process.cpuUsage().user;
      console.log([...answer.assignment.values()].join(), share < 0.5);`;
    assert.equal(run(consumer, process.execPath, ["--input-type=module", "-e", script]), "1999,1998 true\n");
    writeJson(join(consumer, "fleet.json"), { kind: "List", apiVersion: "v1", items: longFleet() });
    const solved = spawnSync(process.execPath, [command, "solve", "-f", "fleet.json"], {
      cwd: consumer,
      encoding: "utf8",
    });
    assert.match(solved.stdout, /server\/s +1\.20\.0-1 +1\.119\.18-1999 .*Blocked/, solved.stderr);
  });

  await context.test("runs from the folder it was unpacked into", async () => {
    assert.equal(run(consumer, process.execPath, [command, "--version"]), `${manifest.version}\n`);
    await startAndStop(consumer, [command, "up", "--api-port", "0", "--http-port", "0"]);
  });

  const withoutDemo = manifest.files.includes("demo") ? false : "package.json does not publish the folder demo";
  await context.test("brings its demo", { skip: withoutDemo }, () =>
    startAndStop(consumer, [command, "up", "--demo", "--api-port", "0", "--http-port", "0"]),
  );
});

async function startAndStop(cwd: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const ready = join(cwd, ".capstan", "ready.json");
  for (let waitedMs = 0; !existsSync(ready) && child.exitCode === null && waitedMs < 60_000; waitedMs += 100)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const isReady = existsSync(ready);
  child.kill("SIGTERM");
  assert.equal(await ended, 0, output);
  assert.ok(isReady, output);
}

/** Unpacked as npm would lay it out, with the dependencies of this checkout: nothing is downloaded. */
async function installed(context: TestContext): Promise<{ readonly packed: Packed; readonly consumer: string }> {
  const folder = copyOfRoot(context);
  buildLibrary(folder);
  writeFileSync(join(folder, "dist", "registry", "client", "browser.js"), (await bundleRegistryClient()).code);
  if (isBundleStale()) run(root, process.execPath, [join(root, "scripts", "bundle.mjs"), "--write"]);
  for (const part of ["bundle", "web"])
    cpSync(join(root, "dist", part), join(folder, "dist", part), { recursive: true });
  const packed = pack(folder);

  const consumer = mkdtempSync(join(tmpdir(), "capstan-consumer-"));
  context.after(() => rmSync(consumer, { recursive: true, force: true }));
  const target = join(consumer, "node_modules", "capstan");
  mkdirSync(target, { recursive: true });
  run(consumer, "tar", ["-xzf", join(folder, packed.filename), "-C", target, "--strip-components=1"]);
  for (const name of [...dependencies(Object.keys(manifest.dependencies)), "@types/node", "undici-types"]) {
    const link = join(consumer, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    if (existsSync(join(root, "node_modules", name))) symlinkSync(join(root, "node_modules", name), link);
  }
  writeJson(join(consumer, "package.json"), { type: "module", private: true });
  // Strict and without skipLibCheck: what we publish must stand on its own.
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "esnext"],
    types: ["node"],
    strict: true,
    noEmit: true,
  };
  writeJson(join(consumer, "tsconfig.json"), { compilerOptions, include: ["*.ts"] });
  writeFileSync(join(consumer, "use.ts"), consumerSource);
  return { packed, consumer };
}

const consumerSource = `import { createManager, defineKind, object, type ResourceOf, string, systemEnv } from "capstan";
import { compile } from "capstan/rego";
import { createWorld } from "capstan/testing";

const Note = defineKind({ group: "g.dev", version: "v1", kind: "Note", plural: "notes", description: "", spec: object({ text: string() }) });
type Note = ResourceOf<typeof Note>;
export const textOf = (note: Note): string => note.spec.text;
export const manager = createManager({ env: systemEnv, client: createWorld({ kinds: [Note] }).client });
export const compiler: typeof compile = compile;
`;

function dependencies(names: readonly string[], found = new Set<string>()): ReadonlySet<string> {
  for (const name of names) {
    const file = join(root, "node_modules", name, "package.json");
    if (found.has(name) || !existsSync(file)) continue;
    found.add(name);
    const { dependencies: own = {} } = JSON.parse(readFileSync(file, "utf8")) as {
      dependencies?: Record<string, string>;
    };
    dependencies(Object.keys(own), found);
  }
  return found;
}

function longFleet(): readonly unknown[] {
  const { servers, plugins } = longLists("AWindow");
  return [...servers, ...plugins.slice(0, 1)];
}

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CapabilityBinding } from "../../src/api/capability-binding.ts";
import { eventually, startEmbedded } from "./embedded.ts";

const root = join(import.meta.dirname, "../..");
const demo = readFileSync(join(root, "demo/10-game-world.yaml"), "utf8");

test("resolve --diff tells what files would do to the worlds of a cluster", async (context) => {
  const { client, plane } = await startEmbedded(context, ["demo"]);
  await eventually(
    () => client.list(CapabilityBinding, { namespace: "anvil-demo" }),
    ({ items }) => assert.equal(items.length, 3),
  );
  const diff = (name: string, manifests: string): Promise<{ code: number; stdout: string }> => {
    const file = `${plane.kubeconfig}-${name}.yaml`;
    writeFileSync(file, manifests);
    return run(["resolve", "--diff", "--kubeconfig", plane.kubeconfig, "-f", file]);
  };

  await context.test("nothing, when they are what is there", async () => {
    assert.deepEqual(await diff("same", demo), { code: 0, stdout: "No world would change.\n" });
  });

  await context.test("a binding that would get another version", async () => {
    const { code, stdout } = await diff(
      "newer",
      demo.replace("time.source, version: 1.0.0", "time.source, version: 1.1.0"),
    );
    assert.match(
      stdout,
      /^ {2}~ cb-anvil-sample-world-core-physics-engine-time-source-world-1: core-time-source 1\.0\.0 -> core-time-source 1\.1\.0$/m,
    );
    assert.equal(code, 2, "the other world changes too and still lacks what it lacked");
  });

  await context.test("a world that would break, although no binding changes", async () => {
    const { code, stdout } = await diff(
      "broken",
      demo.replaceAll("dependencyMode: optional", "dependencyMode: required"),
    );
    assert.match(stdout, /^anvil-demo\/anvil-sample-world: Running -> Error: /m);
    assert.equal(code, 2);
  });

  await context.test("a world that would heal, and its bindings", async () => {
    const { code, stdout } = await diff("healed", demo.replace('">=2.0.0"', "^1.0.0"));
    assert.match(stdout, /^anvil-demo\/stormy-world: Error -> Running: All required bindings resolved/m);
    assert.match(stdout, /^ {2}\+ cb-stormy-world-weather-time-source-world-1: core-time-source 1\.0\.0$/m);
    assert.equal(code, 0);
  });
});

function run(args: readonly string[]): Promise<{ code: number; stdout: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [join(root, "src/cli/main.ts"), ...args], (_, stdout) =>
      resolve({ code: child.exitCode ?? -1, stdout }),
    );
  });
}

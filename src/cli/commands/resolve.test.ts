import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../../..");

function capstan(
  args: readonly string[],
  input?: string,
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [join(root, "src/cli/main.ts"), ...args], {
    cwd: root,
    encoding: "utf8",
    ...(input !== undefined && { input }),
  });
}

test("resolve prints a table, names the remedy and exits with 2 when something required is unmet", () => {
  const { status, stdout } = capstan(["resolve", "-f", "demo/10-game-world.yaml"]);
  assert.equal(status, 2);
  assert.match(
    stdout,
    /anvil-sample-world\s+core-physics-engine\s+time\.source\s+\^1\.0\.0\s+world\s+core-time-source\s+1\.0\.0\s+Bound/,
  );
  assert.match(stdout, /weather needs time\.source: let core-time-source provide a version that satisfies >=2\.0\.0/);
});

test("resolve exits with 0 when everything required is bound, and prints JSON on demand", () => {
  const healed = readFileSync(join(root, "demo/10-game-world.yaml"), "utf8").replace('">=2.0.0"', "^1.0.0");
  const { status, stdout } = capstan(["resolve", "-o", "json", "-f", "-"], healed);
  assert.equal(status, 0);
  const { worlds } = JSON.parse(stdout) as {
    worlds: { world: string; phase: string; bindings: { metadata: { name: string } }[] }[];
  };
  assert.deepEqual(
    worlds[1]?.bindings.map(({ metadata }) => metadata.name),
    ["cb-stormy-world-core-physics-engine-time-source-world-1", "cb-stormy-world-weather-time-source-world-1"],
  );
  assert.deepEqual(
    worlds.map(({ world, phase }) => `${world} ${phase}`),
    ["anvil-sample-world Running", "stormy-world Running"],
  );
});

test("resolve names file, line, object and field of what is wrong, and exits with 1", () => {
  const broken = readFileSync(join(root, "demo/10-game-world.yaml"), "utf8").replace("worldId: world-1", 'worldId: ""');
  const { status, stderr } = capstan(["resolve", "-f", "-"], broken);
  assert.equal(status, 1);
  assert.match(stderr, /<stdin>:\d+: WorldInstance anvil-sample-world: spec\.worldId: Invalid value/);
  assert.match(capstan(["resolve", "-f", "nowhere.yaml"]).stderr, /nowhere\.yaml cannot be read/);
  assert.match(capstan(["resolve", "-f", "-"], "a: [").stderr, /<stdin>: document 1, line/);
});

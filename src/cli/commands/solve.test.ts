import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { FleetReport } from "../../controllers/version-solver/report.ts";
import { parseYaml } from "../../kube/yaml.ts";
import { solveCommand } from "./solve.ts";

const root = join(import.meta.dirname, "../../..");
const scenario = join(root, "examples/minecraft/offline/scenario.yaml");
const manifest = readFileSync(scenario, "utf8");

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** In this process: starting another one from the sources takes a second each. */
async function solve(...args: readonly string[]): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  const error = process.stderr.write;
  process.stderr.write = ((text: string) => {
    stderr += text;
    return true;
  }) as typeof process.stderr.write;
  try {
    const output = {
      stdout: {
        write: (text: string) => {
          stdout += text;
        },
      },
      stderr: { write: () => undefined },
    };
    await solveCommand(output).exitOverride().parseAsync(args, { from: "user" });
    return { code: Number(process.exitCode ?? 0), stdout, stderr };
  } catch (caught) {
    return { code: (caught as { readonly exitCode?: number }).exitCode ?? 70, stdout, stderr };
  } finally {
    process.exitCode = undefined;
    process.stderr.write = error;
  }
}

function saved(context: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-solve-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "fleet.yaml");
  writeFileSync(file, text);
  return file;
}

test("a table shows current, chosen, newest and state, then what blocks and what would unblock; exit 2 when blocked", async () => {
  const { code, stdout } = await solve("-f", scenario);
  assert.equal(code, 2);
  assert.match(stdout, /^NAMESPACE +OBJECT +CURRENT +CHOSEN +NEWEST +STATE\n/);
  assert.match(stdout, /default +server\/survival +1\.20\.4-499 +1\.20\.4-499 +1\.21\.4-232 +Blocked/);
  assert.match(stdout, /default +plugin\/essentialsx +- +2\.21\.0 +2\.21\.0 +Newest/);
  assert.match(stdout, /plugin 'old-plugin' is incompatible with Paper 1\.21\.1, 1\.21\.4/);
  assert.match(stdout, / --what-if drop:plugin\/old-plugin leads to 1\.21\.1-133/);
});

test("JSON and YAML say the same, for programs", async () => {
  const json = await solve("-f", scenario, "-o", "json");
  const yaml = await solve("-f", scenario, "-o", "yaml");
  assert.deepEqual([json.code, yaml.code], [2, 2]);
  const fromJson = JSON.parse(json.stdout) as { readonly namespaces: readonly FleetReport[] };
  const fromYaml = parseYaml(yaml.stdout);
  assert.ok(fromYaml.ok);
  assert.deepEqual(fromYaml.documents[0]?.value, fromJson);
  const [report] = fromJson.namespaces;
  assert.equal(report?.proven, true);
  assert.deepEqual(report?.servers[0]?.blockedBy?.supportedVersions, ["1.21.1", "1.20.4", "1.19.4"]);
});

test("the same files give the same bytes", async () => {
  assert.equal((await solve("-f", scenario, "-o", "json")).stdout, (await solve("-f", scenario, "-o", "json")).stdout);
});

test("--what-if shows both worlds, and the exit code is the changed one's", async () => {
  const dropped = await solve("-f", scenario, "--what-if", "drop:plugin/old-plugin");
  assert.equal(dropped.code, 2, "essentialsx still holds it from 1.21.4");
  assert.match(dropped.stdout, /^With drop:plugin\/old-plugin:/);
  assert.match(dropped.stdout, /WITHOUT CHANGE/);
  assert.match(dropped.stdout, /server\/survival +1\.20\.4-499 +1\.20\.4-499 +1\.21\.1-133 +1\.21\.4-232 +Blocked/);
  const both = await solve(
    "-f",
    scenario,
    "--what-if",
    "drop:plugin/old-plugin",
    "--what-if",
    "drop:plugin/essentialsx",
  );
  assert.equal(both.code, 0);
  assert.match(both.stdout, /1\.21\.4-232 +1\.21\.4-232 +Newest/);
  const pinned = await solve("-f", scenario, "--what-if", "pin:server/survival=1.20.6", "-o", "json");
  const { whatIf, namespaces, before } = JSON.parse(pinned.stdout) as {
    readonly whatIf: readonly string[];
    readonly namespaces: readonly FleetReport[];
    readonly before: readonly FleetReport[];
  };
  assert.deepEqual(whatIf, ["pin:server/survival=1.20.6"]);
  assert.equal(namespaces[0]?.servers[0]?.strategy, "pin");
  assert.equal(before[0]?.servers[0]?.strategy, "auto");
  assert.equal(pinned.code, 2, "essentialsx lists no 1.20.6");
});

test("--now decides what updateDelay lets through", async (context) => {
  const file = saved(
    context,
    manifest.replace("updateStrategy: latest", "updateStrategy: latest\n  updateDelay: 168h"),
  );
  const young = await solve("-f", file, "--now", "2025-01-03T00:00:00Z", "-o", "json");
  const old = await solve("-f", file, "--now", "2025-02-01T00:00:00Z", "-o", "json");
  const chosen = ({ stdout }: Ran): string | undefined =>
    (JSON.parse(stdout) as { readonly namespaces: readonly FleetReport[] }).namespaces[0]?.plugins[0]?.chosen;
  assert.deepEqual([chosen(young), chosen(old)], ["2.20.1", "2.21.0"]);
});

test("manifests without a status get a hint where to find one", async (context) => {
  const bare = manifest.replace(/^status:\n(?: .*\n)*/gm, "");
  const { code, stdout } = await solve("-f", saved(context, bare));
  assert.equal(code, 2);
  assert.match(stdout, /No version of Paper is known yet/);
  assert.match(stdout, /kubectl get papermcservers,plugins -o yaml \| capstan solve -f -/);
});

const mistakes: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly text?: string;
  readonly says: RegExp;
}[] = [
  {
    name: "a name that is not there",
    args: ["--what-if", "drop:plugin/old-plugn"],
    says: /drop:plugin\/old-plugn: there is no plugin old-plugn; there is essentialsx, old-plugin/,
  },
  {
    name: "a change that cannot be read",
    args: ["--what-if", "remove:plugin/x"],
    says: /"remove:plugin\/x" cannot be read; expected drop:plugin\/NAME/,
  },
  { name: "a pin without a version", args: ["--what-if", "pin:server/survival"], says: /pin:server\/NAME=VERSION/ },
  { name: "a time that is none", args: ["--now", "yesterday"], says: /yesterday/ },
  { name: "a time limit that is none", args: ["--time-limit", "soon"], says: /a duration such as 30s or 2m/ },
  { name: "a format that there is not", args: ["-o", "xml"], says: /table, wide, json, yaml, name/ },
  {
    name: "files without a server",
    args: [],
    text: "apiVersion: v1\nkind: Namespace\nmetadata: { name: x }\n",
    says: /the files have no PaperMCServer/,
  },
  {
    name: "a field that is wrong",
    args: [],
    text: manifest.replace("updateStrategy: auto", "updateStrategy: newest"),
    says: /fleet\.yaml:\d+: PaperMCServer survival: spec\.updateStrategy: Unsupported value: "newest"/,
  },
  { name: "no YAML", args: [], text: "a: [", says: /fleet\.yaml: document 1, line/ },
];
for (const { name, args, text, says } of mistakes)
  test(`a mistake is named: ${name}`, async (context) => {
    const { code, stderr, stdout } = await solve("-f", text === undefined ? scenario : saved(context, text), ...args);
    assert.equal(code, 1, stderr);
    assert.match(stderr, says);
    assert.equal(stdout, "");
  });

test("from standard input, as a program of its own", () => {
  const { status, stdout } = spawnSync(process.execPath, [join(root, "src/cli/main.ts"), "solve", "-f", "-"], {
    cwd: root,
    encoding: "utf8",
    input: manifest,
  });
  assert.equal(status, 2);
  assert.match(stdout, /server\/survival .*Blocked/);
});

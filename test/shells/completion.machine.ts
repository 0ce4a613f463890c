/** Completion in the shells themselves: what they offer when a person has typed so much and presses Tab. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { bashCompletion } from "../../src/cli/completion/bash.ts";
import { type CommandNode, commandTree } from "../../src/cli/completion/command-tree.ts";
import { fishCompletion } from "../../src/cli/completion/fish.ts";
import { zshCompletion } from "../../src/cli/completion/zsh.ts";
import { createProgram } from "../../src/cli/program.ts";
import { openTerminal } from "../documents/terminal.ts";
import { eventually, startEmbedded } from "../end-to-end/embedded.ts";

interface Case {
  readonly typed: string;
  readonly offers: readonly string[];
  /** It may offer more. */
  readonly among?: true;
}

const cases: readonly Case[] = [
  { typed: "capstan audit ", offers: ["list", "verify", "export", "help"] },
  { typed: "capstan ex", offers: ["explain"] },
  { typed: "capstan s", offers: ["solve", "services"] },
  { typed: "capstan completion ", offers: ["bash", "zsh", "fish"] },
  { typed: "capstan audit list -o ", offers: ["table", "wide", "json", "yaml", "name"] },
  { typed: "capstan up --log-level d", offers: ["debug"] },
  { typed: "capstan up --http-p", offers: ["--http-port"] },
  { typed: "capstan up --data-dir audit --log-f", offers: ["--log-format"] },
  { typed: "capstan audit verify --audit-k", offers: ["--audit-key"] },
  { typed: "capstan explain world", offers: ["world", "worldinstance"] },
  { typed: "capstan explain ", offers: ["classruntime", "plugin", "capbind"], among: true },
  { typed: "capstan resolve -f package-l", offers: ["package-lock.json"] },
];

/** What only the running demo knows. */
const asked: readonly Case[] = [
  { typed: "capstan explain WorldInstance -n anvil-demo ", offers: ["anvil-sample-world", "stormy-world"] },
  { typed: "capstan explain -n anvil-demo world sto", offers: ["stormy-world"] },
  { typed: "capstan explain classruntime --namespace=oaas-demo ", offers: ["greeter"] },
  { typed: "capstan explain world -n anvil", offers: ["anvil-demo"] },
  { typed: "capstan approve -n shop-demo ", offers: ["checkout-is-slow-step-1"] },
  { typed: "capstan reject -n shop-demo check", offers: ["checkout-is-slow-step-1"] },
  { typed: "capstan audit list -n shop", offers: ["shop-demo"] },
  { typed: "capstan services list --name core-t", offers: ["core-time-source"] },
  { typed: "capstan explain plugin -n nowhere ", offers: [] },
];

/** Where the shell is opened; a `capstan` on its PATH is the one that is asked for names. */
interface Room {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}
type Ask = (script: string, typed: readonly string[], room?: Room) => Promise<readonly (readonly string[])[]>;

const shells: Readonly<Record<string, Ask>> = {
  async bash(script, typed, room) {
    const lines = typed.map((line) => {
      // Bash takes the sign of equality for a word of its own.
      const words = line
        .replaceAll("=", " = ")
        .replaceAll("=  ", "= ")
        .split(" ")
        .map((word) => `'${word}'`);
      return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _capstan; (IFS=,; echo "\${COMPREPLY[*]}")`;
    });
    const commands = `source "$CAPSTAN_COMPLETION"\n${lines.join("\n")}`;
    const output = await run("bash", ["--norc", "-u", "-c", commands], { script, typed: "", ...room });
    return output
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split(","));
  },
  async zsh(script, typed, room) {
    const terminal = join(import.meta.dirname, "zsh-terminal.zsh");
    const output = await run("zsh", ["-f", terminal], { script, typed: typed.join("\n"), ...room });
    return output
      .split(/^END/m)
      .slice(0, -1)
      .map((part) => [...part.matchAll(/HIT<(.*?)>/g)].map(([, word = ""]) => word));
  },
  async fish(script, typed, room) {
    const lines = typed.map((line) => `complete -C '${line}'; echo END`);
    const commands = `source "$CAPSTAN_COMPLETION"; ${lines.join("; ")}`;
    const output = await run("fish", ["--no-config", "-c", commands], { script, typed: "", ...room });
    return output
      .split(/^END\n/m)
      .slice(0, -1)
      .map((part) => part.split("\n").flatMap((line) => line.split("\t")[0] || []));
  },
};

const scripts: Readonly<Record<string, (root: CommandNode) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

for (const [shell, ask] of Object.entries(shells)) {
  const isThere = spawnSync(shell, ["-c", "exit 0"]).status === 0;
  test(`${shell} offers what the program has`, {
    skip: isThere ? false : `${shell} is not installed`,
    timeout: 120_000,
  }, async (context) => {
    const script = written(context, shell);
    const answers = await ask(
      script,
      cases.map(({ typed }) => typed),
    );
    assert.equal(answers.length, cases.length);
    for (const [index, { typed, offers, among }] of cases.entries()) {
      const offered = [...new Set(answers[index])].sort();
      const seen = among ? offered.filter((word) => offers.includes(word)) : offered;
      assert.deepEqual(seen, offers.toSorted(), `${shell}: ${typed}`);
    }
  });
}

for (const [shell, ask] of Object.entries(shells)) {
  const isThere = spawnSync(shell, ["-c", "exit 0"]).status === 0;
  test(`${shell} offers the names of objects that the running demo has`, {
    skip: isThere ? false : `${shell} is not installed`,
    timeout: 300_000,
  }, async (context) => {
    const { dataDir, client, plane } = await startEmbedded(context, ["demo"], {
      demo: true,
      command: [process.execPath, resolve("test/documents/pod-program.ts")],
    });
    writeFileSync(join(dataDir, "ready.json"), JSON.stringify({ ...plane, pid: process.pid }));
    await eventually(
      () => client.get(KubernetesExecution, { namespace: "shop-demo", name: "checkout-is-slow-step-1" }),
      ({ status }) => assert.equal(status?.phase, "waiting_approval"),
    );
    await eventually(
      async () => (await fetch(`${plane.http}/api/v1/capabilities`)).text(),
      (text) => assert.match(text, /core-time-source/),
    );
    const { folder } = openTerminal(context, dataDir);
    const script = written(context, shell);
    const answers = await ask(
      script,
      asked.map(({ typed }) => typed),
      {
        cwd: folder,
        // A machine that is busy with other tests may need longer than a person would wait.
        environment: { PATH: `${join(folder, ".programs")}:${process.env["PATH"]}`, CAPSTAN_COMPLETION_TIMEOUT: "60s" },
      },
    );
    assert.equal(answers.length, asked.length);
    for (const [index, { typed, offers }] of asked.entries())
      assert.deepEqual([...new Set(answers[index])].filter((word) => word !== "").sort(), offers, `${shell}: ${typed}`);
  });
}

function written(context: TestContext, shell: string): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-completion-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, `capstan.${shell}`);
  writeFileSync(file, scripts[shell]?.(commandTree(createProgram())) ?? "");
  return file;
}

interface Run extends Room {
  readonly script: string;
  readonly typed: string;
}

/** Not synchronously: this process may be the server that is asked. */
async function run(
  program: string,
  args: readonly string[],
  { script, typed, cwd, environment }: Run,
): Promise<string> {
  const { KUBECONFIG: _, ...inherited } = process.env;
  const terminal = { CAPSTAN_COMPLETION: script, CAPSTAN_TYPED: typed, TERM: "dumb", LC_ALL: "C.UTF-8" };
  const child = spawn(program, [...args], {
    cwd,
    env: { ...inherited, ...environment, ...terminal },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 240_000,
  });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (chunk: Buffer) => {
      printed[name] += chunk.toString("utf8");
    });
  const code = await new Promise<number | null>((done) => child.once("close", done));
  assert.equal(printed.stderr, "");
  assert.equal(code, 0, printed.stdout);
  return printed.stdout;
}

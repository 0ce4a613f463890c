/** Completion in the shells themselves: what they offer when a person has typed so much and presses Tab. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { bashCompletion } from "../../src/cli/completion/bash.ts";
import { type CommandNode, commandTree } from "../../src/cli/completion/command-tree.ts";
import { fishCompletion } from "../../src/cli/completion/fish.ts";
import { zshCompletion } from "../../src/cli/completion/zsh.ts";
import { createProgram } from "../../src/cli/program.ts";

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

const shells: Readonly<Record<string, (script: string, typed: readonly string[]) => readonly (readonly string[])[]>> = {
  bash(script, typed) {
    const asked = typed.map((line) => {
      const words = line.split(" ").map((word) => `'${word}'`);
      return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _capstan; (IFS=,; echo "\${COMPREPLY[*]}")`;
    });
    const output = run("bash", ["--norc", "-u", "-c", `source "$CAPSTAN_COMPLETION"\n${asked.join("\n")}`], script, "");
    return output
      .trimEnd()
      .split("\n")
      .map((line) => line.split(","));
  },
  zsh(script, typed) {
    const output = run("zsh", ["-f", join(import.meta.dirname, "zsh-terminal.zsh")], script, typed.join("\n"));
    return output
      .split(/^END/m)
      .slice(0, -1)
      .map((part) => [...part.matchAll(/HIT<(.*?)>/g)].map(([, word = ""]) => word));
  },
  fish(script, typed) {
    const asked = typed.map((line) => `complete -C '${line}'; echo END`);
    const output = run("fish", ["--no-config", "-c", `source "$CAPSTAN_COMPLETION"; ${asked.join("; ")}`], script, "");
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
  }, (context) => {
    const script = written(context, shell);
    const answers = ask(
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

function written(context: TestContext, shell: string): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-completion-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, `capstan.${shell}`);
  writeFileSync(file, scripts[shell]?.(commandTree(createProgram())) ?? "");
  return file;
}

function run(program: string, args: readonly string[], script: string, typed: string): string {
  const { stdout, stderr, status } = spawnSync(program, [...args], {
    encoding: "utf8",
    timeout: 60_000,
    env: { ...process.env, CAPSTAN_COMPLETION: script, CAPSTAN_TYPED: typed, TERM: "dumb", LC_ALL: "C.UTF-8" },
  });
  assert.equal(stderr, "");
  assert.equal(status, 0, stdout);
  return stdout;
}

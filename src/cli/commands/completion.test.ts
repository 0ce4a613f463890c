import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { Command } from "commander";
import { bashCompletion } from "../completion/bash.ts";
import { allNodes, commandTree } from "../completion/command-tree.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";
import { createProgram } from "../program.ts";

const program = createProgram;

const has = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0;
const without = (shell: string): false | string => (has(shell) ? false : `${shell} is not installed`);

test("the tree has every command that --help shows, and no hidden one", () => {
  const secret = program();
  secret.addCommand(new Command("secret"), { hidden: true });
  const paths = allNodes(commandTree(secret)).map(({ path }) => path);
  for (const command of secret.createHelp().visibleCommands(secret))
    assert.ok(paths.includes(`capstan ${command.name()}`), command.name());
  assert.ok(paths.includes("capstan audit list"));
  assert.ok(!paths.includes("capstan secret"));
});

/** What a person has typed, and what the shell must offer; `exactly` when it may offer nothing else. */
const cases: readonly {
  readonly typed: readonly string[];
  readonly offers: readonly string[];
  readonly exactly?: true;
}[] = [
  { typed: ["ex"], offers: ["explain"], exactly: true },
  { typed: ["completion", ""], offers: ["bash", "zsh", "fish"], exactly: true },
  { typed: ["audit", ""], offers: ["list", "verify", "export"] },
  { typed: ["audit", "list", "-o", ""], offers: ["table", "wide", "json", "yaml", "name"], exactly: true },
  { typed: ["audit", "list", "--output", "=", "j"], offers: ["json"], exactly: true },
  { typed: ["up", "--log-level", "d"], offers: ["debug"], exactly: true },
  { typed: ["up", "--data-dir", "audit", "--http-p"], offers: ["--http-port"], exactly: true },
  { typed: ["up", "--data-dir", "packag"], offers: ["package.json", "package-lock.json"] },
  { typed: ["audit", "verify", "--a"], offers: ["--audit-key"], exactly: true },
  { typed: ["--ver"], offers: ["--version"], exactly: true },
];

test("bash offers what the program has", { skip: without("bash"), timeout: 30_000 }, () => {
  const asked = cases.map(
    ({ typed }) =>
      `COMP_WORDS=(capstan ${typed.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${typed.length}; _capstan; (IFS=,; echo "\${COMPREPLY[*]}")`,
  );
  const script = `${bashCompletion(commandTree(program()))}\n${asked.join("\n")}\n`;
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-u"], { input: script, encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
  const answers = stdout.trimEnd().split("\n");
  assert.equal(answers.length, cases.length);
  for (const [index, { typed, offers, exactly }] of cases.entries()) {
    const answered = (answers[index] ?? "").split(",");
    for (const offer of offers) assert.ok(answered.includes(offer), `${typed.join(" ")}: ${offer} not in ${answered}`);
    if (exactly) assert.deepEqual(answered.toSorted(), offers.toSorted(), typed.join(" "));
  }
});

test("zsh can read its script", { skip: without("zsh"), timeout: 30_000 }, () => {
  const { stderr, status } = spawnSync("zsh", ["-n"], {
    input: zshCompletion(commandTree(program())),
    encoding: "utf8",
  });
  assert.equal(stderr, "");
  assert.equal(status, 0);
});

test("every shell's script names every flag of every command", () => {
  const tree = commandTree(program());
  const scripts = { bash: bashCompletion(tree), zsh: zshCompletion(tree), fish: fishCompletion(tree) };
  for (const { path, flags } of allNodes(tree)) {
    for (const name of flags.flatMap(({ names }) => names)) {
      assert.ok(scripts.bash.includes(name), `bash: ${path} ${name}`);
      assert.ok(scripts.zsh.includes(`'${name}:`), `zsh: ${path} ${name}`);
      const spelled = name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`;
      assert.ok(scripts.fish.includes(spelled), `fish: ${path} ${name}`);
    }
  }
});

test("a quote in a description does not end the script's string", () => {
  const odd = new Command("capstan").addCommand(new Command("up").description("It's: odd"));
  const tree = commandTree(odd);
  assert.ok(zshCompletion(tree).includes("'up:It'\\''s\\: odd'"));
  assert.ok(fishCompletion(tree).includes("'It\\'s: odd'"));
});

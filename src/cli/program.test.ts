import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { createProgram } from "./program.ts";

/** Every command that people can find, with what its --help prints. */
function pages(command: Command, above = ""): readonly { readonly path: string; readonly text: string }[] {
  const path = `${above} ${command.name()}`.trim();
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  const visible = command.createHelp().visibleCommands(command);
  const children = visible.filter((child) => child.name() !== "help");
  return [{ path, text }, ...children.flatMap((child) => pages(child, path))];
}

const all = pages(createProgram());

test("the program has every command of its surface", () => {
  const paths = all.map(({ path }) => path.replace(/^capstan ?/, ""));
  const surface =
    "up run install resolve solve approve reject explain doctor completion services+list services+watch audit+list audit+verify audit+export rego+eval rego+test rego+check";
  for (const path of surface.split(" ")) assert.ok(paths.includes(path.replace("+", " ")), path);
});

test("every command's help has a sentence about it and examples that name it", () => {
  for (const { path, text } of all) {
    assert.match(text, /\n\n[A-Z][^\n]+/, path);
    const [, examples = ""] = text.split("Examples:\n");
    assert.ok(examples.includes(path), `${path} has no example`);
    assert.doesNotMatch(text, /display help/, `${path} speaks of help as the others do`);
  }
});

test("the exit codes are told", () => {
  assert.match(all[0]?.text ?? "", /Exit codes: 0 .*1 .*2 .*70/);
});

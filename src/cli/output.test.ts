import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { outputFormats, render } from "./output.ts";
import { createProgram } from "./program.ts";

const hidden = new Set(["act", "prepare-minecraft", "provide"]);

/** Every command that people type, by its words. */
function leaves(command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] {
  const children = command.commands.filter((child) => !hidden.has(child.name()));
  if (children.length === 0) return [[words.join(" "), command]];
  return children.flatMap((child) => leaves(child, [...words, child.name()]));
}

/** The help as it is printed, with what is added behind it. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

test("an answer has the same five forms with every command", () => {
  const answering = leaves(createProgram()).flatMap(([words, command]) => {
    const option = command.options.find(({ long }) => long === "--output");
    if (option) assert.deepEqual(option.argChoices, outputFormats, words);
    return option ? [words] : [];
  });
  for (const words of ["resolve", "solve", "explain", "audit list", "services list", "doctor"])
    assert.ok(answering.includes(words), words);
});

test("the help of every command shows how it is used", () => {
  const program = createProgram();
  for (const [words, command] of [["capstan", program] as const, ...leaves(program)])
    assert.match(helpOf(command), /\nExamples?:\n {2}\S/, words);
});

test("forms for programs are the value, names are one on each line, tables are the command's own", () => {
  const answer = {
    value: [{ name: "a" }],
    names: ["world/a\nb", "world/c"],
    table: (isWide: boolean) => (isWide ? "WIDE\n" : "TABLE\n"),
  };
  assert.equal(render(answer, "json"), '[\n  {\n    "name": "a"\n  }\n]\n');
  assert.equal(render(answer, "yaml"), "- name: a\n");
  assert.equal(render(answer, "name"), "world/a b\nworld/c\n");
  assert.equal(render(answer, "table"), "TABLE\n");
  assert.equal(render(answer, "wide"), "WIDE\n");
});

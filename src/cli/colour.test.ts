import assert from "node:assert/strict";
import { test } from "node:test";
import { inColour } from "./colour.ts";
import { formatTable } from "./table.ts";

const table = formatTable(
  ["NAME", "RESULT", "WHY"],
  [
    ["a", "Bound", "it is Bound to b"],
    ["Error", "Unresolved (optional)", "nobody"],
  ],
);
const withoutColour = (text: string): string => text.replace(/\u001b\[\d+m/g, "");

test("words of state are coloured on a terminal, cells only, and the columns stay", () => {
  const coloured = inColour(table, { isTTY: true }, false);
  assert.equal(withoutColour(coloured), table);
  assert.match(coloured, /\u001b\[32mBound\u001b\[0m {2}/);
  assert.match(coloured, /\u001b\[33mUnresolved \(optional\)\u001b\[0m/);
  assert.match(coloured, /it is Bound to b/, "a sentence is left alone");
});

test("the first line of a story says how it is in colour", () => {
  const story = "WorldInstance anvil-demo/stormy-world: Error\n  it broke\n";
  assert.equal(
    inColour(story, { isTTY: true }, false),
    "WorldInstance anvil-demo/stormy-world: \u001b[31mError\u001b[0m\n  it broke\n",
  );
});

test("a pipe, a file and whoever asks for no colours get none", () => {
  assert.equal(inColour(table, {}, false), table);
  assert.equal(inColour(table, { isTTY: true }, true), table);
});

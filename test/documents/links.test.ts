import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { allDocuments, brokenLinks, codeBlocks, filesNamedIn, headingAnchors } from "./markdown.ts";

test("every relative link and picture of every document leads somewhere", () => {
  const documents = allDocuments();
  for (const known of ["README.md", "docs/README.md", "docs/getting-started.md"]) assert.ok(documents.includes(known));
  assert.deepEqual(documents.flatMap(brokenLinks), []);
});

test("every picture is shown somewhere, and says in words what is on it", () => {
  const shown = new Set(allDocuments().flatMap(filesNamedIn));
  const pictures = globSync("docs/images/*").map((path) => path.replaceAll("\\", "/"));
  assert.ok(pictures.length >= 30, `${pictures.length} pictures`);
  assert.deepEqual(
    pictures.filter((path) => !shown.has(path)),
    [],
  );
  const mute = allDocuments().filter((document) => /<img (?!alt="[^"]{8,}")/.test(readFileSync(document, "utf8")));
  assert.deepEqual(mute, []);
});

test("code is found where Markdown has it", () => {
  const markdown =
    "# A `b` c!\n\n    one\n\n    two\n\n- item\n\n    more of the item\n\n```yaml\na: 1\n```\ntext\n    no code\n";
  assert.deepEqual(codeBlocks(markdown), [
    { info: "", line: 3, text: "one\n\ntwo" },
    { info: "yaml", line: 12, text: "a: 1" },
  ]);
  assert.deepEqual(headingAnchors("# First steps, really!\n"), ["first-steps-really"]);
});

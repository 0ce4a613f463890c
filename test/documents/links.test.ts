import assert from "node:assert/strict";
import { test } from "node:test";
import { allDocuments, brokenLinks, codeBlocks, headingAnchors } from "./markdown.ts";

test("every relative link and picture of every document leads somewhere", () => {
  const documents = allDocuments();
  for (const known of ["README.md", "docs/README.md", "docs/getting-started.md"]) assert.ok(documents.includes(known));
  assert.deepEqual(documents.flatMap(brokenLinks), []);
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

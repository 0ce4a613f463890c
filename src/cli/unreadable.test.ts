import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { whyUnreadable } from "./unreadable.ts";

const cases: readonly (readonly [path: string, words: RegExp])[] = [
  ["no-such-file", /^there is no such file or folder$/],
  [".", /^it is a folder$/],
  ["package.json/inside", /^a part of its path is no folder$/],
  ["\0", /null bytes/],
];

for (const [path, words] of cases) {
  test(`why ${JSON.stringify(path)} cannot be read is said in words`, () => {
    assert.throws(
      () => readFileSync(path),
      (error) => words.test(whyUnreadable(error)),
    );
  });
}

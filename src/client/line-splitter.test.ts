import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LineSplitter } from "./line-splitter.ts";

function split(chunks: readonly Uint8Array[], max = 1 << 20): { lines: string[]; rest: string; tooLong: boolean } {
  const splitter = new LineSplitter(max);
  const lines: string[] = [];
  for (const chunk of chunks) {
    splitter.push(chunk);
    for (let line = splitter.next(); line !== undefined; line = splitter.next()) {
      if (line === "TooLong") return { lines, rest: "", tooLong: true };
      lines.push(Buffer.from(line).toString("utf8"));
    }
  }
  return { lines, rest: Buffer.from(splitter.rest()).toString("utf8"), tooLong: false };
}

test("however a text is cut into chunks, the lines are those of the text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary", maxLength: 20 })),
      fc.array(fc.nat(), { maxLength: 20 }),
      (words, cuts) => {
        const text = words.map((word) => word.replaceAll("\n", "").toWellFormed()).join("\n");
        const bytes = Buffer.from(text, "utf8");
        const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
        const chunks = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
        const expected = text.split("\n");
        const found = split(chunks);
        assert.deepEqual([...found.lines, found.rest], expected);
      },
    ),
  );
});

test("a line beyond the limit is noticed while it grows, not when it ends", () => {
  const chunk = Buffer.alloc(10, "x");
  assert.equal(split([chunk, chunk], 20).tooLong, false);
  assert.equal(split([chunk, chunk, chunk], 20).tooLong, true);
  assert.equal(split([Buffer.from(`${"x".repeat(30)}\n`)], 20).tooLong, true);
});

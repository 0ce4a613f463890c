import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { durationMs, formatDuration, formatDurationMs, parseDuration } from "./duration.ts";

// Asked of Go 1.26: the text, then nanoseconds and the printed form, or the error.
const readable: readonly (readonly [string, bigint, string])[] = [
  ["0", 0n, "0s"],
  ["0s", 0n, "0s"],
  ["1h", 3600000000000n, "1h0m0s"],
  ["1h30m", 5400000000000n, "1h30m0s"],
  ["90s", 90000000000n, "1m30s"],
  ["1.5h", 5400000000000n, "1h30m0s"],
  ["100ms", 100000000n, "100ms"],
  ["1us", 1000n, "1µs"],
  ["1µs", 1000n, "1µs"],
  ["1μs", 1000n, "1µs"],
  ["1ns", 1n, "1ns"],
  ["-1.5s", -1500000000n, "-1.5s"],
  ["+5s", 5000000000n, "5s"],
  [".5s", 500000000n, "500ms"],
  ["5.s", 5000000000n, "5s"],
  ["1h1h", 7200000000000n, "2h0m0s"],
  ["9223372036854775807ns", 9223372036854775807n, "2562047h47m16.854775807s"],
  ["-9223372036854775808ns", -9223372036854775808n, "-2562047h47m16.854775808s"],
  ["2562047h47m16.854775807s", 9223372036854775807n, "2562047h47m16.854775807s"],
  ["0.3333333333333333333h", 1200000000000n, "20m0s"],
  ["1.0000000001s", 1000000000n, "1s"],
  ["0.9999999999999999999s", 1000000000n, "1s"],
];
const unreadable: readonly (readonly [string, string])[] = [
  ["", 'time: invalid duration ""'],
  ["5", 'time: missing unit in duration "5"'],
  ["5x", 'time: unknown unit "x" in duration "5x"'],
  [".s", 'time: invalid duration ".s"'],
  ["abc", 'time: invalid duration "abc"'],
  ["-", 'time: invalid duration "-"'],
  ["9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'],
  ["2562047h47m16.854775808s", 'time: invalid duration "2562047h47m16.854775808s"'],
  ["1e3s", 'time: unknown unit "e" in duration "1e3s"'],
  ["1d", 'time: unknown unit "d" in duration "1d"'],
  ["1h ", 'time: unknown unit "h " in duration "1h "'],
  ["é", 'time: invalid duration "\\xc3\\xa9"'],
  ['3s"', 'time: unknown unit "s\\"" in duration "3s\\""'],
  ["10000000000000000000s", 'time: invalid duration "10000000000000000000s"'],
];

for (const [text, nanoseconds, printed] of readable) {
  test(`the duration ${JSON.stringify(text)} is ${printed}`, () => {
    assert.deepEqual(parseDuration(text), { ok: true, value: nanoseconds });
    assert.equal(formatDuration(nanoseconds), printed);
  });
}

for (const [text, message] of unreadable) {
  test(`the duration ${JSON.stringify(text)} is refused in Go's words`, () => {
    assert.deepEqual(parseDuration(text), { ok: false, message });
  });
}

test("milliseconds are what timers need", () => {
  assert.equal(durationMs("1m30s"), 90_000);
  assert.equal(durationMs("1.5ms"), 1);
  assert.equal(formatDurationMs(90_000), "1m30s");
  assert.throws(() => durationMs("soon"), /invalid duration "soon"/);
});

test("every duration survives being printed and read", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (nanoseconds) => {
      assert.deepEqual(parseDuration(formatDuration(nanoseconds)), { ok: true, value: nanoseconds });
    }),
  );
});

test("no text makes the reader throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof parseDuration(text).ok === "boolean"));
});

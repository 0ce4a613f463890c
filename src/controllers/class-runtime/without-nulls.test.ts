import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutNulls } from "./without-nulls.ts";

test("nulls are taken out at every depth, and nothing else", () => {
  const given = { a: null, b: { c: null, d: 0, e: "" }, f: [{ g: null, h: false }, 1], i: undefined };
  assert.deepEqual(withoutNulls(given), { b: { d: 0, e: "" }, f: [{ h: false }, 1], i: undefined });
});

test("an object without nulls is not copied", () => {
  const given = { a: { b: [1, { c: "x" }] } };
  assert.equal(withoutNulls(given), given);
});

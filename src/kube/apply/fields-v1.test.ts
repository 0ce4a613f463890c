import assert from "node:assert/strict";
import { test } from "node:test";
import { type FieldSet, has, setOf } from "./field-set.ts";
import { readFieldsV1, writeFieldsV1 } from "./fields-v1.ts";

const read = (fields: unknown): FieldSet => {
  const result = readFieldsV1(fields);
  assert.equal(result.kind, "Read");
  return (result as { set: FieldSet }).set;
};

const cases: readonly (readonly [string, unknown, string])[] = [
  ["a leaf may be written as null", { "f:a": null }, '{"f:a":{}}'],
  ["a leaf may carry its own dot", { "f:a": { ".": {} } }, '{"f:a":{}}'],
  ["unknown elements are dropped", { "x:a": {}, "f:b": {} }, '{"f:b":{}}'],
  ["a parent of unknown elements only is a leaf", { "f:a": { ".": 1, "x:y": {} } }, '{"f:a":{}}'],
  ["the dot comes first", { "f:a": { "f:b": {}, ".": {} } }, '{"f:a":{".":{},"f:b":{}}}'],
  ["keys are brought into order", { 'k:{"b":1,"a":2.0}': {} }, '{"k:{\\"a\\":2,\\"b\\":1}":{}}'],
  ["numbers are ordered as numbers", { "v:10": {}, "v:9": {}, "f:z": {} }, '{"f:z":{},"v:9":{},"v:10":{}}'],
  ["a dot at the top means nothing", { ".": {} }, "{}"],
  ["nothing is nothing", {}, "{}"],
];

for (const [name, fields, written] of cases) {
  test(name, () => assert.equal(JSON.stringify(writeFieldsV1(read(fields))), written));
}

test("what is not a set of fields is refused", () => {
  for (const fields of [{ "f:a": "x" }, { "f:a": [] }, { f: {} }, { fa: {} }, [], "x", null]) {
    assert.equal(readFieldsV1(fields).kind, "Malformed", JSON.stringify(fields));
  }
});

test("fields in canonical form are written as the object that they were read from", () => {
  const fields = { "f:a": { ".": {}, "f:b": {} }, "f:c": { 'k:{"name":"x"}': { ".": {}, "f:name": {} } } };
  assert.equal(writeFieldsV1(read(fields)), fields);
  const unordered = { "f:c": {}, "f:a": {} };
  assert.notEqual(writeFieldsV1(read(unordered)), unordered);
});

test("names that JavaScript objects inherit are ordinary fields", () => {
  const set = setOf(["f:constructor"], ["f:__proto__", "f:toString"]);
  const written = writeFieldsV1(set);
  assert.equal(JSON.stringify(written), '{"f:__proto__":{"f:toString":{}},"f:constructor":{}}');
  assert.ok(has(read(JSON.parse(JSON.stringify(written))), ["f:constructor"]));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { excludeFields, includeFields } from "./field-filter.ts";
import { setOf } from "./field-set.ts";
import { writeFieldsV1 } from "./fields-v1.ts";

const set = setOf(
  ["f:status"],
  ["f:status", "f:phase"],
  ["f:spec"],
  ["f:spec", "f:containers", 'k:{"name":"a"}', "f:resources", "f:limits"],
  ["f:spec", "f:containers", 'k:{"name":"a"}', "f:image"],
);

test("excluded paths go with everything below them", () => {
  assert.deepEqual(writeFieldsV1(excludeFields(["f:status"], ["f:spec", "f:containers"])(set)), { "f:spec": {} });
});

test("included patterns keep what lies at or below them", () => {
  const filter = includeFields(["f:spec", "f:containers", "*", "f:resources"], ["f:status", "f:phase"]);
  assert.deepEqual(writeFieldsV1(filter(set)), {
    "f:spec": { "f:containers": { 'k:{"name":"a"}': { "f:resources": { "f:limits": {} } } } },
    "f:status": { "f:phase": {} },
  });
  assert.deepEqual(writeFieldsV1(includeFields(["f:nothing"])(set)), {});
});

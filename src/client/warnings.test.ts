import assert from "node:assert/strict";
import { test } from "node:test";
import { parseWarnings } from "./warnings.ts";

const cases: readonly [name: string, header: string | undefined, texts: readonly string[]][] = [
  ["no header", undefined, []],
  ["one warning", '299 - "batch/v1beta1 CronJob is deprecated"', ["batch/v1beta1 CronJob is deprecated"]],
  ["quotes inside", '299 - "unknown field \\"spec.a\\""', ['unknown field "spec.a"']],
  ["several, with commas inside", '299 - "a, b", 299 - "c"', ["a, b", "c"]],
  ["a date after the text", '299 - "a" "Wed, 21 Oct 2015 07:28:00 GMT",299 kube "b"', ["a", "b"]],
  ["what is no warning is given as it stands", '299 - "a", nonsense', ["a", "nonsense"]],
  ["an unclosed quote", '299 - "a', ['299 - "a']],
];
for (const [name, header, texts] of cases)
  test(`warning header: ${name}`, () => assert.deepEqual(parseWarnings(header), texts));

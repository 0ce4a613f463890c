import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelKeyErrors,
  labelValueErrors,
  safeLabelName,
  safeLabelValue,
  safeName,
} from "./names.ts";

// The patterns as Kubernetes publishes them: ours read the same names in linear time.
const dns1123Label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const published: readonly (readonly [string, (value: string) => readonly string[], RegExp])[] = [
  ["label", dns1123LabelErrors, new RegExp(`^${dns1123Label}$`)],
  ["subdomain", dns1123SubdomainErrors, new RegExp(`^${dns1123Label}(\\.${dns1123Label})*$`)],
  ["DNS-1035 label", dns1035LabelErrors, /^[a-z]([-a-z0-9]*[a-z0-9])?$/],
  ["label key", labelKeyErrors, /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/],
  ["label value", labelValueErrors, /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/],
];
for (const [name, errors, pattern] of published) {
  test(`a ${name} is accepted exactly when the published pattern matches`, () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "B", "0", "-", ".", "_", "\n", "é"), maxLength: 10 }),
        (value) => {
          assert.equal(errors(value).length === 0, pattern.test(value));
        },
      ),
      { numRuns: 1000 },
    );
  });
}

const words: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    "an upper-case label",
    dns1123LabelErrors("Web"),
    [
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["a label with dots", dns1123LabelErrors("a.b"), ["must not contain dots"]],
  ["a long label", dns1123LabelErrors("a".repeat(64)), ["must be no more than 63 characters"]],
  ["a long subdomain", dns1123SubdomainErrors("a".repeat(254)), ["must be no more than 253 characters"]],
  [
    "a label that starts with a digit",
    dns1035LabelErrors("1a"),
    [
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["a long label value", labelValueErrors("a".repeat(64)), ["must be no more than 63 bytes"]],
  ["a long label key", labelKeyErrors("a".repeat(64)), ["name part must be no more than 63 bytes"]],
  ["an empty prefix", labelKeyErrors("/a"), ["prefix part must be non-empty"]],
];
for (const [name, errors, expected] of words) {
  test(`${name} is refused in the server's words`, () => assert.deepEqual(errors, expected));
}

test("a name that fits stays as it is", () => {
  assert.equal(safeName("cb-world-a.b"), "cb-world-a.b");
  assert.equal(safeLabelName("web-1"), "web-1");
  assert.equal(safeLabelValue("Any_thing.1"), "Any_thing.1");
  assert.equal(safeLabelValue(""), "");
});

test("a name that does not fit is cut or cleaned, and told apart by a hash", () => {
  assert.match(safeName("A World!"), /^a-world-[0-9a-f]{10}$/);
  assert.notEqual(safeName("A World!"), safeName("a-world?"));
  assert.equal(safeName("x".repeat(300)).length, 253);
  assert.equal(safeLabelName("x".repeat(300), 40).length, 40);
  assert.match(safeName("💥"), /^[0-9a-f]{10}$/);
});

test("any text becomes a valid name within its limit", () => {
  const limit = fc.integer({ min: 12, max: 63 });
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), limit, (text, max) => {
      assert.deepEqual(dns1123SubdomainErrors(safeName(text, max)), []);
      assert.deepEqual(dns1123LabelErrors(safeLabelName(text, max)), []);
      assert.deepEqual(labelValueErrors(safeLabelValue(text)), []);
      assert.ok(safeName(text, max).length <= max && safeLabelName(text, max).length <= max);
    }),
  );
});

test("hostile names take linear time", () => {
  const started = performance.now();
  for (const part of ["a-", "a.", "-", "."]) {
    const text = `${part.repeat(200_000)}!`;
    dns1123SubdomainErrors(text);
    labelKeyErrors(text);
    safeName(text);
  }
  assert.ok(performance.now() - started < 5000);
});

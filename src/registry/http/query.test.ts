import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { queryOf } from "./query.ts";

const pieces = [
  "serviceName",
  "serviceType",
  "Name",
  "dialect",
  "=",
  "&",
  "a",
  "",
  "?",
  "%41",
  "%",
  "+",
  "é",
  "-",
  "==",
];

describe("a query", () => {
  test("says what URLSearchParams says, whatever was sent", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...pieces), { maxLength: 12 }),
        fc.constantFrom("serviceName", "serviceType", "dialect", "a"),
        (parts, name) => {
          const text = parts.join("");
          assert.equal(queryOf(text).get(name), new URLSearchParams(text).get(name), text);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  const cases: readonly (readonly [string, string, string | null])[] = [
    ["the first of two values counts", "serviceName=a&serviceName=b", "a"],
    ["a longer name is another name", "myserviceName=a&serviceNames=b", null],
    ["a name without a value is empty", "serviceType=x&serviceName", ""],
    ["what is encoded is decoded", "service%4Eame=a%20b", "a b"],
  ];
  for (const [name, text, value] of cases) test(name, () => assert.equal(queryOf(text).get("serviceName"), value));
});

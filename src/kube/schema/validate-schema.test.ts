import assert from "node:assert/strict";
import { test } from "node:test";
import { customResourceDefinition } from "../crd.ts";
import { formatFieldErrors } from "../field-error.ts";
import { defineKind } from "../kind.ts";
import { array, dateTime, defaulted, integer, intOrString, map, object, oneOf, optional, string } from "./build.ts";
import recorded from "./real-server-schemas.generated.json" with { type: "json" };
import type { Schema } from "./schema.ts";
import { validateSchema } from "./validate-schema.ts";

interface Recorded {
  readonly schema: Schema;
  /** Absent when the real server took the schema. */
  readonly messages?: readonly string[];
}

// What kube-apiserver 1.36.3 said to a CustomResourceDefinition with this schema. It visits properties in no fixed order.
for (const { schema, messages = [] } of recorded as unknown as readonly Recorded[]) {
  test(`as on the real server, ${messages.length === 0 ? "accepted" : "refused"}: ${JSON.stringify(schema)}`, () => {
    const { causes } = formatFieldErrors(validateSchema(schema));
    assert.deepEqual(causes.map(({ field, message }) => `${field}: ${message}`).sort(), [...messages].sort());
  });
}

test("what the schema builder makes is a valid schema", () => {
  const Widget = defineKind({
    group: "example.com",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    description: "A widget.",
    spec: object({
      name: string({ maxLength: 63, pattern: "^[a-z]+$" }),
      size: defaulted(integer({ minimum: 1 }), 1),
      mode: oneOf(["a", "b"]),
      port: optional(intOrString()),
      since: optional(dateTime()),
      items: optional(array(object({ key: string(), value: optional(string()) }), { keys: ["key"], maxItems: 10 })),
      labels: optional(map(string({ maxLength: 63 }), { maxProperties: 10 })),
    }),
    rules: [{ rule: "self.spec.mode == 'a' || self.spec.size < 5", message: "only mode a may be large" }],
  });
  const schema = customResourceDefinition(Widget).spec.versions[0]?.schema.openAPIV3Schema;
  assert.ok(schema);
  assert.deepEqual(formatFieldErrors(validateSchema(schema)).messages, []);
});

test("errors name the place of the schema that they are given", () => {
  const errors = validateSchema({ type: "string" }, { path: "spec.versions[0].schema.openAPIV3Schema" });
  assert.deepEqual(formatFieldErrors(errors).messages, [
    'spec.versions[0].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
  ]);
});

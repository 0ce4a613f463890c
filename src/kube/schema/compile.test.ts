import assert from "node:assert/strict";
import { test } from "node:test";
import { formatFieldErrors } from "../field-error.ts";
import type { StatusCause } from "../object.ts";
import { compileSchema } from "./compile.ts";
import recorded from "./real-server-values.generated.json" with { type: "json" };
import type { Schema } from "./schema.ts";

interface Recorded {
  readonly schema: Schema;
  readonly value: unknown;
  readonly stored?: unknown;
  readonly message?: string;
  readonly causes?: readonly StatusCause[];
}

// What kube-apiserver 1.36.3 answered to an object with this value in a field of this schema.
for (const { schema, value, stored, message, causes } of recorded as unknown as readonly Recorded[]) {
  const name = `${JSON.stringify(schema)} ${message === undefined ? "accepts" : "refuses"} ${JSON.stringify(value)}`;
  test(`as on the real server, ${name}`, () => {
    const compiled = compileSchema({
      type: "object",
      properties: { spec: { type: "object", properties: { x: schema } } },
    });
    const object = compiled.default(compiled.prune({ spec: { x: value } }).value);
    const errors = compiled.validate(object);
    if (message === undefined) {
      assert.deepEqual(formatFieldErrors(errors).messages, []);
      assert.deepEqual((object as { spec: { x?: unknown } }).spec.x, stored);
      return;
    }
    const formatted = formatFieldErrors(errors);
    assert.equal(formatted.message, message);
    assert.deepEqual(formatted.causes, causes);
  });
}

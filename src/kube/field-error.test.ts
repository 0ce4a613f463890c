import assert from "node:assert/strict";
import { test } from "node:test";
import {
  duplicate,
  type FieldError,
  forbidden,
  formatFieldErrors,
  internalError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "./field-error.ts";

const cases: readonly (readonly [FieldError, string, string])[] = [
  [required("spec.x"), "FieldValueRequired", "spec.x: Required value"],
  [required("spec.x", "because"), "FieldValueRequired", "spec.x: Required value: because"],
  [invalid("spec.x", "a\n", "no"), "FieldValueInvalid", 'spec.x: Invalid value: "a\\n": no'],
  [invalid("spec.x", 5, "no"), "FieldValueInvalid", "spec.x: Invalid value: 5: no"],
  [invalid("spec.x", 1234567.5, "no"), "FieldValueInvalid", "spec.x: Invalid value: 1.2345675e+06: no"],
  [invalid("spec.x", null, "no"), "FieldValueInvalid", "spec.x: Invalid value: null: no"],
  [invalid("spec.x", { b: 1, a: 2 }, "no"), "FieldValueInvalid", 'spec.x: Invalid value: {"a":2,"b":1}: no'],
  [{ type: "Invalid", field: "spec", detail: "no" }, "FieldValueInvalid", "spec: Invalid value: no"],
  [typeInvalid("spec.x", "string", "no"), "FieldValueTypeInvalid", 'spec.x: Invalid value: "string": no'],
  [
    notSupported("spec.x", "c", ["a", "b"]),
    "FieldValueNotSupported",
    'spec.x: Unsupported value: "c": supported values: "a", "b"',
  ],
  [duplicate("spec.x[1]", "a"), "FieldValueDuplicate", 'spec.x[1]: Duplicate value: "a"'],
  [forbidden("spec.x", "no"), "FieldValueForbidden", "spec.x: Forbidden: no"],
  [tooLong("spec.x", 1), "FieldValueTooLong", "spec.x: Too long: may not be more than 1 byte"],
  [tooMany("spec.x", 3, 2), "FieldValueTooMany", "spec.x: Too many: 3: must have at most 2 items"],
  [internalError("spec.x", "no"), "InternalError", "spec.x: Internal error: no"],
];
for (const [error, reason, message] of cases) {
  test(`a field error reads: ${message}`, () => {
    const formatted = formatFieldErrors([error]);
    assert.equal(formatted.message, message);
    assert.deepEqual(formatted.causes, [
      { reason, message: message.slice(error.field.length + 2), field: error.field },
    ]);
  });
}

test("several errors are listed, the same one only once", () => {
  const formatted = formatFieldErrors([required("a"), required("b"), required("a")]);
  assert.equal(formatted.message, "[a: Required value, b: Required value]");
  assert.equal(formatted.causes.length, 3);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatFieldErrors } from "./field-error.ts";
import { annotationsMaxBytes, validateMetadata } from "./object-meta.ts";

const messages = (metadata: Record<string, unknown>): readonly string[] =>
  formatFieldErrors(validateMetadata(metadata, "metadata")).messages;

test("good metadata has no errors", () => {
  assert.deepEqual(
    messages({
      name: "a",
      namespace: "b",
      labels: { "x.y/z": "1" },
      annotations: { A: "anything" },
      finalizers: ["x.y/z"],
    }),
    [],
  );
});

test("every part is checked in the server's words", () => {
  assert.deepEqual(messages({ name: "..", generateName: "a/b%" }), [
    "metadata.generateName: Invalid value: \"a/b%\": may not contain '/'",
    "metadata.generateName: Invalid value: \"a/b%\": may not contain '%'",
    "metadata.name: Invalid value: \"..\": may not be '..'",
  ]);
  assert.equal(messages({ namespace: "A" }).length, 1);
  assert.equal(messages({ labels: { "-": "-" } }).length, 2);
  assert.equal(messages({ finalizers: ["a b"] }).length, 1);
  assert.equal(messages({ ownerReferences: [{}] }).length, 4);
  assert.deepEqual(messages({ annotations: { a: "x".repeat(annotationsMaxBytes) } }), [
    "metadata.annotations: Too long: may not be more than 262144 bytes",
  ]);
});

test("metadata of any shape is survived", () => {
  for (const odd of [null, 5, "x", [], [1], { a: 1 }]) {
    messages({ name: odd, labels: odd, annotations: odd, ownerReferences: odd, finalizers: odd });
  }
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { compareCreate, compareTable, compareUpdate } from "../../../scripts/generate-builtin/compare.ts";
import type { Recorded } from "../../../scripts/generate-builtin/record.ts";

// The answers of a real kube-apiserver 1.36.3, recorded by scripts/generate-builtin/record-corpus.ts.
const recorded: Recorded = JSON.parse(readFileSync(join(import.meta.dirname, "recorded.generated.json"), "utf8"));

const nameOf = (object: { readonly [field: string]: unknown }): string =>
  `${object["kind"]} ${(object["metadata"] as { name?: string } | undefined)?.name ?? "without a name"}`;

suite("what a real server makes of new objects", () => {
  for (const entry of recorded.creates) {
    const { given } = entry;
    test(nameOf(given), () => {
      const { ours, theirs } = compareCreate(entry);
      assert.deepEqual(ours, theirs);
    });
  }
});

suite("what a real server says to objects that it refuses", () => {
  for (const entry of recorded.refusals) {
    const { given, answer } = entry;
    test(`${nameOf(given)}: ${String(answer["message"]).slice(0, 120)}`, () => {
      const { ours, theirs } = compareCreate(entry);
      assert.deepEqual(ours, theirs);
    });
  }
});

suite("what a real server makes of changes", () => {
  for (const entry of recorded.updates) {
    const { created, answer } = entry;
    test(`${nameOf(created)}: ${String(answer["message"] ?? "accepted").slice(0, 120)}`, () => {
      const { ours, theirs } = compareUpdate(entry);
      assert.deepEqual(ours, theirs);
    });
  }
});

suite("what kubectl get shows", () => {
  for (const entry of recorded.tables) {
    test(nameOf(entry.object), () => {
      const { ours, theirs } = compareTable(entry);
      assert.deepEqual(ours, theirs);
    });
  }
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { referencePages } from "../../scripts/generate-reference.ts";

const folder = new URL("../../docs/reference/", import.meta.url);
const stale =
  "docs/reference no longer says what the code says: run `npm run generate:reference` and commit the result";

test("docs/reference says what the definitions say", async () => {
  const pages = await referencePages();
  assert.deepEqual(readdirSync(folder).sort(), [...pages.keys()].sort(), stale);
  const changed = [...pages].filter(([name, text]) => readFileSync(new URL(name, folder), "utf8") !== text);
  assert.deepEqual(
    changed.map(([name]) => name),
    [],
    stale,
  );
});

test("a page has the fields, defaults, rules, reasons, events and columns of its kind", () => {
  const page = readFileSync(new URL("plugin.md", folder), "utf8").replace(/ +/g, " ");
  for (const part of [
    '| `spec.updateStrategy` | `latest`, `auto`, `pin`, `build-pin` | | `"latest"` |',
    "| `spec.instanceSelector` | object | yes |",
    "| `spec.source.project` | project is required when type is hangar or modrinth | create, update |",
    "| `RepositoryAvailable` | `Available`, `Unavailable`, `ChecksumMismatch` |",
    "| `PinConflict` |",
    "| Matched | integer | `.status.matchedCount` | always |",
  ]) {
    assert.ok(page.includes(part), part);
  }
});

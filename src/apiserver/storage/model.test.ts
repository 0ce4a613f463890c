// The store against the simplest thing that could be right: a map and a list of changes.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { systemEnv } from "../../env/system.ts";
import type { KubeObject } from "../../kube/object.ts";
import { createSqliteLog } from "./sqlite-log.ts";
import { Store } from "./store.ts";

type Step = { readonly kind: "put" | "remove"; readonly key: string } | { readonly kind: "restart" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      key: fc.constantFrom("a/x", "a/y", "a-b/x", "b/x", "z"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("remove" as const),
      key: fc.constantFrom("a/x", "a/y", "a-b/x", "b/x", "z"),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
);

interface Model {
  readonly state: Map<string, number>;
  /** The state after each revision. */
  readonly past: Map<number, readonly string[]>;
  revision: number;
}

const shown = (state: ReadonlyMap<string, number>): readonly string[] =>
  [...state]
    .map(([key, value]) => `${key}=${value}`)
    .sort((a, b) => ((a.split("=")[0] ?? "") < (b.split("=")[0] ?? "") ? -1 : 1));

const found = (store: Store, prefix: string, revision: number): readonly string[] => {
  const view = store.viewAt("things", prefix, revision);
  return Array.from({ length: view.size }, (_, index) => {
    const entry = view.at(index);
    return `${entry?.key}=${(entry?.object as { value?: number } | undefined)?.value}`;
  });
};

describe("the store and its model", () => {
  it("agree after any writes, removals and restarts, about the present and the past", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const directory = mkdtempSync(join(tmpdir(), "capstan-model-"));
        const file = join(directory, "api.db");
        const model: Model = { state: new Map(), past: new Map([[0, []]]), revision: 0 };
        let store = new Store(systemEnv, createSqliteLog(file), { maxChanges: 12 });
        try {
          for (const each of steps) {
            if (each.kind === "restart") {
              await store.close();
              store = new Store(systemEnv, createSqliteLog(file), { maxChanges: 12 });
            } else await perform(store, model, each);
            check(store, model);
          }
        } finally {
          await store.close();
          rmSync(directory, { recursive: true });
        }
      }),
      { numRuns: 25 },
    );
  });
});

async function perform(
  store: Store,
  model: Model,
  { kind, key }: { kind: "put" | "remove"; key: string },
): Promise<void> {
  const latest = store.latest("things", key);
  if (kind === "remove" && !latest) return;
  const value = model.revision + 1;
  const object = { apiVersion: "v1", kind: "Thing", metadata: { name: key }, value } as KubeObject;
  await store.write("things", key, latest, kind === "put" ? object : undefined);
  model.revision = value;
  if (kind === "put") model.state.set(key, value);
  else model.state.delete(key);
  model.past.set(value, shown(model.state));
}

function check(store: Store, model: Model): void {
  assert.equal(store.revision, model.revision);
  assert.deepEqual(found(store, "", store.revision), shown(model.state));
  const inNamespace = shown(model.state).filter((each) => each.startsWith("a/"));
  assert.deepEqual(found(store, "a/", store.revision), inNamespace);
  for (const [revision, state] of model.past) {
    if (revision >= store.compactedRevision) assert.deepEqual(found(store, "", revision), state, `at ${revision}`);
  }
}

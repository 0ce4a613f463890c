import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { KubeObject } from "../../kube/object.ts";
import { builtinResources } from "./resources.ts";

interface Answer {
  readonly status: number;
  readonly answer: Readonly<Record<string, unknown>>;
}

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, "recorded.generated.json"), "utf8")) as {
  creates: readonly Answer[];
};

suite("the order of fields", () => {
  test("is the real server's, byte for byte, whatever order a writer used", () => {
    for (const { status, answer } of recorded.creates) {
      if (status !== 201) continue;
      const resource = builtinResources().find(
        ({ group, version, kind }) =>
          kind === answer["kind"] && (group === "" ? version : `${group}/${version}`) === answer["apiVersion"],
      );
      assert.ok(resource);
      const { spec, ...rest } = answer;
      const shuffled = { ...(spec !== undefined && { spec: backwards(spec) }), ...rest } as unknown as KubeObject;
      assert.equal(JSON.stringify(resource.strategy.default(shuffled)), JSON.stringify(answer));
    }
  });
});

function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, backwards(member)]),
  );
}

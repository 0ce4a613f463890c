import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject, ObjectMeta } from "../kube/object.ts";
import type { Change } from "./change.ts";
import { allow, mergePermissions, undeclared } from "./permission.ts";
import {
  and,
  annotationsChanged,
  deletionChanged,
  generationChanged,
  labelsChanged,
  not,
  or,
  ownersChanged,
  type Predicate,
  resourceVersionChanged,
} from "./predicates.ts";

const object = (metadata: Partial<ObjectMeta>): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "a", ...metadata },
});
const updated = (old: Partial<ObjectMeta>, now: Partial<ObjectMeta>): Change => ({
  kind: "Updated",
  old: object(old),
  object: object(now),
  origin: "Watch",
});
const added: Change = { kind: "Added", object: object({}), origin: "Watch" };
const deleted: Change = { kind: "Deleted", object: object({}), origin: "Watch", finalStateUnknown: false };

describe("predicates", () => {
  const cases: readonly [string, Predicate, Partial<ObjectMeta>, Partial<ObjectMeta>][] = [
    ["generation", generationChanged, { generation: 1 }, { generation: 2 }],
    ["labels", labelsChanged, { labels: { a: "1", b: "2" } }, { labels: { a: "1" } }],
    ["annotations", annotationsChanged, {}, { annotations: { a: "1" } }],
    [
      "owners",
      ownersChanged,
      { ownerReferences: [{ apiVersion: "v1", kind: "Thing", name: "b", uid: "1" }] },
      { ownerReferences: [] },
    ],
    ["resource version", resourceVersionChanged, { resourceVersion: "1" }, { resourceVersion: "2" }],
    ["deletion", deletionChanged, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }],
    ["finalizers", deletionChanged, { finalizers: ["x"] }, {}],
  ];
  for (const [name, predicate, old, now] of cases) {
    test(`${name}: a difference counts, sameness does not, additions and deletions always do`, () => {
      assert.equal(predicate(updated(old, now)), true);
      assert.equal(predicate(updated(now, structuredClone(now))), false);
      assert.equal(predicate(added), true);
      assert.equal(predicate(deleted), true);
    });
  }

  test("and, or, not", () => {
    const both = updated({ generation: 1, labels: { a: "1" } }, { generation: 2, labels: { a: "2" } });
    const one = updated({ generation: 1 }, { generation: 2 });
    assert.deepEqual([both, one].map(and(generationChanged, labelsChanged)), [true, false]);
    assert.deepEqual([both, one].map(or(generationChanged, labelsChanged)), [true, true]);
    assert.deepEqual([both, one].map(not(labelsChanged)), [false, true]);
    assert.equal(and()(added), true);
    assert.equal(or()(added), false);
  });
});

describe("permissions", () => {
  const pods = { group: "", plural: "pods" };

  test("are merged per resource and sorted", () => {
    assert.deepEqual(
      mergePermissions([allow(pods, ["watch", "get"]), allow(pods, ["patch"], "status"), allow(pods, ["get", "list"])]),
      [
        { group: "", resource: "pods", verbs: ["get", "list", "watch"] },
        { group: "", resource: "pods/status", verbs: ["patch"] },
      ],
    );
  });

  test("what was used without a declaration can be told", () => {
    assert.deepEqual(undeclared([allow(pods, ["get", "delete"])], [allow(pods, ["get"])]), [
      { group: "", resource: "pods", verbs: ["delete"] },
    ]);
    assert.deepEqual(undeclared([allow(pods, ["get"])], [allow(pods, ["get"])]), []);
  });
});

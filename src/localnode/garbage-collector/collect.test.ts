import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/object.ts";
import { judge, type OwnerState, type Verdict } from "./collect.ts";

const object = (metadata: Partial<KubeObject["metadata"]> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "c", namespace: "n", uid: "u", ...metadata },
});

const cases: readonly [string, KubeObject, readonly OwnerState[], boolean, Verdict][] = [
  ["without owners it stays", object(), [], false, { kind: "Keep" }],
  ["with its owner there it stays", object(), ["Solid"], false, { kind: "Keep" }],
  ["with its owner gone it goes", object(), ["Absent"], false, { kind: "Delete", policy: "Background" }],
  [
    "with one of two owners gone it only forgets that one",
    object(),
    ["Solid", "Absent"],
    false,
    { kind: "Unlink", uids: ["o1"] },
  ],
  [
    "with a leaving and a solid owner it forgets the leaving one",
    object(),
    ["Leaving", "Solid"],
    true,
    { kind: "Unlink", uids: ["o0"] },
  ],
  [
    "awaited by its owner, it waits for its own dependents too",
    object(),
    ["Leaving"],
    true,
    { kind: "Delete", policy: "Foreground" },
  ],
  [
    "awaited and without dependents, it goes at once",
    object(),
    ["Leaving"],
    false,
    { kind: "Delete", policy: "Background" },
  ],
  [
    "one that wants its dependents orphaned gets it",
    object({ finalizers: ["orphan"] }),
    ["Absent"],
    true,
    { kind: "Delete", policy: "Orphan" },
  ],
  [
    "one that is going already is left alone",
    object({ deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ["Absent"],
    false,
    { kind: "Keep" },
  ],
];

for (const [name, subject, states, hasDependents, expected] of cases) {
  test(`garbage: ${name}`, () => {
    const owners = states.map((state, index) => ({
      reference: { apiVersion: "v1", kind: "ConfigMap", name: `o${index}`, uid: `o${index}` },
      state,
    }));
    assert.deepEqual(judge(subject, owners, hasDependents), expected);
  });
}

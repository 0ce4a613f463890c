import assert from "node:assert/strict";
import { test } from "node:test";
import { type Taint, type Toleration, tolerationLeftMs } from "./tolerate.ts";

const gpu: Taint = { key: "gpu", value: "yes", effect: "NoExecute" };
const old: Taint = { key: "old", effect: "NoExecute" };

const cases: readonly [string, readonly Toleration[] | undefined, readonly Taint[], number | undefined][] = [
  ["nothing to bear", undefined, [], undefined],
  ["a taint that it does not tolerate", undefined, [gpu], 0],
  ["another value", [{ key: "gpu", value: "no" }], [gpu], 0],
  ["another effect", [{ key: "gpu", operator: "Exists", effect: "NoSchedule" }], [gpu], 0],
  ["tolerated for ever", [{ key: "gpu", operator: "Exists" }], [gpu], undefined],
  ["tolerated with everything else", [{ operator: "Exists" }], [gpu, old], undefined],
  ["tolerated for a while", [{ key: "gpu", operator: "Exists", tolerationSeconds: 30 }], [gpu], 30_000],
  [
    "the least patient toleration counts",
    [
      { key: "gpu", operator: "Exists", tolerationSeconds: 30 },
      { key: "old", operator: "Exists", tolerationSeconds: 5 },
    ],
    [gpu, old],
    5000,
  ],
  ["one of two taints is not tolerated", [{ key: "gpu", operator: "Exists" }], [gpu, old], 0],
  ["no patience at all", [{ key: "old", operator: "Exists", tolerationSeconds: -1 }], [old], 0],
];

for (const [name, tolerations, taints, expected] of cases) {
  test(`how long a pod stays on a tainted node: ${name}`, () =>
    assert.equal(tolerationLeftMs(tolerations, taints), expected));
}

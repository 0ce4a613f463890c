import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { KubeObject } from "../../kube/object.ts";
import { humanDuration } from "./human-duration.ts";
import { builtinResources } from "./resources.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

suite("ages as kubectl shows them", () => {
  const cases: readonly (readonly [milliseconds: number, shown: string])[] = [
    [-3 * second, "<invalid>"],
    [-second, "0s"],
    [0, "0s"],
    [119 * second, "119s"],
    [2 * minute, "2m"],
    [9 * minute + 5 * second, "9m5s"],
    [10 * minute + 5 * second, "10m"],
    [179 * minute, "179m"],
    [3 * hour, "3h"],
    [7 * hour + 59 * minute, "7h59m"],
    [47 * hour, "47h"],
    [2 * day + hour, "2d1h"],
    [8 * day, "8d"],
    [729 * day, "729d"],
    [2 * 365 * day + day, "2y1d"],
    [9 * 365 * day, "9y"],
  ];
  for (const [milliseconds, shown] of cases) {
    test(`${milliseconds} ms is ${shown}`, () => assert.equal(humanDuration(milliseconds), shown));
  }
});

suite("a pod that is being deleted", () => {
  const status = (state: object, reason = ""): string => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", deletionTimestamp: "2024-01-01T00:00:00Z" },
      spec: { containers: [{ name: "c" }] },
      status: { ...state, ...(reason !== "" && { reason }) },
    } as unknown as KubeObject;
    const columns = builtinResources().find(({ kind }) => kind === "Pod")?.columns ?? [];
    return String(columns.find(({ name }) => name === "Status")?.cell(pod, new Date(0)));
  };

  test("is terminating while it runs", () => assert.equal(status({ phase: "Running" }), "Terminating"));
  test("shows how it ended once it has ended", () => assert.equal(status({ phase: "Succeeded" }), "Succeeded"));
  test("is unknown when its node is lost", () => assert.equal(status({ phase: "Running" }, "NodeLost"), "Unknown"));
});

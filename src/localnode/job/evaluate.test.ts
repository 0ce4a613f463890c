import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../../api/builtin/job.ts";
import type { Pod, PodPhase } from "../../api/builtin/pod.ts";
import { evaluate } from "./evaluate.ts";
import { formatIndexes, parseIndexes } from "./indexes.ts";

const now = new Date(Date.UTC(2026, 0, 1, 12));
const startTime = "2026-01-01T11:59:00Z";

const job = (spec: Partial<Job["spec"]> = {}, status: Job["status"] = { startTime }, deleting = false): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "j", namespace: "n", uid: "j", ...(deleting && { deletionTimestamp: "2026-01-01T12:00:00Z" }) },
  spec: {
    completions: 1,
    parallelism: 1,
    backoffLimit: 2,
    template: { spec: { containers: [], restartPolicy: "Never" } },
    ...spec,
  },
  status,
});

let uids = 0;
const pod = (
  phase: PodPhase,
  extra: {
    deleting?: boolean;
    counted?: boolean;
    exitCode?: number;
    index?: number;
    restarts?: number;
    failures?: number;
    finishedAt?: string;
  } = {},
): Pod => {
  const uid = `p${uids++}`;
  const { deleting, counted, exitCode, index, restarts = 0, failures = 0, finishedAt } = extra;
  const annotations = {
    "batch.kubernetes.io/job-completion-index": String(index),
    "batch.kubernetes.io/job-index-failure-count": String(failures),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: uid,
      uid,
      ...(!counted && { finalizers: ["batch.kubernetes.io/job-tracking"] }),
      ...(deleting && { deletionTimestamp: "2026-01-01T12:00:00Z" }),
      ...(index !== undefined && { annotations }),
    },
    spec: { containers: [], nodeName: "node" },
    status: {
      phase,
      containerStatuses: [
        {
          name: "c",
          ready: false,
          restartCount: restarts,
          image: "",
          imageID: "",
          ...(exitCode !== undefined && { state: { terminated: { exitCode, ...(finishedAt && { finishedAt }) } } }),
        },
      ],
    },
  };
};

interface Expected {
  readonly create?: number;
  readonly remove?: number;
  readonly active?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly conditions?: readonly string[];
}

const failPolicy = { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] };
const ignorePolicy = { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] };
const disrupted = (): Pod => {
  const made = pod("Failed");
  return { ...made, status: { ...made.status, conditions: [{ type: "DisruptionTarget", status: "True" }] } };
};

const perIndex = (spec: Partial<Job["spec"]> = {}, status: Job["status"] = { startTime }): Job =>
  job(
    {
      completionMode: "Indexed",
      completions: 3,
      parallelism: 3,
      backoffLimit: 2 ** 31 - 1,
      backoffLimitPerIndex: 1,
      ...spec,
    },
    status,
  );
const failIndexPolicy = { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }] };

const cases: readonly [string, Job, readonly Pod[], Expected][] = [
  ["starts its first pod", job(), [], { create: 1, active: 1 }],
  ["waits while it runs", job(), [pod("Running")], { active: 1 }],
  [
    "is complete after its success",
    job(),
    [pod("Succeeded")],
    { succeeded: 1, conditions: ["SuccessCriteriaMet", "Complete"] },
  ],
  ["tries again after a failure", job(), [pod("Failed")], { create: 1, active: 1, failed: 1 }],
  [
    "has failed when the limit is passed",
    job({}, { startTime, failed: 2 }),
    [pod("Failed")],
    { failed: 3, conditions: ["FailureTarget", "Failed"] },
  ],
  [
    "ends its other pods before it has failed",
    job({ parallelism: 2, completions: 2 }, { startTime, failed: 2 }),
    [pod("Failed"), pod("Running")],
    { failed: 3, remove: 1, terminating: 1, conditions: ["FailureTarget"] },
  ],
  [
    "runs no more pods than are missing",
    job({ completions: 3, parallelism: 5 }, { startTime, succeeded: 1 }),
    [],
    { create: 2, active: 2, succeeded: 1 },
  ],
  [
    "sends away pods beyond its parallelism",
    job({ completions: 5, parallelism: 1 }),
    [pod("Running"), pod("Running")],
    { remove: 1, active: 1, terminating: 1 },
  ],
  [
    "is over at its deadline",
    job({ activeDeadlineSeconds: 60 }),
    [pod("Running")],
    { remove: 1, terminating: 1, conditions: ["FailureTarget"] },
  ],
  [
    "replaces a pod that is being deleted",
    job(),
    [pod("Running", { deleting: true })],
    { create: 1, active: 1, failed: 1, terminating: 1 },
  ],
  [
    "waits for a pod that is being deleted when told so",
    job({ podReplacementPolicy: "Failed" }),
    [pod("Running", { deleting: true })],
    { terminating: 1 },
  ],
  ["starts nothing while it is suspended", job({ suspend: true }, {}), [], { conditions: ["Suspended"] }],
  [
    "sends its pods away when it is suspended",
    job({ suspend: true }),
    [pod("Running")],
    { remove: 1, terminating: 1, conditions: ["Suspended"] },
  ],
  [
    "does not count twice what was counted",
    job({ completions: 2 }, { startTime, succeeded: 1 }),
    [pod("Succeeded", { counted: true })],
    { create: 1, active: 1, succeeded: 1 },
  ],
  [
    "counts what was announced before a crash",
    job({}, { startTime, uncountedTerminatedPods: { succeeded: ["gone"] } }),
    [],
    { succeeded: 1, conditions: ["SuccessCriteriaMet", "Complete"] },
  ],
  [
    "without completions the first success ends it",
    job({ completions: undefined as never, parallelism: 2 }),
    [pod("Succeeded"), pod("Running")],
    { active: 1, succeeded: 1 },
  ],
  [
    "fails at once where a rule says so",
    job({ podFailurePolicy: failPolicy, backoffLimit: 9 }),
    [pod("Failed", { exitCode: 42 })],
    { failed: 1, conditions: ["FailureTarget", "Failed"] },
  ],
  [
    "does not count what a rule ignores",
    job({ podFailurePolicy: ignorePolicy }),
    [disrupted()],
    { create: 1, active: 1 },
  ],
  [
    "counts restarts in place against the limit",
    job({ template: { spec: { containers: [], restartPolicy: "OnFailure" } } }),
    [pod("Running", { restarts: 2 })],
    { remove: 1, terminating: 1, conditions: ["FailureTarget"] },
  ],
  ["starts nothing when it is being deleted", job({}, { startTime }, true), [], {}],
  [
    "tries an index again that has tries left",
    perIndex(),
    [pod("Failed", { index: 0 }), pod("Running", { index: 1 }), pod("Running", { index: 2 })],
    { create: 1, active: 3, failed: 1 },
  ],
  [
    "gives up an index without tries, and goes on with the others",
    perIndex(),
    [pod("Failed", { index: 0, failures: 1 }), pod("Running", { index: 1 }), pod("Running", { index: 2 })],
    { active: 2, failed: 1 },
  ],
  [
    "has failed when every index is over and one of them has failed",
    perIndex({}, { startTime, completedIndexes: "1,2", succeeded: 2 }),
    [pod("Failed", { index: 0, failures: 1 })],
    { succeeded: 2, failed: 1, conditions: ["FailureTarget", "Failed"] },
  ],
  [
    "has failed when too many indexes have",
    perIndex({ maxFailedIndexes: 0 }),
    [pod("Failed", { index: 0, failures: 1 }), pod("Running", { index: 1 })],
    { failed: 1, remove: 1, terminating: 1, conditions: ["FailureTarget"] },
  ],
  [
    "gives up an index where a rule says so",
    perIndex({ podFailurePolicy: failIndexPolicy }),
    [pod("Failed", { index: 0, exitCode: 42 }), pod("Running", { index: 1 }), pod("Running", { index: 2 })],
    { active: 2, failed: 1 },
  ],
  [
    "is complete when the indexes of its success policy are",
    perIndex({ successPolicy: { rules: [{ succeededIndexes: "1-2", succeededCount: 1 }] } }),
    [pod("Running", { index: 0 }), pod("Succeeded", { index: 2 })],
    { succeeded: 1, remove: 1, terminating: 1, conditions: ["SuccessCriteriaMet"] },
  ],
  [
    "goes on while its success policy is not fulfilled",
    perIndex({ successPolicy: { rules: [{ succeededIndexes: "0,2" }, { succeededCount: 2 }] } }),
    [pod("Running", { index: 0 }), pod("Running", { index: 1 }), pod("Succeeded", { index: 2 })],
    { succeeded: 1, active: 2 },
  ],
];

for (const [name, subject, pods, expected] of cases) {
  test(`a Job ${name}`, () => {
    const { create, remove, status } = evaluate({ job: subject, pods, now, notBeforeMs: 0 });
    assert.deepEqual(
      {
        create: create.length,
        remove: remove.length,
        active: status.active ?? 0,
        succeeded: status.succeeded ?? 0,
        failed: status.failed ?? 0,
        terminating: status.terminating ?? 0,
        conditions: (status.conditions ?? []).filter((one) => one.status === "True").map(({ type }) => type),
      },
      { create: 0, remove: 0, active: 0, succeeded: 0, failed: 0, terminating: 0, conditions: [], ...expected },
    );
  });
}

test("every pod that ended is announced before it is let go", () => {
  const [won, lost] = [pod("Succeeded"), pod("Failed")];
  const { announced, release } = evaluate({
    job: job({ completions: 3, parallelism: 2 }),
    pods: [won, lost],
    now,
    notBeforeMs: 0,
  });
  assert.deepEqual(announced?.uncountedTerminatedPods, { succeeded: [won.metadata.uid], failed: [lost.metadata.uid] });
  assert.deepEqual(release, [won, lost]);
});

test("after failures the next pod waits", () => {
  const decision = evaluate({ job: job(), pods: [pod("Failed")], now, notBeforeMs: now.getTime() + 10_000 });
  assert.equal(decision.create.length, 0);
  assert.equal(decision.lookAgainMs, 10_000);
});

test("an index that failed waits for itself alone", () => {
  const failed = pod("Failed", { index: 0, exitCode: 1, finishedAt: "2026-01-01T11:59:58Z" });
  const decision = evaluate({ job: perIndex(), pods: [failed], now, notBeforeMs: 0, indexDelayMs: () => 10_000 });
  assert.deepEqual(decision.create, [1, 2]);
  assert.equal(decision.lookAgainMs, 8_000);
  assert.equal(decision.status.failedIndexes, "");
});

test("indexes that are over are announced before their pods are let go", () => {
  const pods = [pod("Succeeded", { index: 2 }), pod("Failed", { index: 0, failures: 1 })];
  const { announced } = evaluate({ job: perIndex(), pods, now, notBeforeMs: 0 });
  assert.deepEqual([announced?.completedIndexes, announced?.failedIndexes], ["2", "0"]);
});

test("indexes that are not done and not running are started, the smallest first", () => {
  const indexed = job({ completionMode: "Indexed", completions: 4, parallelism: 4 }, {
    startTime,
    completedIndexes: "1",
  } as Job["status"]);
  const { create } = evaluate({ job: indexed, pods: [pod("Running", { index: 2 })], now, notBeforeMs: 0 });
  assert.deepEqual(create, [0, 3]);
});

test("indexes are written as ranges and read back", () => {
  for (const [indexes, text] of [
    [[], ""],
    [[3], "3"],
    [[0, 1], "0,1"],
    [[0, 1, 2, 4, 6, 7, 8], "0-2,4,6-8"],
  ] as const) {
    assert.equal(formatIndexes(indexes), text);
    assert.deepEqual([...parseIndexes(text)], [...indexes]);
  }
});

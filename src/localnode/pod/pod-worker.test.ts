import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/builtin/pod.ts";
import { type ManualEnv, manualEnv } from "../../testing/manual-env.ts";
import { podStatus } from "./pod-status.ts";
import { PodWorker } from "./pod-worker.ts";
import { standIn } from "./stood-in.ts";

function pod(simulate: string, spec: Partial<Pod["spec"]> = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "p",
      namespace: "n",
      uid: "u",
      annotations: { "localnode.capstan.dev/simulate": simulate },
      ...metadata,
    },
    spec: { containers: [{ name: "main", image: "i" }], restartPolicy: "Always", nodeName: "node", ...spec },
  };
}

/** A worker that is synced whenever something changes, as the kubelet does it. */
function run(env: ManualEnv, first: Pod) {
  let current = first;
  const worker: PodWorker = new PodWorker(first, {
    env,
    backoff: { baseMs: 10_000, maxMs: 300_000 },
    start: (request) => standIn(env, request),
    needsProcess: () => false,
    onChange: () => env.setTimer(0, () => look()),
  });
  const look = (): void => {
    worker.sync(current);
    current = { ...current, status: podStatus(worker, { host: "1.2.3.4", pod: "10.0.0.1" }, env.now()) };
  };
  look();
  return {
    worker,
    get status() {
      return current.status ?? {};
    },
    get main() {
      return current.status?.containerStatuses?.[0];
    },
    change(metadata: Partial<Pod["metadata"]>) {
      current = { ...current, metadata: { ...current.metadata, ...metadata } };
      look();
    },
  };
}

const ready = (status: NonNullable<Pod["status"]>): string | undefined =>
  status.conditions?.find(({ type }) => type === "Ready")?.status;

test("a container is created, runs, and is ready when its time has come", async () => {
  const env = manualEnv();
  const running = run(env, pod("start-after=2s ready-after=3s"));
  await env.advance(1_000);
  assert.equal(running.status.phase, "Pending");
  assert.equal(running.main?.state?.waiting?.reason, "ContainerCreating");
  await env.advance(1_500);
  assert.equal(running.status.phase, "Running");
  assert.equal(ready(running.status), "False");
  await env.advance(3_000);
  assert.equal(ready(running.status), "True");
});

test("one that keeps ending is started again at once, and then after 10 s, 20 s, … up to five minutes", async () => {
  const env = manualEnv();
  const running = run(env, pod("exit=1 after=1s"));
  const starts: number[] = [];
  let seen = -1;
  for (let second = 0; second < 1_600; second++) {
    await env.advance(1_000);
    const { restartCount = 0, state } = running.main ?? {};
    if (state?.running === undefined || restartCount === seen) continue;
    seen = restartCount;
    starts.push(second + 1);
  }
  const gaps = starts.slice(1).map((moment, index) => moment - (starts[index] ?? 0));
  // The first restart has come before the first look.
  assert.deepEqual(gaps.slice(0, 7), [11, 21, 41, 81, 161, 301, 301]);
  assert.equal(running.main?.state?.waiting?.reason, "CrashLoopBackOff");
  assert.match(
    running.main?.state?.waiting?.message ?? "",
    /^back-off 5m0s restarting failed container=main pod=p_n\(u\)$/,
  );
  assert.equal(running.main?.lastState?.terminated?.exitCode, 1);
});

const ends: readonly [string, string, Pod["spec"]["restartPolicy"], string][] = [
  ["exit 0 with Never", "exit=0", "Never", "Succeeded"],
  ["exit 1 with Never", "exit=1", "Never", "Failed"],
  ["exit 0 with OnFailure", "exit=0", "OnFailure", "Succeeded"],
  ["exit 1 with OnFailure", "exit=1", "OnFailure", "Running"],
  ["exit 0 with Always", "exit=0", "Always", "Running"],
];

for (const [name, simulate, restartPolicy, phase] of ends) {
  test(`the phase after ${name}`, async () => {
    const env = manualEnv();
    const running = run(env, pod(`${simulate} after=1s`, restartPolicy === undefined ? {} : { restartPolicy }));
    await env.advance(1_500);
    assert.equal(running.status.phase, phase);
  });
}

test("init containers come one after the other, and a sidecar stays until the last one has ended", async () => {
  const env = manualEnv();
  const initContainers = [
    { name: "first", image: "i" },
    { name: "helper", image: "i", restartPolicy: "Always" },
  ];
  const running = run(
    env,
    pod("first: exit=0 after=2s; main: exit=0 after=3s", { initContainers, restartPolicy: "Never" }),
  );
  await env.advance(1_000);
  assert.equal(running.status.phase, "Pending");
  assert.equal(running.main?.state?.waiting?.reason, "PodInitializing");
  await env.advance(2_000);
  assert.equal(running.status.phase, "Running");
  assert.equal(running.status.initContainerStatuses?.[1]?.ready, true);
  await env.advance(3_000);
  assert.equal(running.status.phase, "Succeeded");
  assert.equal(running.status.initContainerStatuses?.[1]?.state?.terminated?.exitCode, 143);
});

test("an init container that fails ends a pod that may not restart", async () => {
  const env = manualEnv();
  const running = run(
    env,
    pod("first: exit=1", { initContainers: [{ name: "first", image: "i" }], restartPolicy: "Never" }),
  );
  await env.advance(10);
  assert.equal(running.status.phase, "Failed");
});

test("a pod has no longer than its deadline", async () => {
  const env = manualEnv();
  const running = run(env, pod("", { activeDeadlineSeconds: 5, restartPolicy: "Never" }));
  running.change({});
  await env.advance(4_000);
  assert.equal(running.status.phase, "Running");
  await env.advance(2_000);
  assert.equal(running.status.phase, "Failed");
  assert.equal(running.status.reason, "DeadlineExceeded");
});

test("a deleted pod ends within its grace period", async () => {
  const env = manualEnv();
  const running = run(env, pod("stop-after=60s"));
  await env.advance(100);
  running.change({ deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 });
  await env.advance(29_000);
  assert.equal(running.worker.isStopped, false);
  await env.advance(2_000);
  assert.equal(running.worker.isStopped, true);
  assert.equal(running.main?.state?.terminated?.exitCode, 137);
});

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Job } from "../../src/api/builtin/job.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { isConditionTrue } from "../../src/kube/condition.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";

test("a node that is started again takes up its pods where they were", async (context) => {
  const { client, dataDir, restart, writes } = await startNode(context);
  await client.create(Deployment, {
    metadata: { namespace, name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "example/web:1" }] },
      },
    },
  });
  await client.create(Pod, {
    metadata: { namespace, name: "real" },
    spec: { containers: [{ name: "main", image: "capstan:test", args: ["say:up", "sleep:60000"] }] },
  });
  await client.create(Pod, {
    metadata: { namespace, name: "once" },
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "capstan:test", args: ["sleep:60000"] }] },
  });
  const all = async () => (await client.list(Pod, { namespace })).items;
  const before = await eventually(all, (pods) => {
    assert.equal(pods.filter(({ status }) => isConditionTrue(status?.conditions, "Ready")).length, 4);
  });
  await restart();
  const after = await eventually(all, (pods) => {
    const real = pods.find(({ metadata }) => metadata.name === "real");
    assert.equal(real?.status?.containerStatuses?.[0]?.restartCount, 1);
    assert.ok(isConditionTrue(real?.status?.conditions, "Ready"));
    assert.equal(pods.find(({ metadata }) => metadata.name === "once")?.status?.phase, "Failed");
  });
  const real = after.find(({ metadata }) => metadata.name === "real")?.status?.containerStatuses?.[0];
  assert.equal(real?.lastState?.terminated?.reason, "ContainerStatusUnknown");
  for (const pod of before.filter(({ metadata }) => metadata.name.startsWith("web-"))) {
    const same = after.find(({ metadata }) => metadata.uid === pod.metadata.uid);
    assert.deepEqual(same?.status, pod.status, "a pod that is only stood in for does not notice");
  }

  await context.test("and writes nothing but its heartbeat when nothing happens", async () => {
    await pause(1_500);
    const quiet = writes();
    await pause(1_500);
    assert.ok(writes() - quiet <= 1, `${writes() - quiet} writes in a quiet time`);
  });

  await context.test("and keeps no files of pods that are gone", async () => {
    await client.delete(Pod, { namespace, name: "once" }, { gracePeriodSeconds: 0 });
    const uid = before.find(({ metadata }) => metadata.name === "once")?.metadata.uid ?? "";
    await eventually(
      async () => existsSync(join(dataDir, "node", "pods", uid)),
      (isThere) => assert.equal(isThere, false),
    );
    assert.equal(readdirSync(join(dataDir, "node", "pods")).length, 1);
  });
});

test("a Job whose pod ended while the node was away is counted once", async (context) => {
  const { client, restart } = await startNode(context, { jobBackoff: { baseMs: 50, maxMs: 100 } });
  await client.create(Job, {
    metadata: { namespace, name: "sum" },
    spec: {
      backoffLimit: 3,
      template: {
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "capstan:test", args: ["sleep:700"] }] },
      },
    },
  });
  await eventually(
    () => client.get(Job, { namespace, name: "sum" }),
    ({ status }) => assert.equal(status?.ready, 1),
  );
  await restart();
  const { status } = await eventually(
    () => client.get(Job, { namespace, name: "sum" }),
    (job) => assert.ok(isConditionTrue(job.status?.conditions, "Complete"), JSON.stringify(job.status)),
  );
  assert.deepEqual([status?.failed, status?.succeeded], [1, 1]);
});

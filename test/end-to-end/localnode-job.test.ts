import assert from "node:assert/strict";
import { test } from "node:test";
import { Job } from "../../src/api/builtin/job.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import type { Client, NewObject } from "../../src/client/client.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { CronJob } from "../../src/localnode/cron-job/kind.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";

function job(name: string, simulate: string, spec: Partial<Job["spec"]> = {}): NewObject<Job> {
  return {
    metadata: { namespace, name },
    spec: {
      template: {
        metadata: { annotations: { "localnode.capstan.dev/simulate": simulate } },
        spec: { restartPolicy: "Never", containers: [{ name: "work", image: "example/work:1" }] },
      },
      ...spec,
    },
  };
}

const podsOf = async (client: Client, name: string) =>
  (await client.list(Pod, { namespace, labelSelector: `job-name=${name}` })).items;

const ended = (client: Client, name: string, type: "Complete" | "Failed") =>
  eventually(
    () => client.get(Job, { namespace, name }),
    ({ status }) => assert.equal(findCondition(status?.conditions, type)?.status, "True", JSON.stringify(status)),
  );

test("Jobs run to their end", async (context) => {
  const { client } = await startNode(context, { jobBackoff: { baseMs: 50, maxMs: 200 } });

  await context.test("one pod that succeeds completes it", async () => {
    await client.create(Job, job("one", "exit=0 after=50ms"));
    const { status } = await ended(client, "one", "Complete");
    assert.equal(status?.succeeded, 1);
    assert.equal(status?.active, undefined);
    assert.equal(status?.failed, undefined);
    assert.ok(status?.startTime && status.completionTime);
    assert.deepEqual(
      status.conditions?.map(({ type, reason }) => [type, reason]),
      [
        ["SuccessCriteriaMet", "CompletionsReached"],
        ["Complete", "CompletionsReached"],
      ],
    );
    const [pod] = await podsOf(client, "one");
    assert.equal(pod?.status?.phase, "Succeeded");
    assert.equal(pod?.metadata.finalizers, undefined);
  });

  await context.test("pods that no node takes are over at the deadline too", async () => {
    const names = Array.from({ length: 10 }, (_, at) => `late-${at}`);
    for (const name of names) {
      const late = job(name, "exit=0", { activeDeadlineSeconds: 1 });
      const { template } = late.spec;
      const spec = { ...template.spec, nodeSelector: { "example.com/nowhere": "true" } };
      await client.create(Job, { ...late, spec: { ...late.spec, template: { ...template, spec } } });
    }
    for (const name of names) {
      const { status } = await ended(client, name, "Failed");
      assert.equal(findCondition(status?.conditions, "Failed")?.reason, "DeadlineExceeded");
    }
  });

  await context.test("each index has its own tries, and those that have used them up are told", async () => {
    const limits = { completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 1 };
    await client.create(Job, job("indexed-bad", "exit=3", limits));
    const { status } = await ended(client, "indexed-bad", "Failed");
    assert.equal(findCondition(status?.conditions, "Failed")?.reason, "FailedIndexes");
    assert.equal(status?.failedIndexes, "0,1");
    assert.equal(status?.failed, 4);
    const counts = (await podsOf(client, "indexed-bad")).map(
      ({ metadata }) => metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"],
    );
    assert.deepEqual(counts.sort(), ["0", "0", "1", "1"]);
  });

  await context.test("a success policy ends it before all indexes have succeeded", async () => {
    const template = job("", "exit=0 after=20ms").spec.template;
    await client.create(Job, {
      metadata: { namespace, name: "enough" },
      spec: {
        completionMode: "Indexed",
        completions: 3,
        parallelism: 1,
        successPolicy: { rules: [{ succeededIndexes: "0" }] },
        template,
      },
    });
    const { status } = await ended(client, "enough", "Complete");
    const condition = findCondition(status?.conditions, "Complete");
    assert.deepEqual([condition?.reason, condition?.message], ["SuccessPolicy", "Matched rules at index 0"]);
    assert.equal(status?.completedIndexes, "0");
  });

  await context.test("it is tried again as often as the limit says, and then it has failed", async () => {
    await client.create(Job, job("bad", "exit=3", { backoffLimit: 2 }));
    const { status } = await ended(client, "bad", "Failed");
    assert.equal(status?.failed, 3);
    assert.equal(status?.completionTime, undefined);
    assert.deepEqual(
      status?.conditions?.map(({ type, reason }) => [type, reason]),
      [
        ["FailureTarget", "BackoffLimitExceeded"],
        ["Failed", "BackoffLimitExceeded"],
      ],
    );
    const pods = await podsOf(client, "bad");
    assert.equal(pods.length, 3);
    assert.equal(pods[0]?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3);
  });

  await context.test("its deadline ends it, and its pods go", async () => {
    await client.create(Job, job("slow", "", { activeDeadlineSeconds: 1 }));
    const { status } = await ended(client, "slow", "Failed");
    assert.equal(findCondition(status?.conditions, "Failed")?.reason, "DeadlineExceeded");
    await eventually(
      () => podsOf(client, "slow"),
      (pods) => assert.equal(pods.length, 0),
    );
  });

  await context.test("five completions, two at a time", async () => {
    await client.create(Job, job("many", "exit=0 after=30ms", { completions: 5, parallelism: 2 }));
    const { status } = await ended(client, "many", "Complete");
    assert.equal(status?.succeeded, 5);
    assert.equal((await podsOf(client, "many")).length, 5);
  });

  await context.test("indexed pods each have their index", async () => {
    await client.create(Job, job("indexed", "exit=0", { completions: 3, parallelism: 3, completionMode: "Indexed" }));
    const { status } = await ended(client, "indexed", "Complete");
    assert.equal((status as { completedIndexes?: string }).completedIndexes, "0-2");
    const pods = await podsOf(client, "indexed");
    assert.deepEqual(
      pods.map(({ metadata }) => metadata.annotations?.["batch.kubernetes.io/job-completion-index"]).sort(),
      ["0", "1", "2"],
    );
  });

  await context.test("a suspended Job has no pods until it is resumed", async () => {
    await client.create(Job, job("later", "exit=0 after=20ms", { suspend: true }));
    await eventually(
      () => client.get(Job, { namespace, name: "later" }),
      ({ status }) => assert.equal(findCondition(status?.conditions, "Suspended")?.status, "True"),
    );
    assert.equal((await podsOf(client, "later")).length, 0);
    await client.patch(Job, { namespace, name: "later" }, { type: "merge", value: { spec: { suspend: false } } });
    const { status } = await ended(client, "later", "Complete");
    assert.equal(findCondition(status?.conditions, "Suspended")?.status, "False");
  });

  await context.test("a failure policy can end it at the first failure", async () => {
    const podFailurePolicy = { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] };
    await client.create(Job, job("policy", "exit=42", { podFailurePolicy, backoffLimit: 5 }));
    const { status } = await ended(client, "policy", "Failed");
    assert.equal(findCondition(status?.conditions, "Failed")?.reason, "PodFailurePolicy");
    assert.equal(status?.failed, 1);
  });

  await context.test("podReplacementPolicy Failed waits for the old pod to end", async () => {
    await client.create(Job, job("patient", "stop-after=400ms", { podReplacementPolicy: "Failed" }));
    const first = await eventually(
      () => podsOf(client, "patient"),
      (pods) => assert.equal(pods[0]?.status?.phase, "Running"),
    );
    await client.delete(Pod, first[0]?.metadata ?? { name: "" });
    await eventually(
      () => client.get(Job, { namespace, name: "patient" }),
      ({ status }) => assert.equal(status?.terminating, 1),
    );
    assert.equal((await podsOf(client, "patient")).length, 1);
    await eventually(
      () => podsOf(client, "patient"),
      (pods) => {
        assert.equal(pods.length, 1);
        assert.notEqual(pods[0]?.metadata.uid, first[0]?.metadata.uid);
      },
    );
  });

  await context.test("it goes by itself some time after its end, and its pods with it", async () => {
    await client.create(Job, job("brief", "exit=0", { ttlSecondsAfterFinished: 1 }));
    await ended(client, "brief", "Complete");
    await eventually(
      () => client.get(Job, { namespace, name: "brief" }).then(() => false, isNotFound),
      (isGone) => assert.equal(isGone, true),
    );
    assert.equal((await podsOf(client, "brief")).length, 0);
  });

  await context.test("deleted while it runs, it leaves nothing behind", async () => {
    await client.create(Job, job("unwanted", ""));
    await eventually(
      () => podsOf(client, "unwanted"),
      (pods) => assert.equal(pods[0]?.status?.phase, "Running"),
    );
    await client.delete(Job, { namespace, name: "unwanted" }, { propagationPolicy: "Background" });
    await eventually(
      () => podsOf(client, "unwanted"),
      (pods) => assert.equal(pods.length, 0),
    );
  });

  await context.test("a CronJob makes a Job when its time has come", async () => {
    await client.create(CronJob, {
      metadata: { namespace, name: "tick" },
      spec: { schedule: "@every 1s", jobTemplate: { spec: job("", "exit=0").spec }, successfulJobsHistoryLimit: 1 },
    });
    const { status } = await eventually(
      () => client.get(CronJob, { namespace, name: "tick" }),
      (cronJob) => assert.ok(cronJob.status?.lastSuccessfulTime),
    );
    assert.ok(status?.lastScheduleTime);
    const jobs = (await client.list(Job, { namespace })).items.filter(({ metadata }) =>
      metadata.name.startsWith("tick-"),
    );
    assert.equal(jobs[0]?.metadata.ownerReferences?.[0]?.kind, "CronJob");
  });
});

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { executionAnnotations, jobNamespace } from "../../src/controllers/action-executor/names.ts";
import { killHard, leaderOf } from "./pods.ts";
import type { SecurePostgres } from "./postgres.ts";
import { type ClusterWorld, eventually, pause } from "./world.ts";

const namespace = "story-chaos";
const executions = 6;

/** The executor and its database are killed while actions run: each has run exactly once afterwards. */
export async function actionFaults(context: TestContext, world: ClusterWorld, postgres: SecurePostgres): Promise<void> {
  const { client } = world;
  await context.test("the executor and PostgreSQL are killed, and no action runs twice", async () => {
    await client.create(Namespace, { metadata: { name: namespace } });
    const names = Array.from({ length: executions }, (_, index) => `web-${index}`);
    for (const name of names)
      await client.create(Deployment, {
        metadata: { name, namespace },
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: name } },
          template: {
            metadata: { labels: { app: name } },
            spec: { containers: [{ name: "web", image: "docker.io/local/httpd:1" }] },
          },
        },
      });
    const asking = (async () => {
      for (const name of names) {
        await eventually(
          () =>
            client.apply(
              KubernetesExecution,
              {
                metadata: { name, namespace },
                spec: {
                  action: "rollout_restart",
                  parameters: { rolloutRestart: { deployment: name, namespace } },
                },
              },
              { fieldManager: "cluster-test", force: true },
            ),
          () => undefined,
        );
        await pause(200);
      }
    })();
    await pause(500);
    const leader = await leaderOf(client, "capstan-actions");
    assert.ok(killHard(leader.metadata.uid ?? "") > 0);
    await postgres.restart();
    await asking;
    for (const name of names)
      await eventually(
        () => client.get(KubernetesExecution, { namespace, name }),
        ({ status }) => assert.match(status?.phase ?? "", /^(rollback_ready|completed)$/, status?.message),
      );
    const pods = (await client.list(Pod, { namespace: jobNamespace })).items;
    for (const name of names) {
      const { metadata } = await client.get(Deployment, { namespace, name });
      const stamps = metadata.annotations?.["kubernaut.io/executions"]?.split(",") ?? [];
      assert.equal(stamps.length, 1, `${name} was changed ${stamps.length} times`);
      const started = pods.filter((pod) => pod.metadata.annotations?.[executionAnnotations.name] === name);
      assert.equal(started.length, 1, `${started.length} pods were started for ${name}`);
    }
    context.diagnostic(`${executions} actions, each with one Job, one pod and one change`);
    await client.delete(Namespace, { name: namespace });
  });
}

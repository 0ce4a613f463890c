import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { ConfigMap } from "../../src/api/builtin/configuration.ts";
import { StatefulSet } from "../../src/api/builtin/workloads.ts";
import { PaperMCServer } from "../../src/api/papermc-server.ts";
import { Plugin } from "../../src/api/plugin.ts";
import type { Client } from "../../src/client/client.ts";
import { findCondition } from "../../src/kube/condition.ts";
import type { Eventually } from "./game-platform-story.ts";
import { type Recordings, recordHangar, recordPaper } from "./minecraft-recordings.ts";

export interface MinecraftStory {
  readonly client: Client;
  readonly eventually: Eventually;
  readonly recordings: Recordings;
  /** True where a real node runs the pod: then the jars are fetched and the server becomes ready. */
  readonly hasNode: boolean;
}

export const minecraftNamespace = "story-games";
/** The newest settled build of the newest version that both plugins can run on. */
export const solvedImage = "docker.io/lexfrei/papermc:1.20.6-151";

/** A server and two plugins, one of which holds it back. */
export async function minecraftStory(context: TestContext, story: MinecraftStory): Promise<void> {
  const { client, eventually, recordings, hasNode } = story;
  const key = { namespace: minecraftNamespace, name: "survival" };
  recordPaper(recordings, { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 149 }, { id: 151 }], "1.20.4": [{ id: 499 }] });
  recordHangar(recordings, "essentialsx", { "2.21.0": { minecraft: ["1.20.4", "1.20.6", "1.21.1"] } });
  recordHangar(recordings, "old-plugin", { "1.5.0": { minecraft: ["1.20.4", "1.20.6"] } });

  await context.test("the newest versions that fit together are chosen, and it says why none is newer", async () => {
    await client.create(Namespace, { metadata: { name: minecraftNamespace } });
    for (const project of ["essentialsx", "old-plugin"])
      await client.create(Plugin, {
        metadata: { name: project, namespace: minecraftNamespace },
        spec: {
          source: { type: "hangar", project },
          updateStrategy: "latest",
          instanceSelector: { matchLabels: { environment: "story" } },
        },
      });
    await client.create(PaperMCServer, {
      metadata: { ...key, labels: { environment: "story" } },
      spec: {
        updateStrategy: "auto",
        updateSchedule: {
          checkCron: "0 3 * * *",
          timeZone: "UTC",
          maintenanceWindow: { cron: "0 4 29 2 *", enabled: true, duration: "1h" },
        },
        gracefulShutdown: { timeout: "1s" },
        rcon: { enabled: false, passwordSecret: { name: "none", key: "none" }, port: 25_575 },
        storage: { size: "1Gi" },
        podTemplate: { spec: { containers: [{ name: "papermc" }], securityContext: { fsGroup: 9001 } } },
      },
    });
    await eventually(
      () => client.get(PaperMCServer, key),
      ({ status }) => {
        assert.equal(status?.currentVersion, "1.20.6");
        assert.equal(status.currentBuild, 151);
        assert.equal(status.updateBlocked?.blockedBy?.plugin, "old-plugin");
      },
    );
    const set = await client.get(StatefulSet, key);
    assert.equal(set.spec.template.spec.containers[0]?.image, solvedImage);
    const list = await client.get(ConfigMap, { namespace: minecraftNamespace, name: "survival-plugins" });
    assert.match(list.data?.["plugins.json"] ?? "", /essentialsx-2\.21\.0\.jar/);
    await eventually(
      () => client.get(Plugin, { namespace: minecraftNamespace, name: "essentialsx" }),
      ({ status }) => assert.equal(findCondition(status?.conditions, "Compatible")?.reason, "AllServersCompatible"),
    );
  });

  await context.test(
    "its pod fetches the jars and becomes ready",
    {
      skip: hasNode ? false : "no node runs Minecraft here",
    },
    async () => {
      await eventually(
        () => client.get(PaperMCServer, key),
        ({ status }) => assert.equal(findCondition(status?.conditions, "StatefulSetReady")?.status, "True"),
      );
      assert.ok(recordings.count("/jars/essentialsx-2.21.0.jar") > 0);
    },
  );

  await context.test("it goes with everything that it has made", async () => {
    await client.delete(Plugin, { namespace: minecraftNamespace, name: "old-plugin" });
    await client.delete(PaperMCServer, key);
    await eventually(
      () => client.list(StatefulSet, { namespace: minecraftNamespace }),
      ({ items }) => assert.equal(items.length, 0),
    );
    await eventually(
      () => client.list(Plugin, { namespace: minecraftNamespace }),
      ({ items }) =>
        assert.deepEqual(
          items.map(({ metadata }) => metadata.name),
          ["essentialsx"],
        ),
    );
  });
}

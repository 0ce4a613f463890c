import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CustomResourceDefinition } from "../../../src/api/builtin/custom-resource-definition.ts";
import { Service } from "../../../src/api/builtin/service.ts";
import { PersistentVolumeClaim, VolumeSnapshot } from "../../../src/api/builtin/volume.ts";
import { Plugin } from "../../../src/api/plugin.ts";
import { isNotFound } from "../../../src/client/api-error.ts";
import { customResourceDefinition } from "../../../src/kube/crd.ts";
import { eventually, startEmbedded } from "../embedded.ts";
import { recordHangar, recordPaper } from "../minecraft-recordings.ts";
import { namespace, newPlugin, newServer, startMinecraft } from "../minecraft-world.ts";
import type { Gap } from "./gap.ts";
import { ask, change, installedOn, offRcon, openWindow, running, setOf, until, updated, volume } from "./running.ts";

/** What comes onto a server's volume and into its pod, and what leaves them. */
export const installationGaps: readonly Gap[] = [
  {
    number: "B1",
    says: "a plugin that is new to a running server is installed where Paper loads it from",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
      recordHangar(world.recordings, "homes", { "2.0": { minecraft: ["1.21.1"], jar: Buffer.from("the jar") } });
      await running(world, "survival", "1.21.1-133", openWindow);
      await newPlugin(world.client, "homes");
      assert.deepEqual(installedOn(await updated(world, "survival", "1.21.1-133")), { homes: "2.0" });
      const { start, dataDir } = volume(context, world, "survival");
      assert.deepEqual(await start(), ["homes.jar"]);
      assert.equal(readFileSync(join(dataDir, "plugins", "homes.jar"), "utf8"), "the jar");
      // There, Paper takes only what replaces a jar that it has already.
      assert.equal(existsSync(join(dataDir, "plugins", "update")), false);
    },
  },
  {
    number: "B2",
    says: "a server is updated whatever its container is called, or when there is none",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] });
      const names = { a: "minecraft", b: "papermc", c: "game", d: undefined };
      for (const [server, name] of Object.entries(names))
        await running(world, server, "1.20.6-151", {
          updateStrategy: "pin",
          version: "1.20.6",
          podTemplate: name === undefined ? {} : { spec: { containers: [{ name }, { name: "beside", image: "x" }] } },
        });
      for (const server of Object.keys(names)) await ask(world, server, "applyNow", { version: "1.21.1" });
      for (const [server, name] of Object.entries(names)) {
        await updated(world, server, "1.21.1-133");
        const { containers } = (await setOf(world, server)).spec.template.spec;
        const expected = [
          [name ?? "papermc", "docker.io/lexfrei/papermc:1.21.1-133"],
          ...(name ? [["beside", "x"]] : []),
        ];
        assert.deepEqual(
          containers.map((one) => [one.name, one.image]),
          expected,
        );
      }
    },
  },
  {
    number: "B14",
    says: "a deleted plugin is gone at once, and its jar with the next window, although Paper does not move",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
      recordHangar(world.recordings, "homes", { "2.0": { minecraft: ["1.21.1"] } });
      recordHangar(world.recordings, "market", { "1.0": { minecraft: ["1.21.1"] } });
      await newPlugin(world.client, "homes");
      await newPlugin(world.client, "market");
      await running(world, "survival", "1.21.1-133");
      const { start } = volume(context, world, "survival");
      assert.deepEqual(await start(), ["homes.jar", "market.jar"]);
      await world.client.delete(Plugin, { namespace, name: "market" });
      await eventually(
        () => world.plugin("market").catch((error: unknown) => isNotFound(error)),
        (gone) => assert.equal(gone, true),
      );
      assert.deepEqual(await start(), ["homes.jar", "market.jar"], "outside the window everything stays");
      await change(world, "survival", openWindow);
      assert.deepEqual(installedOn(await updated(world, "survival", "1.21.1-133")), { homes: "2.0" });
      assert.deepEqual(await start(), ["homes.jar"]);
    },
  },
  {
    number: "B15",
    says: "the pod follows its template after it was made, and the volume has the size and class that were asked for",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
      await running(world, "survival", "1.21.1-133", { storage: { size: "20Gi", storageClassName: "fast" } });
      const [claim] = (await setOf(world, "survival")).spec.volumeClaimTemplates ?? [];
      assert.deepEqual(
        [claim?.spec?.resources?.requests?.["storage"], claim?.spec?.storageClassName],
        ["20Gi", "fast"],
      );
      const resources = { requests: { memory: "4Gi" } };
      await change(world, "survival", { podTemplate: { spec: { containers: [{ name: "minecraft", resources }] } } });
      await eventually(
        () => setOf(world, "survival"),
        ({ spec }) => assert.deepEqual(spec.template.spec.containers[0]?.resources, resources),
      );
    },
  },
  {
    number: "B19",
    says: "RCON is on no address that others can reach, and nobody uses the page or its API without signing in",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
      const enabled = { enabled: true, passwordSecret: { name: "rcon", key: "password" }, port: 25_575 };
      for (const type of ["LoadBalancer", "NodePort"] as const) {
        const name = type.toLowerCase();
        await newServer(world.client, name, 25_575, { rcon: enabled, service: { type } });
        const { spec } = await eventually(
          () => world.client.get(Service, { namespace, name }),
          (service) => assert.equal(service.spec.type, type),
        );
        assert.deepEqual(
          spec.ports?.map(({ port }) => port),
          [25_565],
        );
      }
      const { plane } = await startEmbedded(context);
      for (const path of ["/k8s/apis/mc.k8s.lex.la/v1beta1/papermcservers", "/ui/api/live"])
        assert.equal((await fetch(`${plane.http}${path}`)).status, 401, path);
      assert.equal((await fetch(`${plane.http}/api/v1/servers`)).status, 404, "there is no second API beside it");
    },
  },
  {
    number: "B22",
    says: "a snapshot belongs to nobody who takes it along, and counts as made only when it is ready to use",
    async prove(context) {
      const world = await startMinecraft(context);
      const { client } = world;
      const definition = customResourceDefinition(VolumeSnapshot);
      const approved = { "api-approved.kubernetes.io": "unapproved, for a test" };
      await client.create(CustomResourceDefinition, {
        ...definition,
        metadata: { ...definition.metadata, annotations: approved },
      });
      await eventually(
        () => client.list(VolumeSnapshot, { namespace }),
        () => undefined,
      );
      recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
      await client.create(PersistentVolumeClaim, {
        metadata: { name: "data-survival-0", namespace },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
      });
      await running(world, "survival", "1.21.1-133", { ...offRcon, backup: { enabled: true, beforeUpdate: true } });
      await ask(world, "survival", "backupNow");
      const { status } = await until(world, "survival", ({ backup }) =>
        assert.equal(backup?.lastBackup?.trigger, "manual"),
      );
      assert.equal(status?.backup?.lastBackup?.completedAt, undefined);
      const name = status?.backup?.lastBackup?.snapshotName ?? "";
      const { metadata } = await client.get(VolumeSnapshot, { namespace, name });
      assert.equal(metadata.ownerReferences, undefined);
      const ready = { type: "merge", value: { status: { readyToUse: true } } } as const;
      await client.patch(VolumeSnapshot, { namespace, name }, ready, { subresource: "status" });
      // Any change is a reason to look again, before the time for it has come.
      await change(world, "survival", { backup: { retention: { maxCount: 3 } } });
      await until(world, "survival", ({ backup }) => assert.notEqual(backup?.lastBackup?.completedAt, undefined));
    },
  },
];

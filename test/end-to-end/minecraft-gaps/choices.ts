import assert from "node:assert/strict";
import { PaperMCServer } from "../../../src/api/papermc-server.ts";
import { zip } from "../../../src/controllers/minecraft/zip-writing.ts";
import { findCondition } from "../../../src/kube/condition.ts";
import { eventually } from "../embedded.ts";
import { recordHangar, recordPaper } from "../minecraft-recordings.ts";
import { namespace, newPlugin, newServer, startMinecraft } from "../minecraft-world.ts";
import type { Gap } from "./gap.ts";
import { change, changePlugin, imageOf, offRcon, openWindow, running, until, updated } from "./running.ts";

/** Which version is chosen. */
export const choiceGaps: readonly Gap[] = [
  {
    number: "B4",
    says: "a newer build of the same version is an update, and so is a newer version whose builds are counted from 1 again",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, {
        "1.21.4": [{ id: 12 }],
        "1.21.1": [{ id: 133, time: "2025-02-01T00:00:00.000Z" }, { id: 120 }],
      });
      // It keeps the server that is on auto at 1.21.1, so that only the build can move.
      recordHangar(world.recordings, "held", { "1.0": { minecraft: ["1.21.1"] } });
      await newPlugin(world.client, "held", { instanceSelector: { matchLabels: { held: "yes" } } });
      const old = { updateStrategy: "build-pin", version: "1.21.1", build: 120, ...openWindow } as const;
      for (const name of ["auto", "pin", "bump"]) await running(world, name, "1.21.1-120", old);
      const held = { metadata: { labels: { held: "yes" } } };
      await world.client.patch(PaperMCServer, { namespace, name: "auto" }, { type: "merge", value: held });
      await until(world, "auto", ({ plugins }) => assert.equal(plugins?.length, 1));
      await change(world, "auto", { updateStrategy: "auto", version: null, build: null });
      await change(world, "pin", { updateStrategy: "pin", build: null });
      await change(world, "bump", { updateStrategy: "pin", version: "1.21.4", build: null });
      await updated(world, "pin", "1.21.1-133");
      await updated(world, "bump", "1.21.4-12");
      await updated(world, "auto", "1.21.1-133");
    },
  },
  {
    number: "B5",
    says: "a server's delay counts from when a build was released, which is not rewritten by other changes",
    async prove(context) {
      const world = await startMinecraft(context);
      const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
      const released = ago(200);
      recordPaper(world.recordings, {
        "1.21.4": [{ id: 232, time: ago(1) }],
        "1.21.1": [{ id: 133, time: released }],
        "1.20.6": [{ id: 151 }],
      });
      await running(world, "survival", "1.20.6-151", { updateStrategy: "pin", version: "1.20.6" });
      await change(world, "survival", { updateStrategy: "auto", version: null, updateDelay: "168h" });
      const { status } = await until(world, "survival", ({ availableUpdate }) => {
        assert.equal(availableUpdate?.version, "1.21.1");
        assert.equal(Date.parse(availableUpdate.releasedAt), Math.floor(Date.parse(released) / 1_000) * 1_000);
      });
      await newPlugin(world.client, "unknown");
      // While nothing is known of the new plugin, the server waits for it.
      await until(world, "survival", ({ plugins, availableUpdate }) => {
        assert.equal(plugins?.length, 1);
        assert.equal(availableUpdate?.releasedAt, status?.availableUpdate?.releasedAt);
      });
    },
  },
  {
    number: "B6",
    says: "auto counts what overrides, pins and lists that say nothing mean for the server",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.4": [{ id: 232 }], "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] });
      recordHangar(world.recordings, "overridden", { "1.0": { minecraft: ["1.20.6"] } });
      recordHangar(world.recordings, "silent", { "1.0": { minecraft: [] } });
      recordHangar(world.recordings, "pinned", {
        "2.0": { minecraft: ["1.20.6", "1.21.1", "1.21.4"] },
        "1.0": { minecraft: ["1.20.6", "1.21.1"] },
      });
      const override = { enabled: true, minecraftVersions: ["1.21.x"] };
      await newPlugin(world.client, "overridden", { compatibilityOverride: override });
      await newPlugin(world.client, "silent");
      await newPlugin(world.client, "pinned", { updateStrategy: "pin", version: "1.0" });
      await newServer(world.client, "survival", 25_575, offRcon);
      const { status } = await until(world, "survival", ({ desiredVersion }) => assert.equal(desiredVersion, "1.21.1"));
      assert.match(status?.updateBlocked?.reason ?? "", /'pinned'/);
      assert.deepEqual(
        status?.plugins?.map(({ pluginRef, resolvedVersion, compatible }) => [
          pluginRef.name,
          resolvedVersion,
          compatible,
        ]),
        ["overridden", "pinned", "silent"].map((name) => [name, "1.0", true]),
      );
    },
  },
  {
    number: "B7",
    says: "latest takes the newest version whatever its plugins support, and warns",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.4": [{ id: 232 }], "1.20.6": [{ id: 151 }] });
      recordHangar(world.recordings, "old", { "1.0": { minecraft: ["1.20.6"] } });
      await newPlugin(world.client, "old");
      await newServer(world.client, "survival", 25_575, { ...offRcon, updateStrategy: "latest" });
      await until(world, "survival", (status) => {
        assert.equal(imageOf(status), "1.21.4-232");
        assert.equal(status.updateBlocked?.blocked, false);
        assert.equal(findCondition(status.conditions, "Compatible")?.reason, "IncompatiblePlugin");
      });
    },
  },
  {
    number: "B8",
    says: "versions of the year-based scheme, in two parts, are seen by latest and auto and run",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "26.1": [{ id: 12 }], "1.21.11": [{ id: 69 }] });
      for (const updateStrategy of ["latest", "auto"] as const)
        await newServer(world.client, updateStrategy, 25_575, { ...offRcon, updateStrategy });
      for (const name of ["latest", "auto"])
        await until(world, name, (status) => assert.equal(imageOf(status), "26.1-12"));
    },
  },
  {
    number: "B8b",
    says: "the newest build is the one that was released last, wherever it stands in the list, and images are asked for once",
    async prove(context) {
      const world = await startMinecraft(context);
      const builds = [1, 2, 3].map((id) => ({ id, time: `2025-01-0${id}T00:00:00.000Z` }));
      recordPaper(world.recordings, { "1.21.4": builds.toReversed(), "1.21.1": builds });
      await newServer(world.client, "auto", 25_575, offRcon);
      await newServer(world.client, "pin", 25_575, { ...offRcon, updateStrategy: "pin", version: "1.21.1" });
      await until(world, "auto", (status) => assert.equal(imageOf(status), "1.21.4-3"));
      await until(world, "pin", (status) => assert.equal(imageOf(status), "1.21.1-3"));
      const tags = "/hub/v2/repositories/lexfrei/papermc/tags";
      // Three pages of two tags each; two servers share the answer, and no tag is asked for by itself.
      assert.equal(world.recordings.count(tags), 3);
      assert.equal(world.recordings.count(`${tags}/1.21.1-3`), 0);
    },
  },
  {
    number: "B9",
    says: "a version that is not settled, or has no image, is not chosen, and is no error either",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, {
        "1.21.8": [{ id: 3, image: false }],
        "1.21.7": [{ id: 2, channel: "ALPHA", image: false }],
        "1.21.6": [{ id: 1, channel: "BETA" }],
        "1.21.4": [{ id: 232, channel: "RECOMMENDED" }],
      });
      await newServer(world.client, "survival", 25_575, offRcon);
      await until(world, "survival", (status) => {
        assert.equal(imageOf(status), "1.21.4-232");
        assert.equal(findCondition(status.conditions, "Ready")?.reason, "ReconcileSuccess");
      });
    },
  },
  {
    number: "B10",
    says: "the api-version of a jar is the oldest version that it runs on, not the only one",
    async prove(context) {
      const url = "https://jars.example.com/maps.jar";
      const jar = zip({ "plugin.yml": "name: Maps\nversion: '4.2'\napi-version: '1.20'\n" });
      const world = await startMinecraft(context, {
        around: (fetch) => async (request) => {
          if (request.target !== url) return fetch(request);
          const body = (async function* () {
            yield jar;
          })();
          return { status: 200, headers: {}, body };
        },
      });
      recordPaper(world.recordings, { "1.21.4": [{ id: 232 }], "1.19.4": [{ id: 550 }] });
      await newPlugin(world.client, "maps", { source: { type: "url", url }, instanceSelector: {} });
      await newServer(world.client, "new", 25_575, offRcon);
      await until(world, "new", (status) => assert.equal(imageOf(status), "1.21.4-232"));
      await newServer(world.client, "old", 25_575, { ...offRcon, updateStrategy: "pin", version: "1.19.4" });
      await eventually(
        () => world.plugin("maps"),
        ({ status }) => {
          assert.deepEqual(status?.availableVersions?.[0]?.minecraftVersions, ["1.20+"]);
          assert.equal(findCondition(status?.conditions, "Compatible")?.status, "False");
        },
      );
    },
  },
  {
    number: "B23",
    says: "every page of Hangar is read, and what its authors call unfinished is not latest",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.4": [{ id: 232 }] });
      const versions = Array.from({ length: 60 }, (_, index) => `3.${59 - index}`);
      recordHangar(
        world.recordings,
        "homes",
        // Only the last of all pages has one that fits; those on the first are not finished.
        Object.fromEntries(
          versions.map((version, index) => [
            version,
            {
              minecraft: index === 0 || index === 59 ? ["1.21.4"] : ["1.8"],
              channel: index === 0 ? "Beta" : "Release",
            },
          ]),
        ),
      );
      await newServer(world.client, "survival", 25_575, offRcon);
      await newPlugin(world.client, "homes");
      await eventually(
        () => world.plugin("homes"),
        ({ status }) => {
          assert.equal(status?.availableVersions?.length, 60);
          assert.equal(status.resolvedVersion, "3.0");
        },
      );
    },
  },
  {
    number: "B24",
    says: "the status says which version a plugin gets next, and what the plugin that blocks supports",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.4": [{ id: 232 }], "1.20.6": [{ id: 151 }] });
      recordHangar(world.recordings, "homes", {
        "2.0": { minecraft: ["1.20.6", "1.20.4"] },
        "1.0": { minecraft: ["1.20.6"] },
      });
      await newPlugin(world.client, "homes", { updateStrategy: "pin", version: "1.0" });
      await running(world, "survival", "1.20.6-151");
      await until(world, "survival", ({ updateBlocked }) =>
        assert.deepEqual(updateBlocked?.blockedBy, { plugin: "homes", version: "1.0", supportedVersions: ["1.20.6"] }),
      );
      await changePlugin(world, "homes", { updateStrategy: "latest", version: null });
      await until(world, "survival", ({ plugins, updateBlocked }) => {
        assert.deepEqual([plugins?.[0]?.currentVersion, plugins?.[0]?.desiredVersion], ["1.0", "2.0"]);
        assert.deepEqual(updateBlocked?.blockedBy?.supportedVersions, ["1.20.6", "1.20.4"]);
      });
    },
  },
  {
    number: "B25",
    says: "a plugin whose selector cannot be read says so, and every server of the namespace goes on",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.4": [{ id: 232 }], "1.20.6": [{ id: 151 }] });
      for (const name of ["broken", "homes"])
        recordHangar(world.recordings, name, { "1.0": { minecraft: ["1.20.6", "1.21.4"] } });
      const matchExpressions = [{ key: "environment", operator: "Near", values: ["production"] }];
      await newPlugin(world.client, "broken", { instanceSelector: { matchExpressions } });
      await newPlugin(world.client, "homes");
      await running(world, "survival", "1.20.6-151", { ...openWindow, updateStrategy: "pin", version: "1.20.6" });
      await change(world, "survival", { version: "1.21.4" });
      await updated(world, "survival", "1.21.4-232");
      await eventually(
        () => world.plugin("broken"),
        ({ status }) => {
          const resolved = findCondition(status?.conditions, "VersionResolved");
          assert.equal(resolved?.reason, "InvalidSelector");
          assert.match(resolved.message, /spec\.instanceSelector of broken cannot be read: .*Near/);
        },
      );
    },
  },
  {
    number: "B26",
    says: "a plugin's pin follows the builds of its version, and a build-pin holds its build",
    async prove(context) {
      const world = await startMinecraft(context);
      recordPaper(world.recordings, { "1.21.4": [{ id: 232 }] });
      for (const name of ["pinned", "held"])
        recordHangar(world.recordings, name, {
          "2.0+1": { minecraft: ["1.21.4"] },
          "1.0+8": { minecraft: ["1.21.4"] },
          "1.0+7": { minecraft: ["1.21.4"] },
        });
      await newPlugin(world.client, "pinned", { updateStrategy: "pin", version: "1.0" });
      await newPlugin(world.client, "held", { updateStrategy: "build-pin", version: "1.0", build: 7 });
      await newServer(world.client, "survival", 25_575, offRcon);
      for (const [name, version] of [
        ["pinned", "1.0+8"],
        ["held", "1.0+7"],
      ] as const)
        await eventually(
          () => world.plugin(name),
          ({ status }) => assert.equal(status?.resolvedVersion, version),
        );
    },
  },
];

import assert from "node:assert/strict";
import { Event } from "../../../src/api/builtin/event.ts";
import { PaperMCServer } from "../../../src/api/papermc-server.ts";
import { Plugin } from "../../../src/api/plugin.ts";
import { eventually } from "../embedded.ts";
import { recordHangar, recordPaper } from "../minecraft-recordings.ts";
import { namespace, newPlugin, startMinecraft } from "../minecraft-world.ts";
import type { Gap } from "./gap.ts";
import { ask, change, openWindow, running, until, updated, window } from "./running.ts";

/** Of which object each of them is told. */
const events: Readonly<Record<string, string>> = {
  Resolved: "Plugin",
  MatchedServers: "Plugin",
  IncompatibleVersion: "Plugin",
  RepositoryUnavailable: "Plugin",
  OverrideApplied: "Plugin",
  UpdateAvailable: "PaperMCServer",
  UpdateStarted: "PaperMCServer",
  PluginsResolved: "PaperMCServer",
  PluginDownloaded: "PaperMCServer",
  PluginIncompatible: "PaperMCServer",
  UpdateCompleted: "PaperMCServer",
  UpdateFailed: "PaperMCServer",
  NoPluginsMatched: "PaperMCServer",
};

/** What is asked of others, and what is told to people. */
export const toldGaps: readonly Gap[] = [
  {
    number: "B18",
    says: "versions are asked for at the servers' checkCron, and not in between",
    async prove(context) {
      const world = await startMinecraft(context);
      const { client, recordings } = world;
      recordPaper(recordings, { "1.21.1": [{ id: 133 }] });
      for (const name of ["daily", "rarely"]) {
        recordHangar(recordings, name, { "1.0": { minecraft: ["1.21.1"] } });
        await newPlugin(client, name, { instanceSelector: { matchLabels: { checked: name } } });
        await running(world, name, "1.21.1-133", window({}, name === "daily" ? "0 3 * * *" : "0 3 29 2 *"));
        await client.patch(
          PaperMCServer,
          { namespace, name },
          { type: "merge", value: { metadata: { labels: { checked: name } } } },
        );
        await eventually(
          () => world.plugin(name),
          ({ status }) => assert.equal(status?.matchedCount, 1),
        );
      }
      const asked = (name: string): number => recordings.count(`/hangar/api/v1/projects/Owner/${name}/versions`);
      assert.deepEqual([asked("daily"), asked("rarely")], [1, 1]);
      // As if the last time was two days ago; a change of the server is a reason to look at the clock.
      const lastFetched = new Date(Date.now() - 2 * 86_400_000).toISOString().replace(/\.\d+/, "");
      for (const name of ["rarely", "daily"]) {
        const value = { status: { lastFetched } };
        await client.patch(Plugin, { namespace, name }, { type: "merge", value }, { subresource: "status" });
      }
      let looked = 0;
      await eventually(
        async () => {
          const value = { metadata: { labels: { looked: `${++looked}` } } };
          for (const name of ["rarely", "daily"])
            await client.patch(PaperMCServer, { namespace, name }, { type: "merge", value });
          return world.plugin("daily");
        },
        ({ status }) => assert.notEqual(status?.lastFetched, lastFetched),
      );
      assert.deepEqual([asked("daily"), asked("rarely")], [2, 1]);
    },
  },
  {
    number: "B20",
    says: "everything that the original operator's design wanted to tell is told as an event, of the object that it concerns",
    async prove(context) {
      const world = await startMinecraft(context);
      const { client, recordings } = world;
      recordPaper(recordings, { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] });
      recordHangar(recordings, "homes", { "2.0": { minecraft: ["1.21.1"] }, "1.0": { minecraft: ["1.20.6"] } });
      recordHangar(recordings, "odd", { "1.0": { minecraft: ["1.8"] } });
      recordHangar(recordings, "lost", { "1.0": { minecraft: ["1.20.6"] } });
      recordings.answers.delete("/jars/lost-1.0.jar");
      const on = (name: string) => ({ instanceSelector: { matchLabels: { name } } });
      await newPlugin(client, "homes", on("good"));
      await newPlugin(client, "lost", on("bad"));
      await newPlugin(client, "odd", on("odd"));
      await newPlugin(client, "missing", on("odd"));
      await newPlugin(client, "forced", {
        ...on("odd"),
        source: { type: "hangar", project: "homes" },
        compatibilityOverride: { enabled: true },
      });
      const pinned = { updateStrategy: "pin", version: "1.20.6" } as const;
      const labelled = (name: string) =>
        client.patch(PaperMCServer, { namespace, name }, { type: "merge", value: { metadata: { labels: { name } } } });
      await running(world, "alone", "1.20.6-151", pinned);
      for (const name of ["good", "bad", "odd"]) {
        await running(world, name, "1.20.6-151", { ...pinned, ...(name === "good" && openWindow) });
        await labelled(name);
      }
      await updated(world, "good", "1.20.6-151");
      await change(world, "good", { version: "1.21.1" });
      await updated(world, "good", "1.21.1-133");
      await until(world, "bad", ({ availableUpdate }) => assert.equal(availableUpdate?.plugins.length, 1));
      await ask(world, "bad", "applyNow");
      await eventually(
        () => client.list(Event, { namespace }),
        ({ items }) => {
          const told = new Map(items.map(({ reason, involvedObject }) => [reason, involvedObject.kind]));
          for (const [reason, kind] of Object.entries(events)) assert.equal(told.get(reason), kind, reason);
        },
      );
    },
  },
];

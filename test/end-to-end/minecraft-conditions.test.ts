import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { Event } from "../../src/api/builtin/event.ts";
import { PersistentVolumeClaim, VolumeSnapshot } from "../../src/api/builtin/volume.ts";
import { PaperMCServer, paperServerConditions, paperServerEvents } from "../../src/api/papermc-server.ts";
import { Plugin, pluginConditions, pluginEvents } from "../../src/api/plugin.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import type { Condition } from "../../src/kube/condition.ts";
import { customResourceDefinition } from "../../src/kube/crd.ts";
import { eventually } from "./embedded.ts";
import { ask, change, changePlugin, openWindow, running, until, updated } from "./minecraft-gaps/running.ts";
import { recordHangar, recordPaper } from "./minecraft-recordings.ts";
import { namespace, newPlugin, newServer, startMinecraft } from "./minecraft-world.ts";

/** What this story cannot show, and why. */
const shownElsewhere: ReadonlySet<string> = new Set([
  // Ten minutes pass before an update is given up: minecraft-rollback.test.ts has a clock for it.
  "PaperMCServer Updating UpdateRolledBack",
  "PaperMCServer event UpdateRolledBack",
  // The solver's deadline: server-status.test.ts.
  "PaperMCServer SolverRunning SolverFailed",
  // A word of the original operator that nobody ever sees here: a status is written once, when the answer is there.
  "PaperMCServer SolverRunning SolverStarted",
]);

const declared: readonly string[] = [
  ...said(PaperMCServer.kind, paperServerConditions, paperServerEvents),
  ...said(Plugin.kind, pluginConditions, pluginEvents),
].filter((word) => !shownElsewhere.has(word));

function said(
  kind: string,
  conditions: Readonly<Record<string, readonly string[]>>,
  events: readonly string[],
): readonly string[] {
  return [
    ...Object.entries(conditions).flatMap(([type, reasons]) => reasons.map((reason) => `${kind} ${type} ${reason}`)),
    ...events.map((reason) => `${kind} event ${reason}`),
  ];
}

test("every reason that a condition or an event may have is said when it is true, and no other one", async (context) => {
  const heard = new Set<string>();
  const url = "https://jars.example.com/odd.jar";
  const world = await startMinecraft(context, {
    beforeWrite: async (request) => {
      for (const word of conditionsIn(request)) heard.add(word);
    },
    around: (fetch) => async (request) => {
      if (request.target !== url) return fetch(request);
      const body = (async function* () {
        yield Buffer.from("no archive at all");
      })();
      return { status: 200, headers: {}, body };
    },
  });
  const { client, recordings } = world;
  const hears = (...words: readonly string[]): Promise<unknown> =>
    eventually(
      async () => heard,
      () =>
        assert.deepEqual(
          words.filter((word) => !heard.has(word)),
          [],
        ),
    );
  const isTold = (wanted: string) =>
    eventually(
      () => client.list(Event, { namespace }),
      ({ items }) => assert.ok(items.some(({ reason }) => reason === wanted)),
    );
  // Before anybody outside knows a version.
  await newServer(client, "early", 25_575);
  await isTold("RepositoryUnavailable");
  await client.delete(PaperMCServer, { namespace, name: "early" });
  recordPaper(recordings, { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] });
  const both = ["1.20.6", "1.21.1"];
  recordHangar(recordings, "homes", { "2.0": { minecraft: both }, "1.0": { minecraft: both } });
  recordHangar(recordings, "silent", { "1.0": { minecraft: [] } });
  recordHangar(recordings, "old", { "1.0": { minecraft: ["1.8"] } });
  recordHangar(recordings, "needy", { "1.0": { minecraft: both, needs: ["absent"] } });
  recordHangar(recordings, "chicken", { "1.0": { minecraft: both, needs: ["egg"] } });
  recordHangar(recordings, "egg", { "1.0": { minecraft: both, needs: ["chicken"] } });
  recordHangar(recordings, "lost", { "1.0": { minecraft: both } });
  recordings.answers.delete("/jars/lost-1.0.jar");
  const on = (...values: readonly string[]) => ({
    instanceSelector: { matchExpressions: [{ key: "of", operator: "In", values }] },
  });
  const belongsTo = (name: string, of: string) =>
    client.patch(PaperMCServer, { namespace, name }, { type: "merge", value: { metadata: { labels: { of } } } });

  await context.test("schedules, backups without their API, and a pin that does not exist", async () => {
    const schedule = (checkCron: string, timeZone: string) => ({
      updateSchedule: { ...openWindow.updateSchedule, checkCron, timeZone },
    });
    await newServer(client, "cron", 25_575, schedule("whenever", "UTC"));
    await newServer(client, "zone", 25_575, {
      ...schedule("@daily", "Mars/Base"),
      backup: { enabled: true, beforeUpdate: true, schedule: "@daily" },
    });
    await newServer(client, "pin", 25_575, {
      updateStrategy: "pin",
      version: "9.9.9",
      backup: { enabled: true, beforeUpdate: true, schedule: "soon" },
    });
    await hears(
      "PaperMCServer CronScheduleValid InvalidCronExpression",
      "PaperMCServer CronScheduleValid InvalidTimeZone",
      "PaperMCServer BackupCronValid InvalidBackupCronExpression",
      "PaperMCServer BackupReady VolumeSnapshotAPIUnavailable",
      "PaperMCServer Ready ReconcileError",
    );
    for (const name of ["cron", "zone", "pin"]) await client.delete(PaperMCServer, { namespace, name });
  });

  await context.test("a server from its first start to an update, and one that fails", async () => {
    const pinned = { updateStrategy: "pin", version: "1.20.6" } as const;
    await newPlugin(client, "homes", on("all"));
    await newPlugin(client, "lost", on("lost"));
    await running(world, "survival", "1.20.6-151", { ...pinned, ...openWindow });
    await running(world, "sad", "1.20.6-151", pinned);
    await belongsTo("survival", "all");
    await updated(world, "survival", "1.20.6-151");
    await change(world, "survival", { updateStrategy: "auto", version: null });
    await updated(world, "survival", "1.21.1-133");
    await belongsTo("sad", "lost");
    await until(world, "sad", ({ availableUpdate }) => assert.equal(availableUpdate?.plugins.length, 1));
    await ask(world, "sad", "applyNow");
    await hears("PaperMCServer Updating UpdateFailed");
    await belongsTo("sad", "nobody");
  });

  await context.test("plugins that fit, are taken to fit, are made to fit and do not fit", async () => {
    await newPlugin(client, "silent", on("all"));
    await newPlugin(client, "old", on("all"));
    await hears("PaperMCServer Compatible IncompatiblePlugin", "Plugin Compatible NoCompatibleVersion");
    await hears("PaperMCServer UpdateBlocked UpdateBlocked");
    await changePlugin(world, "old", { updateStrategy: "pin", version: "1.0" });
    await hears("Plugin Compatible IncompatiblePin");
    await changePlugin(world, "old", { compatibilityOverride: { enabled: true } });
    await hears("Plugin Compatible OverrideApplied", "PaperMCServer Compatible CompatibilityAssumed");
  });

  await context.test("pins that contradict each other, dependencies, selectors, and nobody to be on", async () => {
    await changePlugin(world, "homes", { updateStrategy: "pin", version: "1.0" });
    await newPlugin(client, "home", {
      ...on("all"),
      source: { type: "hangar", project: "homes" },
      updateStrategy: "pin",
      version: "2.0",
    });
    for (const name of ["needy", "chicken", "egg"]) await newPlugin(client, name, on("all"));
    await newPlugin(client, "alone", { ...on("nowhere"), source: { type: "hangar", project: "silent" } });
    await newPlugin(client, "broken", {
      instanceSelector: { matchLabels: { "not a key!": "x" } },
      source: { type: "hangar", project: "silent" },
    });
    await hears("Plugin VersionResolved HighestPinChosen");
  });

  await context.test("sources that are gone, poisoned or say nothing", async () => {
    await newPlugin(client, "missing", on("all"));
    await newPlugin(client, "odd", { ...on("all"), source: { type: "url", url } });
    await newPlugin(client, "poisoned", { ...on("all"), source: { type: "url", url, checksum: "0".repeat(64) } });
    await newPlugin(client, "ghost", {
      ...on("all"),
      source: { type: "hangar", project: "silent" },
      updateStrategy: "pin",
      version: "7",
    });
    await hears("Plugin VersionResolved ChecksumMismatch", "Plugin VersionResolved FallbackVersion");
  });

  await context.test("backups with their API", async () => {
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
    await running(world, "saved", "1.21.1-133", { backup: { enabled: true, beforeUpdate: true, schedule: "@daily" } });
    // That a kind is not served is believed for a moment.
    let count = 0;
    await eventually(
      () => change(world, "saved", { backup: { retention: { maxCount: ++count } } }),
      () => assert.ok(heard.has("PaperMCServer BackupReady VolumeSnapshotAPIAvailable")),
    );
    await ask(world, "saved", "backupNow");
    await hears("PaperMCServer BackupReady BackupFailed");
    // It is heard before it is written, and what is written in vain is not told: there must be time for another try.
    await isTold("BackupFailed");
    await client.create(PersistentVolumeClaim, {
      metadata: { name: "data-saved-0", namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
    });
    await ask(world, "saved", "backupNow");
    await eventually(
      () => client.list(VolumeSnapshot, { namespace }),
      ({ items }) => assert.equal(items.length, 1),
    );
  });

  await eventually(
    async () => {
      const { items } = await client.list(Event, { namespace });
      for (const { reason, involvedObject } of items) heard.add(`${involvedObject.kind} event ${reason}`);
      return [...heard].sort();
    },
    (all) => assert.deepEqual(all, declared.toSorted()),
  );
});

/** `Plugin Ready ReconcileSuccess` for each condition that a status brings. */
function conditionsIn({ target, body }: HttpRequest): readonly string[] {
  const found = /\/(papermcservers|plugins)\/[^/]+\/status/.exec(target);
  if (!found || !body) return [];
  const kind = found[1] === "plugins" ? Plugin.kind : PaperMCServer.kind;
  const { status } = JSON.parse(Buffer.from(body).toString("utf8")) as {
    readonly status?: { readonly conditions?: readonly Condition[] };
  };
  return (status?.conditions ?? []).map(({ type, reason, message }) => {
    assert.notEqual(message, "", `${kind} ${type} ${reason} says nothing`);
    return `${kind} ${type} ${reason}`;
  });
}

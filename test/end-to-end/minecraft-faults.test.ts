import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { Event } from "../../src/api/builtin/event.ts";
import { PersistentVolumeClaim, VolumeSnapshot } from "../../src/api/builtin/volume.ts";
import { PaperMCServer } from "../../src/api/papermc-server.ts";
import { Plugin } from "../../src/api/plugin.ts";
import { annotations, labels } from "../../src/api/well-known.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { customResourceDefinition } from "../../src/kube/crd.ts";
import { eventually } from "./embedded.ts";
import { startRcon } from "./minecraft-rcon.ts";
import { handled, recordHangar, recordPaper } from "./minecraft-recordings.ts";
import { namespace, newPlugin, newServer, rconSecret, startMinecraft } from "./minecraft-world.ts";

const versionsPath = "/hangar/api/v1/projects/Owner/essentialsx/versions";
const offRcon = { rcon: { enabled: false, passwordSecret: { name: "", key: "" }, port: 25575 } };

const faults: readonly { readonly name: string; readonly answer: unknown; readonly message: RegExp }[] = [
  { name: "the repository is down", answer: reply(500, "boom"), message: /answered 500/ },
  {
    name: "the repository asks for patience",
    answer: reply(429, "slow down", { "retry-after": "3600" }),
    message: /answered 429/,
  },
  {
    name: "the answer is cut off",
    answer: (_: URLSearchParams, response: ServerResponse) => {
      response.writeHead(200, { "content-length": "5000" });
      response.write('{"pagination": {');
      setImmediate(() => response.destroy());
      return handled;
    },
    message: /broke off/,
  },
  { name: "the answer is no JSON", answer: reply(200, "<html>maintenance</html>"), message: /not JSON/ },
  { name: "the answer has another shape", answer: { result: "everything", pagination: 7 }, message: /another shape/ },
  {
    name: "the answer is empty",
    answer: { result: [], pagination: { count: 0 } },
    message: /names no version of it any more/,
  },
  {
    name: "no entry of the answer can be read",
    answer: { result: [null, 7, { name: {} }], pagination: { count: 3 } },
    message: /names no version of it any more/,
  },
  { name: "the project is gone", answer: reply(404, ""), message: /There is no project essentialsx/ },
];

for (const { name, answer, message } of faults) {
  test(`${name}: what was known before is used, and nothing is lost`, async (context) => {
    const world = await startMinecraft(context);
    recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
    recordHangar(world.recordings, "essentialsx", { "2.21.0": { minecraft: ["1.21.1"] } });
    await newServer(world.client, "survival", 25575, offRcon);
    await newPlugin(world.client, "essentialsx");
    const before = await eventually(
      () => world.plugin("essentialsx"),
      ({ status }) => assert.equal(status?.resolvedVersion, "2.21.0"),
    );
    world.recordings.answers.set(versionsPath, answer);
    await world.client.patch(
      Plugin,
      { namespace, name: "essentialsx" },
      { type: "merge", value: { spec: { updateDelay: "1h" } } },
    );
    const after = await eventually(
      () => world.plugin("essentialsx"),
      ({ status }) => {
        assert.equal(status?.repositoryStatus, "orphaned");
        assert.match(findCondition(status.conditions, "RepositoryAvailable")?.message ?? "", message);
      },
    );
    assert.deepEqual(after.status?.availableVersions, before.status?.availableVersions);
    assert.equal(after.status?.resolvedVersion, "2.21.0");
    const { items } = await eventually(
      () => world.client.list(Event, { namespace }),
      (list) => assert.ok(list.items.some(({ reason }) => reason === "RepositoryUnavailable")),
    );
    assert.ok(items.length > 0);
    assert.equal(world.warnings.filter((line) => message.test(line) && line.includes("essentialsx")).length, 1);
  });
}

test("poisoned entries are left out, the rest counts", async (context) => {
  const world = await startMinecraft(context);
  recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
  world.recordings.answers.set("/hangar/api/v1/projects/essentialsx", {
    namespace: { owner: "Owner", slug: "essentialsx" },
  });
  world.recordings.answers.set(versionsPath, {
    pagination: { count: 4 },
    result: [
      null,
      { name: 5 },
      { name: "x".repeat(5_000), platformDependencies: { PAPER: ["1.21.1"] } },
      {
        name: "1.0",
        platformDependencies: { PAPER: ["1.21.1", 7, null] },
        createdAt: "yesterday",
        downloads: { PAPER: 1 },
      },
    ],
  });
  await newServer(world.client, "survival", 25575, offRcon);
  await newPlugin(world.client, "essentialsx");
  const { status } = await eventually(
    () => world.plugin("essentialsx"),
    (plugin) => assert.equal(plugin.status?.resolvedVersion, "1.0"),
  );
  assert.deepEqual(
    status?.availableVersions?.map(({ version, minecraftVersions }) => [version, minecraftVersions]),
    [["1.0", ["1.21.1"]]],
  );
});

test("a plugin that fits nowhere is a condition, an event and a warning in the log", async (context) => {
  const world = await startMinecraft(context);
  recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
  recordHangar(world.recordings, "essentialsx", { "2.21.0": { minecraft: ["1.8"] } });
  await newServer(world.client, "survival", 25575, offRcon);
  await newPlugin(world.client, "essentialsx");
  await eventually(
    () => world.plugin("essentialsx"),
    ({ status }) => {
      const compatible = findCondition(status?.conditions, "Compatible");
      assert.equal(compatible?.status, "False");
      assert.equal(
        compatible.message,
        "No version fits survival (1.21.1); if one does in truth, say so in spec.compatibilityOverride",
      );
    },
  );
  await eventually(
    async () => world.warnings,
    (lines) => assert.ok(lines.some((line) => line.includes("No version fits survival (1.21.1)"))),
  );
});

test("an answer whose status comes too late is not asked for again", async (context) => {
  let late = 0;
  const world = await startMinecraft(context, {
    // Somebody else is a moment faster, three times in a row.
    beforeWrite: async ({ body, target }, client) => {
      const saysIt = target.includes("/plugins/homes/status") && Buffer.from(body ?? []).includes("lastFetched");
      if (!saysIt || late === 3) return;
      const value = { metadata: { labels: { faster: `f${++late}` } } };
      await client.patch(Plugin, { namespace, name: "homes" }, { type: "merge", value });
    },
  });
  recordHangar(world.recordings, "homes", { "1.0": { minecraft: ["1.21.1"] } });
  await newPlugin(world.client, "homes");
  await eventually(
    () => world.plugin("homes"),
    ({ status }) => assert.equal(status?.repositoryStatus, "available"),
  );
  assert.equal(late, 3);
  assert.equal(world.recordings.count("/hangar/api/v1/projects/Owner/homes/versions"), 1);
});

test("pages are followed to their end", async (context) => {
  const world = await startMinecraft(context);
  recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
  recordHangar(
    world.recordings,
    "essentialsx",
    Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`1.${index}.0`, { minecraft: [index === 3 ? "1.21.1" : "1.8"] }]),
    ),
  );
  await newServer(world.client, "survival", 25575, offRcon);
  await newPlugin(world.client, "essentialsx");
  const { status } = await eventually(
    () => world.plugin("essentialsx"),
    (plugin) => assert.equal(plugin.status?.resolvedVersion, "1.3.0"),
  );
  assert.equal(status?.availableVersions?.length, 60);
});

test("bad input becomes a condition that names the object and the way out", async (context) => {
  const world = await startMinecraft(context);
  recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
  recordHangar(world.recordings, "a", { "1.0": { minecraft: ["1.21.1"], needs: ["b"] } });
  recordHangar(world.recordings, "b", { "1.0": { minecraft: ["1.21.1"], needs: ["a"] } });
  recordHangar(world.recordings, "c", { "2.0": { minecraft: ["1.21.1"] }, "1.0": { minecraft: ["1.8"] } });
  await newServer(world.client, "survival", 25575, {
    ...offRcon,
    updateSchedule: {
      checkCron: "whenever",
      timeZone: "UTC",
      maintenanceWindow: { cron: "0 4 * * 0", enabled: true, duration: "1h" },
    },
  });
  await newServer(world.client, "pinned", 25575, { ...offRcon, updateStrategy: "pin", version: "9.9.9" });
  const labelled = { metadata: { labels: { name: "survival" } } };
  await world.client.patch(PaperMCServer, { namespace, name: "survival" }, { type: "merge", value: labelled });
  const onSurvival = { instanceSelector: { matchLabels: { name: "survival" } } };
  await newPlugin(world.client, "a");
  await newPlugin(world.client, "b");
  await newPlugin(world.client, "c", { ...onSurvival, updateStrategy: "pin", version: "1.0" });
  await newPlugin(world.client, "unknown");
  await newPlugin(world.client, "elsewhere", {
    source: { type: "url", url: "https://169.254.169.254/latest/meta-data" },
  });
  await eventually(
    () => world.server("survival"),
    ({ status }) => {
      const schedule = findCondition(status?.conditions, "CronScheduleValid");
      assert.equal(schedule?.reason, "InvalidCronExpression");
      assert.match(schedule?.message ?? "", /spec\.updateSchedule\.checkCron: "whenever"/);
    },
  );
  await eventually(
    () => world.server("pinned"),
    ({ status }) =>
      assert.equal(
        findCondition(status?.conditions, "Ready")?.message,
        "Image docker.io/lexfrei/papermc:9.9.9 does not exist; choose another spec.version or spec.build",
      ),
  );
  await eventually(
    () => world.plugin("unknown"),
    ({ status }) => {
      assert.equal(status?.repositoryStatus, "unavailable");
      assert.match(
        findCondition(status.conditions, "Ready")?.message ?? "",
        /There is no project unknown in hangar, see spec\.source\.project: /,
      );
    },
  );
  await eventually(
    () => world.plugin("elsewhere"),
    ({ status }) =>
      assert.match(
        findCondition(status?.conditions, "RepositoryAvailable")?.message ?? "",
        /spec\.source\.url is refused: 169\.254\.169\.254 is not a public address/,
      ),
  );
  await eventually(
    () => world.plugin("a"),
    ({ status }) => {
      const resolved = findCondition(status?.conditions, "VersionResolved");
      assert.equal(resolved?.reason, "DependencyCycle");
      assert.match(resolved?.message ?? "", /a → b → a; pin one of them to a version that does not/);
    },
  );
  await eventually(
    () => world.plugin("c"),
    ({ status }) => {
      const compatible = findCondition(status?.conditions, "Compatible");
      assert.equal(compatible?.reason, "IncompatiblePin");
      assert.equal(
        compatible.message,
        "The pinned 1.0 of c does not fit survival (1.21.1); set its spec.version to one that does, or unpin it",
      );
    },
  );
});

test("of ten thousand versions the newest are known and the pinned one, which the condition says", async (context) => {
  const world = await startMinecraft(context);
  recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
  world.recordings.answers.set(
    "/modrinth/v2/project/prolific/version",
    Array.from({ length: 10_000 }, (_, index) => ({
      version_number: `1.${index}.0`,
      version_type: "release",
      game_versions: ["1.21.1"],
      loaders: ["paper"],
      date_published: "2025-01-01T00:00:00Z",
      files: [{ url: `https://cdn.example.com/${index}.jar`, primary: true, hashes: { sha512: "ab".repeat(64) } }],
    })),
  );
  await newServer(world.client, "survival", 25575, offRcon);
  const source = { type: "modrinth", project: "prolific" } as const;
  await newPlugin(world.client, "newest", { source });
  await eventually(
    () => world.plugin("newest"),
    ({ status }) => {
      assert.equal(status?.resolvedVersion, "1.9999.0");
      assert.equal(status.availableVersions?.length, 500);
      assert.equal(
        findCondition(status.conditions, "RepositoryAvailable")?.message,
        "The newest 500 of 10000 versions are known; to hold an older one, pin it with spec.version",
      );
    },
  );
  await world.client.delete(Plugin, { namespace, name: "newest" });
  await newPlugin(world.client, "older", { source, updateStrategy: "pin", version: "1.7.0" });
  await eventually(
    () => world.plugin("older"),
    ({ status }) => assert.equal(status?.resolvedVersion, "1.7.0"),
  );
});

test("a jar from Modrinth is known with its dependencies by name", async (context) => {
  const world = await startMinecraft(context);
  recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
  const { answers } = world.recordings;
  answers.set("/modrinth/v2/project/bluemap/version", [
    {
      id: "v1",
      version_number: "5.4",
      version_type: "release",
      status: "listed",
      date_published: "2025-01-01T10:00:00.123456Z",
      game_versions: ["1.21.1"],
      loaders: ["paper"],
      files: [{ url: "https://cdn.example.com/b.jar", primary: true, hashes: { sha512: "ab".repeat(64) } }],
      dependencies: [
        { project_id: "P7dR8mSH", version_id: null, dependency_type: "required" },
        { project_id: "gone", version_id: null, dependency_type: "incompatible" },
      ],
    },
    {
      id: "v2",
      version_number: "6.0-beta",
      version_type: "beta",
      status: "listed",
      game_versions: ["1.21.1"],
      files: [{ url: "https://cdn.example.com/c.jar" }],
    },
  ]);
  answers.set("/modrinth/v2/projects", [{ id: "P7dR8mSH", slug: "core-lib" }]);
  await newServer(world.client, "survival", 25575, offRcon);
  await newPlugin(world.client, "bluemap", { source: { type: "modrinth", project: "bluemap" } });
  const { status } = await eventually(
    () => world.plugin("bluemap"),
    (plugin) => assert.equal(plugin.status?.resolvedVersion, "5.4"),
  );
  const newest = status?.availableVersions?.find(({ version }) => version === "5.4");
  assert.deepEqual(newest?.dependencies, [{ project: "core-lib", required: true }]);
  assert.equal(newest?.hash, `sha512:${"ab".repeat(64)}`);
  assert.equal(findCondition(status?.conditions, "VersionResolved")?.reason, "DependencyMissing");
});

test("a jar that names no version is called as its Plugin says, even when the file has not changed", async (context) => {
  const url = "https://jars.example.com/nameless.jar";
  let unchanged = 0;
  const world = await startMinecraft(context, {
    around: (fetch) => async (request) => {
      if (request.target !== url) return fetch(request);
      const isKnown = request.headers["if-none-match"] === '"1"';
      if (isKnown) unchanged++;
      const body = (async function* () {
        if (!isKnown) yield Buffer.from("no archive at all");
      })();
      return { status: isKnown ? 304 : 200, headers: { etag: '"1"' }, body };
    },
  });
  recordPaper(world.recordings, { "1.21.1": [{ id: 133 }] });
  await newServer(world.client, "survival", 25575, offRcon);
  await newPlugin(world.client, "nameless", { source: { type: "url", url } });
  const called = async (version: string, reason: string): Promise<void> => {
    await eventually(
      () => world.plugin("nameless"),
      ({ status }) => {
        assert.equal(status?.resolvedVersion, version);
        assert.equal(findCondition(status.conditions, "VersionResolved")?.reason, reason);
      },
    );
  };
  await called("0.0.0", "FallbackVersion");
  assert.equal(
    findCondition((await world.plugin("nameless")).status?.conditions, "RepositoryAvailable")?.message,
    "1 version is known; whatever is found there is taken, since spec.source.checksum is not set",
  );
  const change = (spec: object): Promise<Plugin> =>
    world.client.patch(Plugin, { namespace, name: "nameless" }, { type: "merge", value: { spec } });
  await change({ version: "3.2" });
  await called("3.2", "Resolved");
  await change({ updateDelay: "0s" });
  await eventually(
    async () => unchanged,
    (count) => assert.ok(count > 0),
  );
  await called("3.2", "Resolved");
});

test("snapshots: asked for, kept in number, made before an update, and awaited", async (context) => {
  const world = await startMinecraft(context);
  const { client, recordings } = world;
  const definition = customResourceDefinition(VolumeSnapshot);
  const approved = { "api-approved.kubernetes.io": "unapproved, for a test" };
  await client.create(CustomResourceDefinition, {
    ...definition,
    metadata: { ...definition.metadata, annotations: approved },
  });
  recordPaper(recordings, { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] });
  const rcon = await startRcon("secret");
  context.after(() => rcon.close());
  await rconSecret(client, "secret");
  await eventually(
    () => client.list(VolumeSnapshot, { namespace }),
    () => undefined,
  );
  await newServer(client, "survival", rcon.port, {
    updateStrategy: "pin",
    version: "1.20.6",
    backup: { enabled: true, beforeUpdate: true, retention: { maxCount: 1 } },
  });
  await eventually(
    () => world.server("survival"),
    ({ status }) => {
      assert.equal(status?.currentVersion, "1.20.6");
      assert.equal(findCondition(status.conditions, "BackupReady")?.status, "True");
    },
  );
  await world.playNode();
  await client.create(PersistentVolumeClaim, {
    metadata: { name: "data-survival-0", namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
  });
  const ask = async (annotation: string, offsetSeconds = 0): Promise<void> => {
    const now = String(Math.floor(systemEnv.now().getTime() / 1_000) - offsetSeconds);
    const value = { metadata: { annotations: { [annotation]: now } } };
    await client.patch(PaperMCServer, { namespace, name: "survival" }, { type: "merge", value });
  };
  await ask(annotations.backupNow, 3_600);
  await eventually(
    () => world.server("survival"),
    ({ metadata }) => assert.equal(metadata.annotations?.[annotations.backupNow], undefined),
  );
  assert.equal((await client.list(VolumeSnapshot, { namespace })).items.length, 0, "an old request does nothing");
  await ask(annotations.backupNow);
  await eventually(
    () => client.list(VolumeSnapshot, { namespace }),
    ({ items }) => {
      assert.equal(items.length, 1);
      assert.equal(items[0]?.metadata.labels?.[labels.backupTrigger], "manual");
      assert.equal(items[0]?.metadata.ownerReferences, undefined);
    },
  );
  // The console is told to save again only after the snapshot is there.
  await eventually(
    async () => rcon.commands,
    (commands) => assert.deepEqual(commands, ["save-all flush", "save-off", "save-on"]),
  );
  await eventually(
    () => world.server("survival"),
    ({ status }) => assert.equal(status?.backup?.lastBackup?.trigger, "manual"),
  );

  await client.patch(
    PaperMCServer,
    { namespace, name: "survival" },
    { type: "merge", value: { spec: { updateStrategy: "auto", version: null } } },
  );
  await eventually(
    () => world.server("survival"),
    (server) => assert.equal(server.status?.availableUpdate?.version, "1.21.1"),
  );
  await ask(annotations.applyNow);
  const made = await eventually(
    () => client.list(VolumeSnapshot, { namespace, labelSelector: `${labels.backupTrigger}=before-update` }),
    ({ items }) => assert.equal(items.length, 1),
  );
  assert.equal((await world.server("survival")).status?.updateProgress?.step, "backup");
  const name = made.items[0]?.metadata.name ?? "";
  await eventually(
    () => world.server("survival"),
    ({ status }) => {
      assert.equal(status?.updateProgress?.snapshotName, name);
      assert.equal(status.backup?.lastBackup?.trigger, "before-update");
      // The older one made room.
      assert.equal(status.backup.backupCount, 1);
    },
  );
  assert.deepEqual(
    (await client.list(VolumeSnapshot, { namespace })).items.map(({ metadata }) => metadata.name),
    [name],
  );
  await client.patch(
    VolumeSnapshot,
    { namespace, name },
    { type: "merge", value: { status: { readyToUse: true } } },
    { subresource: "status" },
  );
  // Any change of the server is a reason to look again, before the time for it has come.
  await client.patch(
    PaperMCServer,
    { namespace, name: "survival" },
    { type: "merge", value: { metadata: { labels: { looked: "at" } } } },
  );
  await eventually(
    () => world.server("survival"),
    ({ status }) => {
      assert.equal(status?.updateProgress?.step, "verify");
      assert.notEqual(status.backup?.lastBackup?.completedAt, undefined);
    },
  );
  await world.playNode();
  await eventually(
    () => world.server("survival"),
    (server) => assert.equal(server.status?.lastUpdate?.successful, true),
  );
});

function reply(status: number, body: string, headers: Record<string, string> = {}) {
  return (_: URLSearchParams, response: ServerResponse): typeof handled => {
    response.writeHead(status, headers).end(body);
    return handled;
  };
}

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import { systemEnv } from "../../env/system.ts";
import { installed, plugin, server } from "./example-fleet.ts";
import { createFleetExplainer } from "./explain-fleet.ts";
import { tagOf } from "./server-choices.ts";
import { type FleetAnswer, solveFleet } from "./solve-fleet.ts";
import { pluginVerdict, serverVerdict } from "./verdict.ts";

const now = new Date("2026-01-15T00:00:00Z");
const env = systemEnv;

async function answerOf(servers: readonly PaperMCServer[], plugins: readonly Plugin[] = []): Promise<FleetAnswer> {
  const answer = await solveFleet({ servers, plugins, now }, { env });
  assert.ok(answer?.proven);
  return answer;
}

/** `survival 1.20.4`, `essentialsx 2.21.0`, or `-` where nothing was chosen. */
function chosen({ servers, plugins }: FleetAnswer): Record<string, string> {
  return Object.fromEntries([
    ...[...servers.values()].map(({ name, chosen: choice }) => [name, choice ? tagOf(choice) : "-"]),
    ...[...plugins.values()].map(({ name, chosen: choice }) => [name, choice?.version ?? "-"]),
  ]);
}

async function verdictOf(answer: FleetAnswer, name: string): Promise<ReturnType<typeof serverVerdict>> {
  const explainer = createFleetExplainer(answer, { env });
  try {
    const found = answer.servers.get(name);
    assert.ok(found);
    return serverVerdict(found, answer, await explainer.server(name));
  } finally {
    explainer.dispose();
  }
}

const paper = ["1.21.4", "1.21.1", "1.20.6", "1.20.4"];
const scenario = (essentials: readonly string[]): [PaperMCServer[], Plugin[]] => [
  [server("survival", { current: "1.20.4", paper })],
  [
    plugin("essentialsx", { versions: { "2.21.0": essentials, "2.20.1": ["1.19.4", "1.20.4"] } }),
    plugin("old-plugin", { versions: { "1.5.0": ["1.20.4", "1.20.6"] } }),
  ],
];

test("the specification's scenario with its lists as printed: 1.20.4, since no plugin list has 1.20.6 twice", async () => {
  const answer = await answerOf(...scenario(["1.20.4", "1.21.1"]));
  assert.deepEqual(chosen(answer), { survival: "1.20.4", essentialsx: "2.21.0", "old-plugin": "1.5.0" });
  const { blocked } = await verdictOf(answer, "survival");
  assert.equal(
    blocked.reason,
    "Plugin 'essentialsx' is incompatible with Paper 1.20.6, 1.21.4; plugin 'old-plugin' is incompatible with Paper 1.21.1, 1.21.4",
  );
  assert.deepEqual(blocked.blockedBy, {
    plugin: "essentialsx",
    version: "2.21.0",
    supportedVersions: ["1.21.1", "1.20.4", "1.19.4"],
  });
});

test("the scenario with 1.20.6 added to the list, as its story tells it: 1.20.6", async () => {
  const answer = await answerOf(...scenario(["1.20.4", "1.20.6", "1.21.1"]));
  assert.deepEqual(chosen(answer), { survival: "1.20.6", essentialsx: "2.21.0", "old-plugin": "1.5.0" });
  const { blocked } = await verdictOf(answer, "survival");
  assert.deepEqual(blocked, {
    blocked: true,
    reason: "Plugin 'old-plugin' is incompatible with Paper 1.21.1, 1.21.4",
    blockedBy: { plugin: "old-plugin", version: "1.5.0", supportedVersions: ["1.20.6", "1.20.4"] },
  });
});

/** Cases where choosing one object after the other finds nothing, or something worse. */
const corpus: readonly {
  readonly name: string;
  readonly servers: readonly PaperMCServer[];
  readonly plugins: readonly Plugin[];
  readonly expected: Record<string, string>;
}[] = [
  {
    name: "two servers share a plugin: the newest of each alone leaves it no version that fits both",
    servers: [
      server("a", { current: "1.20", paper: ["1.21", "1.20"] }),
      server("b", { current: "1.19", paper: ["1.20", "1.19"] }),
    ],
    plugins: [plugin("p", { versions: { "2": ["1.21"], "1": ["1.20", "1.19"] } })],
    expected: { a: "1.20", b: "1.20", p: "1" },
  },
  {
    name: "a dependency forbids what each plugin alone would allow",
    servers: [server("s", { current: "1.20", paper: ["1.21", "1.20"] })],
    plugins: [
      plugin("addon", {
        versions: {
          "2": { minecraftVersions: ["1.21"], dependencies: [{ project: "core", required: true, version: "1.0" }] },
          "1": ["1.20"],
        },
      }),
      plugin("core", { versions: { "2.0": ["1.21"], "1.0": ["1.20"] } }),
    ],
    expected: { s: "1.20", addon: "1", core: "1.0" },
  },
  {
    name: "a plugin goes down one version so that the server can go up",
    servers: [server("s", { current: "1.20", paper: ["1.21", "1.20"] })],
    plugins: [plugin("p", { versions: { "3": ["1.20"], "2": ["1.20", "1.21"], "1": ["1.20"] } })],
    expected: { s: "1.21", p: "2" },
  },
  {
    name: "servers that are linked through a chain of plugins settle together",
    servers: [
      server("a", { current: "1.19", paper: ["1.21", "1.20", "1.19"] }),
      server("b", { current: "1.19", paper: ["1.21", "1.20", "1.19"] }),
      server("c", { current: "1.19", paper: ["1.21", "1.20", "1.19"] }),
    ],
    plugins: [
      plugin("ab", { on: ["a", "b"], versions: { "2": ["1.21", "1.20"], "1": ["1.19"] } }),
      plugin("bc", { on: ["b", "c"], versions: { "2": ["1.20"], "1": ["1.19"] } }),
    ],
    expected: { a: "1.21", b: "1.20", c: "1.20", ab: "2", bc: "2" },
  },
  {
    name: "the server that comes first by name wins where two want different things of one plugin",
    servers: [
      server("first", { current: "1.19", paper: ["1.21", "1.19"] }),
      server("second", { current: "1.19", paper: ["1.20", "1.19"] }),
    ],
    plugins: [plugin("p", { versions: { "3": ["1.21", "1.19"], "2": ["1.20", "1.19"], "1": ["1.19"] } })],
    expected: { first: "1.21", second: "1.19", p: "3" },
  },
  {
    name: "a plugin that is installed never goes back, even if its server could go further with an older one",
    servers: [server("s", { current: "1.20", paper: ["1.21", "1.20"], plugins: [installed("p", "3")] })],
    plugins: [plugin("p", { versions: { "3": ["1.20"], "2": ["1.20", "1.21"] } })],
    expected: { s: "1.20", p: "3" },
  },
];

for (const { name, servers, plugins, expected } of corpus) {
  test(`joint optimum: ${name}`, async () => {
    assert.deepEqual(chosen(await answerOf(servers, plugins)), expected);
  });
}

const delayed = {
  "2.21.0": "2026-01-14T00:00:00Z",
  "2.20.1": "2026-01-05T00:00:00Z",
  "2.20.0": "2025-12-20T00:00:00Z",
};
const delays: readonly { readonly delay: string; readonly expected: string }[] = [
  { delay: "168h", expected: "2.20.1" },
  { delay: "24h", expected: "2.20.1" },
  { delay: "23h59m59s", expected: "2.21.0" },
  { delay: "0s", expected: "2.21.0" },
  { delay: "480h", expected: "2.20.0" },
];
for (const { delay, expected } of delays) {
  test(`updateDelay ${delay} on January 15th takes ${expected}`, async () => {
    const versions = Object.fromEntries(
      Object.entries(delayed).map(([version, releasedAt]) => [version, { releasedAt, minecraftVersions: ["1.20.4"] }]),
    );
    const answer = await answerOf(
      [server("s", { current: "1.20.4", paper: ["1.20.4"] })],
      [plugin("p", { versions, spec: { updateDelay: delay } })],
    );
    assert.equal(answer.plugins.get("p")?.chosen?.version, expected);
  });
}

test("a server's updateDelay holds back young builds, and says that it is the server's own doing", async () => {
  const young = { version: "1.21.4", build: 9, releasedAt: "2026-01-14T00:00:00Z" };
  const old = { version: "1.21.4", build: 7, releasedAt: "2025-12-01T00:00:00Z" };
  const answer = await answerOf([
    server("s", { current: "1.21.1", build: 3, paper: [young, old], spec: { updateDelay: "168h" } }),
  ]);
  assert.deepEqual(chosen(answer), { s: "1.21.4-7" });
  const { blocked, summary } = await verdictOf(answer, "s");
  assert.deepEqual(blocked, { blocked: false });
  assert.equal(summary, "goes to 1.21.4-7; not newer: server 's' waits 168h before it takes a release");
});

const strategies: readonly {
  readonly name: string;
  readonly server: PaperMCServer;
  readonly plugins?: readonly Plugin[];
  readonly expected: string;
  readonly reason?: string;
}[] = [
  {
    name: "latest ignores plugins",
    server: server("s", { current: "1.20.4", paper, spec: { updateStrategy: "latest" } }),
    plugins: [plugin("p", { versions: { "1": ["1.20.4"] } })],
    expected: "1.21.4",
  },
  {
    name: "pin holds the version and takes its newest build",
    server: server("s", {
      current: "1.20.4",
      build: 1,
      paper: [
        { version: "1.21.4", build: 9 },
        { version: "1.20.4", build: 5 },
        { version: "1.20.4", build: 4 },
      ],
      spec: { updateStrategy: "pin", version: "1.20.4" },
    }),
    expected: "1.20.4-5",
  },
  {
    name: "pin with a build takes no older build",
    server: server("s", {
      paper: [
        { version: "1.20.4", build: 5, imageAvailable: false },
        { version: "1.20.4", build: 3 },
      ],
      spec: { updateStrategy: "pin", version: "1.20.4", build: 4 },
    }),
    expected: "-",
    reason: "Image docker.io/lexfrei/papermc:1.20.4-4 does not exist; choose another spec.version or spec.build",
  },
  {
    name: "build-pin holds exactly one build",
    server: server("s", {
      paper: [
        { version: "1.21.4", build: 9 },
        { version: "1.21.4", build: 7 },
      ],
      spec: { updateStrategy: "build-pin", version: "1.21.4", build: 7 },
    }),
    expected: "1.21.4-7",
  },
  {
    name: "a pin that nobody knows is refused with the way out",
    server: server("s", { paper, spec: { updateStrategy: "pin", version: "9.9.9" } }),
    expected: "-",
    reason: "Image docker.io/lexfrei/papermc:9.9.9 does not exist; choose another spec.version or spec.build",
  },
  {
    name: "a build-pin without an image keeps what runs",
    server: server("s", {
      current: "1.21.1",
      build: 3,
      paper,
      spec: { updateStrategy: "build-pin", version: "1.21.4", build: 99 },
    }),
    expected: "1.21.1-3",
    reason: "Image docker.io/lexfrei/papermc:1.21.4-99 does not exist",
  },
  {
    name: "a pin counts even when nobody could be asked",
    server: server("s", { paper: [], spec: { updateStrategy: "build-pin", version: "1.21.4", build: 7 } }),
    expected: "1.21.4-7",
  },
  {
    name: "a pin below what runs is refused",
    server: server("s", { current: "1.21.1", paper, spec: { updateStrategy: "pin", version: "1.20.4" } }),
    expected: "1.21.1",
    reason: "Downgrade not allowed: current=1.21.1, candidate=1.20.4",
  },
  {
    name: "a pin that a plugin cannot follow waits at the current version",
    server: server("s", { current: "1.20.4", paper, spec: { updateStrategy: "pin", version: "1.21.4" } }),
    plugins: [plugin("p", { versions: { "1": ["1.20.4"] } })],
    expected: "1.20.4",
    reason: "Plugin 'p' is incompatible with Paper 1.21.4",
  },
  {
    name: "pre-releases, unfinished channels and versions without an image are never chosen",
    server: server("s", {
      current: "1.20.4",
      paper: [
        "26.2-rc-2",
        { version: "26.1", build: 3, channel: "ALPHA" },
        { version: "1.21.4", build: 9, imageAvailable: false },
        { version: "1.21.1", build: 2, channel: "STABLE" },
      ],
    }),
    expected: "1.21.1-2",
  },
  {
    name: "the year-based scheme is newer than 1.21",
    server: server("s", { current: "1.21.11", paper: ["26.1", "1.21.11", "26.1.2"] }),
    expected: "26.1.2",
  },
  {
    name: "a server whose every version is too young has none yet",
    server: server("s", {
      paper: [{ version: "1.21.4", build: 9, releasedAt: "2026-01-14T00:00:00Z" }],
      spec: { updateDelay: "168h" },
    }),
    expected: "-",
    reason: "Every known version is younger than updateDelay 168h; 1.21.4-9 is old enough first",
  },
  {
    name: "nobody could be asked, and nothing is known",
    server: { ...server("s", { paper: [] }), status: { repositoryStatus: "unavailable" } },
    expected: "-",
    reason: "No version of Paper is known, because nobody could be asked; the event RepositoryUnavailable says why",
  },
];
for (const { name, server: one, plugins = [], expected, reason } of strategies) {
  test(`server: ${name}`, async () => {
    const answer = await answerOf([one], plugins);
    assert.equal(chosen(answer)["s"], expected);
    if (reason !== undefined) assert.equal((await verdictOf(answer, "s")).blocked.reason, reason);
  });
}

const onOne = [server("s", { current: "1.20.4", paper: ["1.21.1", "1.20.4"] })];
const pluginCases: readonly {
  readonly name: string;
  readonly servers?: readonly PaperMCServer[];
  readonly plugins: readonly Plugin[];
  readonly expected: Record<string, string>;
  readonly resolved?: string;
  readonly compatible?: string;
  readonly message?: RegExp;
}[] = [
  {
    name: "auto is latest",
    plugins: [plugin("p", { versions: { "2": ["1.21.1"], "1": ["1.20.4"] }, spec: { updateStrategy: "auto" } })],
    expected: { s: "1.21.1", p: "2" },
    compatible: "AllServersCompatible",
  },
  {
    name: "a pin holds its server back",
    plugins: [
      plugin("p", {
        versions: { "2": ["1.21.1"], "1": ["1.20.4"] },
        spec: { updateStrategy: "pin", version: "1" },
      }),
    ],
    expected: { s: "1.20.4", p: "1" },
  },
  {
    name: "a pin takes the newest build of its version, a build-pin the one",
    plugins: [
      plugin("p", {
        versions: { "1.0+7": [], "1.0+8": [], "1.1+1": [] },
        spec: { updateStrategy: "pin", version: "1.0" },
      }),
      plugin("q", {
        versions: { "1.0+7": [], "1.0+8": [] },
        spec: { updateStrategy: "build-pin", version: "1.0", build: 7 },
      }),
    ],
    expected: { s: "1.21.1", p: "1.0+8", q: "1.0+7" },
  },
  {
    name: "a pin that is not known is said so",
    plugins: [plugin("p", { versions: { "1": [] }, spec: { updateStrategy: "pin", version: "9" } })],
    expected: { s: "1.20.4", p: "-" },
    resolved: "NoVersions",
    compatible: "IncompatiblePin",
    message: /spec\.version 9 of p is not among the known versions/,
  },
  {
    name: "no metadata means compatible, said openly",
    plugins: [plugin("p", { versions: { "1": [] } })],
    expected: { s: "1.21.1", p: "1" },
    compatible: "CompatibilityAssumed",
  },
  {
    name: "an override counts instead of the repository, with patterns",
    plugins: [
      plugin("p", {
        versions: { "1": ["1.8"] },
        spec: { compatibilityOverride: { enabled: true, minecraftVersions: ["1.21.x"] } },
      }),
    ],
    servers: [server("s", { current: "1.21", paper: ["1.21.1", "1.21"] })],
    expected: { s: "1.21.1", p: "1" },
    compatible: "OverrideApplied",
  },
  {
    name: "nothing fits: what is installed stays, and so does the server",
    plugins: [plugin("p", { versions: { "1": ["1.8"] } })],
    expected: { s: "1.20.4", p: "-" },
    resolved: "NoVersions",
    compatible: "NoCompatibleVersion",
    message: /No version fits all servers; none is installed/,
  },
  {
    name: "nothing new fits, but what is installed supports a newer server",
    servers: [
      server("s", { current: "1.20.4", paper: ["1.21.1", "1.20.4"], plugins: [installed("p", "1")] }),
      server("t", { current: "1.19", paper: ["1.19"] }),
    ],
    plugins: [plugin("p", { versions: { "1": ["1.20.4", "1.21.1"] } })],
    expected: { s: "1.21.1", t: "1.19", p: "-" },
  },
  {
    name: "unfinished channels count only where there is nothing else",
    plugins: [
      plugin("p", { versions: { "2": { channel: "Snapshot" }, "1": { channel: "Release" } } }),
      plugin("q", { versions: { "2": { channel: "Beta" } } }),
    ],
    expected: { s: "1.21.1", p: "1", q: "2" },
  },
  {
    name: "one project, one latest: one version for all, and the pin gives way",
    servers: [
      server("s", { current: "1.20.4", paper: ["1.20.4"] }),
      server("t", { current: "1.20.4", paper: ["1.20.4"] }),
    ],
    plugins: [
      plugin("p", { on: ["s"], versions: { "2": [], "1": [] } }),
      plugin("q", {
        on: ["t"],
        versions: { "2": [], "1": [] },
        spec: { source: { type: "hangar", project: "Owner/P" }, updateStrategy: "pin", version: "1" },
      }),
    ],
    expected: { s: "1.20.4", t: "1.20.4", p: "2", q: "2" },
  },
  {
    name: "one project, all pinned: the highest wins with a warning",
    servers: [
      server("s", { current: "1.20.4", paper: ["1.20.4"] }),
      server("t", { current: "1.20.4", paper: ["1.20.4"] }),
    ],
    plugins: [
      plugin("p", { on: ["s"], versions: { "10": [], "9": [] }, spec: { updateStrategy: "pin", version: "9" } }),
      plugin("q", {
        on: ["t"],
        versions: { "10": [], "9": [] },
        spec: { source: { type: "hangar", project: "p" }, updateStrategy: "pin", version: "10" },
      }),
    ],
    expected: { s: "1.20.4", t: "1.20.4", p: "10", q: "10" },
    resolved: "HighestPinChosen",
    message: /highest pin of this project wins, over p/,
  },
  {
    name: "a missing dependency blocks nothing and names what to add",
    plugins: [plugin("p", { versions: { "1": { dependencies: [{ project: "Vault", required: true }] } } })],
    expected: { s: "1.21.1", p: "1" },
    resolved: "DependencyMissing",
    message: /1 needs Vault, which no Plugin brings to s/,
  },
  {
    name: "plugins that need each other are named",
    plugins: [
      plugin("p", { versions: { "1": { dependencies: [{ project: "q", required: true }] } } }),
      plugin("q", { versions: { "1": { dependencies: [{ project: "p", required: true }] } } }),
    ],
    expected: { s: "1.21.1", p: "1", q: "1" },
    resolved: "DependencyCycle",
    message: /p → q → p/,
  },
  {
    name: "a range in a dependency is kept",
    plugins: [
      plugin("p", { versions: { "1": { dependencies: [{ project: "q", required: true, version: "^1.2" }] } } }),
      plugin("q", { versions: { "1.1.0": [], "1.3.0": [], "2.0.0": [] } }),
    ],
    expected: { s: "1.21.1", p: "1", q: "1.3.0" },
  },
  {
    name: "an invalid selector disturbs nobody else",
    plugins: [
      plugin("p", { versions: { "1": [] }, spec: { instanceSelector: { matchLabels: { "not a key!": "x" } } } }),
      plugin("q", { versions: { "1": [] } }),
    ],
    expected: { s: "1.21.1", p: "-", q: "1" },
    resolved: "InvalidSelector",
  },
  {
    name: "a plugin that was never asked for keeps its server where it is",
    plugins: [{ ...plugin("p", { versions: {} }), status: {} }],
    expected: { s: "1.20.4", p: "-" },
    resolved: "NoVersions",
  },
  {
    name: "a repository that is down without a cache does not hold the server",
    plugins: [plugin("p", { versions: {}, status: { repositoryStatus: "unavailable" } })],
    expected: { s: "1.21.1", p: "-" },
    resolved: "Unavailable",
    compatible: "CompatibilityAssumed",
  },
  {
    name: "a plugin of a server on latest fits its version, or stays as it is",
    servers: [server("s", { current: "1.20.4", paper: ["1.21.1"], spec: { updateStrategy: "latest" } })],
    plugins: [
      plugin("p", { versions: { "1": ["1.20.4"] } }),
      plugin("q", { versions: { "2": ["1.20.4"], "1": ["1.21.1"] } }),
    ],
    expected: { s: "1.21.1", p: "-", q: "1" },
    compatible: "NoCompatibleVersion",
  },
];
for (const { name, servers = onOne, plugins, expected, resolved, compatible, message } of pluginCases) {
  test(`plugin: ${name}`, async () => {
    const answer = await answerOf(servers, plugins);
    assert.deepEqual(chosen(answer), expected);
    const first = answer.plugins.get("p") ?? answer.plugins.values().next().value;
    assert.ok(first);
    const verdict = pluginVerdict(first, answer);
    if (resolved !== undefined) assert.equal(verdict.resolved.reason, resolved);
    if (compatible !== undefined) assert.equal(verdict.compatible.reason, compatible);
    if (message !== undefined) assert.match(verdict.resolved.message, message);
  });
}

test("a server that waits for one plugin says nothing against another one", async () => {
  const answer = await answerOf(
    [server("s", { paper: ["1.21.1", "1.20.4"] })],
    [plugin("p", { versions: { "1": ["1.20.4"] } }), { ...plugin("q", { versions: {} }), status: {} }],
  );
  assert.deepEqual(chosen(answer), { s: "-", p: "1", q: "-" });
  assert.deepEqual((await verdictOf(answer, "s")).compatible, {
    status: "True",
    reason: "CompatibilityAssumed",
    message: "No version is chosen yet, so nothing can be said against the plugins",
  });
});

test("ten thousand versions of one plugin are solved in no time", async () => {
  const versions = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`1.${index}.0`, ["1.20.4"]]));
  const started = performance.now();
  const answer = await answerOf(onOne, [plugin("p", { versions, spec: { updateDelay: "1h" } })]);
  assert.deepEqual(chosen(answer), { s: "1.20.4", p: "1.9999.0" });
  assert.ok(performance.now() - started < 5_000);
});

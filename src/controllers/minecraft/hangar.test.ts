import assert from "node:assert/strict";
import { test } from "node:test";
import { manualEnv } from "../../testing/manual-env.ts";
import { hangarReleases } from "./hangar.ts";
import { createOutside } from "./outside.ts";
import type { PluginRelease } from "./plugin-release.ts";

const base = "https://hangar.example.com/api/v1";

/** Everything that Hangar is asked for about a project, and the answer read. */
async function ask(project: string, entries: readonly object[], owner = "Owner") {
  const asked: { readonly path: string; readonly userAgent: string | undefined }[] = [];
  const outside = createOutside({
    env: manualEnv(),
    userAgent: "capstan (+https://capstan.dev)",
    fetch: async ({ target, headers }) => {
      const { pathname, search } = new URL(target);
      asked.push({ path: `${pathname.replace("/api/v1/projects", "")}${search}`, userAgent: headers["user-agent"] });
      const isList = pathname.endsWith("/versions");
      const value = isList
        ? { pagination: { count: entries.length, limit: 25, offset: 0 }, result: entries }
        : { id: 1, name: project, namespace: { owner, slug: project } };
      const body = (async function* () {
        yield Buffer.from(JSON.stringify(value));
      })();
      return { status: 200, headers: {}, body };
    },
  });
  return { releases: await hangarReleases(project, base, outside), asked };
}

const hash = "ab".repeat(32);
const own = {
  fileInfo: { name: "a.jar", sizeBytes: 1, sha256Hash: hash },
  externalUrl: null,
  downloadUrl: "https://cdn.example.com/a.jar",
};
const full = {
  name: "2.0",
  createdAt: "2025-01-15T10:05:23.123Z",
  visibility: "public",
  channel: { name: "Release", flags: [] },
  downloads: { PAPER: own, VELOCITY: own },
  pluginDependencies: {
    PAPER: [
      { name: "Vault", required: true },
      { name: "Maps", required: false },
    ],
  },
  platformDependencies: { PAPER: ["1.20.4", "1.21.x"] },
  gameVersions: ["1.0"],
};

const cases: readonly {
  readonly name: string;
  readonly entry: object;
  readonly reads: Partial<Record<keyof PluginRelease, unknown>> | undefined;
}[] = [
  {
    name: "a version with all that Hangar says",
    entry: full,
    reads: {
      version: "2.0",
      minecraftVersions: ["1.20.4", "1.21.x"],
      downloadURL: "https://cdn.example.com/a.jar",
      hash,
      channel: "Release",
      dependencies: [
        { project: "Vault", required: true },
        { project: "Maps", required: false },
      ],
    },
  },
  {
    name: "game versions, where it says nothing of Paper's",
    entry: { ...full, platformDependencies: {} },
    reads: { minecraftVersions: ["1.0"] },
  },
  {
    name: "nothing of what it supports",
    entry: { ...full, platformDependencies: {}, gameVersions: [] },
    reads: { minecraftVersions: [] },
  },
  {
    name: "a file on somebody else's site",
    entry: {
      ...full,
      downloads: { PAPER: { fileInfo: null, downloadUrl: null, externalUrl: "https://git.example/a.jar" } },
    },
    reads: { downloadURL: "https://git.example/a.jar", hash: "" },
  },
  {
    name: "a page on somebody else's site, instead of which Hangar itself is asked",
    entry: {
      ...full,
      downloads: { PAPER: { fileInfo: null, downloadUrl: null, externalUrl: "https://git.example/page" } },
    },
    reads: { downloadURL: `${base}/projects/Owner/homes/versions/2.0/PAPER/download` },
  },
  {
    name: "a channel whose flag says that it is not for everybody",
    entry: { ...full, channel: { name: "Early", flags: ["UNSTABLE"] } },
    reads: { channel: "Early (pre-release)" },
  },
  {
    name: "a version for another platform only",
    entry: { ...full, downloads: { VELOCITY: own }, platformDependencies: { VELOCITY: ["3.3"] } },
    reads: undefined,
  },
  { name: "a version that is hidden", entry: { ...full, visibility: "softDelete" }, reads: undefined },
];
for (const { name, entry, reads } of cases)
  test(`from Hangar: ${name}`, async () => {
    const { releases } = await ask("homes", [entry]);
    if (reads === undefined) return assert.deepEqual(releases, []);
    for (const [field, value] of Object.entries(reads))
      assert.deepEqual(releases[0]?.[field as keyof PluginRelease], value, field);
  });

test("a project is found by its slug, or by owner and slug without a question for it", async () => {
  const page = "/versions?limit=25&offset=0";
  const bySlug = await ask("homes", [full]);
  assert.deepEqual(
    bySlug.asked.map(({ path }) => path),
    ["/homes", `/Owner/homes${page}`],
  );
  const byBoth = await ask("Some One/homes", [full]);
  assert.deepEqual(
    byBoth.asked.map(({ path }) => path),
    [`/Some%20One/homes${page}`],
  );
  for (const { userAgent } of [...bySlug.asked, ...byBoth.asked])
    assert.equal(userAgent, "capstan (+https://capstan.dev)", "PaperMC wants to know who asks");
});

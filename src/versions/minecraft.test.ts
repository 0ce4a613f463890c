import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { casesFile } from "../../test/conformance/semver.ts";
import { compareMinecraftVersions, coversMinecraftVersion, isRelease, parseMinecraftVersion } from "./minecraft.ts";
import { comparePluginVersions } from "./plugin-version.ts";

const compare = (a: string, b: string): number =>
  compareMinecraftVersions(parseMinecraftVersion(a), parseMinecraftVersion(b));

test("versions of every era are ordered as they came out", () => {
  const ordered = [
    "25w14a",
    "1.8.8",
    "1.13-pre7",
    "1.13",
    "1.14.2 Pre-Release 4",
    "1.14.2",
    "1.21",
    "1.21.4-123",
    "1.21.4-403",
    "1.21.9-pre4",
    "1.21.9-pre10",
    "1.21.9-rc1",
    "1.21.9",
    "1.21.11-rc3",
    "1.21.11",
    "26.1-snapshot-9",
    "26.1-snapshot-10",
    "26.1-pre-1",
    "26.1-rc-2",
    "26.1",
    "26.1.2",
    "26.2",
  ];
  assert.deepEqual([...ordered].reverse().sort(compare), ordered);
});

test("a missing patch is zero, and only releases are releases", () => {
  assert.equal(compare("1.21", "1.21.0"), 0);
  assert.ok(isRelease(parseMinecraftVersion("26.1")));
  for (const text of ["26.1-rc-2", "25w14a", "3D Shareware v1.34", "1.RV-Pre1", ""])
    assert.ok(!isRelease(parseMinecraftVersion(text)), text);
});

test("entries of a compatibility list cover what their authors mean", () => {
  const cases: readonly (readonly [entry: string, version: string, covers: boolean])[] = [
    ["1.21", "1.21.0", true],
    ["1.21", "1.21.1", false],
    ["1.21.x", "1.21", true],
    ["1.21.x", "1.21.11", true],
    ["1.21.*", "1.22", false],
    ["1.21.x", "1.21.11-rc3", false],
    ["1.x", "1.8.8", true],
    ["1.x", "26.1", false],
    ["1.19.4-1.20.6", "1.20.4", true],
    ["1.19.4 - 1.20.6", "1.21", false],
    ["1.21.4", "1.21.4-123", true],
    ["26.2-rc-2", "26.2-rc-2", true],
    ["26.2", "26.2-rc-2", false],
    ["nonsense", "1.21", false],
  ];
  for (const [entry, version, covers] of cases) {
    assert.equal(coversMinecraftVersion(entry, parseMinecraftVersion(version)), covers, `${entry} ${version}`);
  }
});

const known = casesFile("minecraft-versions.json");

test("every known version has its place", { skip: existsSync(known) ? false : `${known} is absent` }, () => {
  const { paper, vanilla } = JSON.parse(readFileSync(known, "utf8")) as {
    paper: Record<string, number[]>;
    vanilla: string[];
  };
  const numbered = Object.keys(paper).filter((text) => parseMinecraftVersion(text).kind === "numbered");
  assert.equal(numbered.length, Object.keys(paper).length, "every version of Paper is numbered");
  const odd = vanilla.filter((text) => parseMinecraftVersion(text).kind === "other");
  assert.ok(odd.length <= 13, `more than the thirteen odd names cannot be read: ${odd.join(", ")}`);
  const sorted = [...vanilla].sort(compare);
  for (let index = 1; index < sorted.length; index++)
    assert.ok(compare(sorted[index - 1] ?? "", sorted[index] ?? "") <= 0);
});

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(..."0123456789.-xwabprcev SNAPHOT"), maxLength: 14 }),
  fc.constantFrom(
    "1.21",
    "1.21.0",
    "26.1",
    "25w14a",
    "1.0-beta",
    "1.0",
    "v1.0.0",
    "1.0.1",
    "1-hotfix",
    "1.0-rc.1",
    "1.0 Final",
  ),
);

for (const [name, order] of [
  ["Minecraft", compare],
  ["plugin", comparePluginVersions],
] as const) {
  test(`the order of ${name} versions is total for any text`, () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (a, b, c) => {
        assert.equal(Math.sign(order(a, b)) + Math.sign(order(b, a)), 0);
        assert.equal(order(a, a), 0);
        if (order(a, b) <= 0 && order(b, c) <= 0) assert.ok(order(a, c) <= 0, `${a} ${b} ${c}`);
      }),
      { numRuns: 3_000 },
    );
  });
}

test("plugin versions are ordered as their authors mean them", () => {
  const ordered = [
    "1.0-SNAPSHOT",
    "1.0-alpha.2",
    "1.0-beta-01",
    "1.0-beta-2",
    "1.0-rc1",
    "1.0.0",
    "1.0-hotfix",
    "1.0.1",
    "v1.1",
    "1.10",
    "2.20.1",
    "2.21.0-dev+5",
    "2.21.0",
  ];
  assert.deepEqual([...ordered].reverse().sort(comparePluginVersions), ordered);
});

const peers = casesFile("npm-peers.json");

test("plugin versions of real packages sort by their numbers", {
  skip: existsSync(peers) ? false : `${peers} is absent`,
}, () => {
  const { packages } = JSON.parse(readFileSync(peers, "utf8")) as {
    packages: Record<string, (readonly [string, unknown])[]>;
  };
  for (const versions of Object.values(packages)) {
    const releases = versions.map(([version]) => version).filter((version) => /^[0-9]+\.[0-9]+\.[0-9]+$/.test(version));
    const byNumbers = [...releases].sort((a, b) => {
      const [x, y] = [a.split(".").map(Number), b.split(".").map(Number)];
      return (x[0] ?? 0) - (y[0] ?? 0) || (x[1] ?? 0) - (y[1] ?? 0) || (x[2] ?? 0) - (y[2] ?? 0);
    });
    assert.deepEqual([...releases].sort(comparePluginVersions), byNumbers);
  }
});

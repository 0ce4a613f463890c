import assert from "node:assert/strict";
import { test } from "node:test";
import { plugin } from "../version-solver/example-fleet.ts";
import { mergePluginFacts, type PluginFacts } from "./plugin-facts.ts";
import type { PluginRelease } from "./plugin-release.ts";

const now = new Date("2026-01-15T00:00:00Z");
const release = (version: string): PluginRelease => ({ version, minecraftVersions: [], downloadURL: "", hash: "" });
const newer = Array.from({ length: 600 }, (_, index) => release(`9.${index}`));

const kept: readonly {
  readonly name: string;
  readonly pin?: string;
  readonly old: readonly string[];
  readonly expected: readonly string[];
}[] = [
  { name: "nothing old without a pin", old: ["1.0"], expected: [] },
  { name: "what is pinned", pin: "1.0", old: ["1.0", "1.1"], expected: ["1.0"] },
  {
    name: "every build of what is pinned, and no other version",
    pin: "1.0",
    old: ["1.0+7", "1.0-b8", "1.0.1", "1.00"],
    expected: ["1.0-b8", "1.0+7"],
  },
];
for (const { name, pin, old, expected } of kept)
  test(`of many versions, besides the newest are kept: ${name}`, () => {
    const one = plugin("p", { versions: {}, spec: pin === undefined ? {} : { updateStrategy: "pin", version: pin } });
    const { status } = mergePluginFacts(one, { kind: "Fetched", releases: [...newer, ...old.map(release)] }, now);
    const versions = (status.availableVersions ?? []).map(({ version }) => version);
    assert.equal(versions[0], "9.599");
    assert.deepEqual(versions.slice(500).sort(), [...expected].sort());
  });

const outcomes: readonly {
  readonly name: string;
  readonly known?: readonly string[];
  readonly from?: string;
  readonly facts: PluginFacts;
  readonly status: string;
  readonly left: readonly string[];
  readonly isNews: boolean;
}[] = [
  {
    name: "an answer is what is known",
    known: ["1.0"],
    facts: { kind: "Fetched", releases: [release("2.0")] },
    status: "available",
    left: ["2.0"],
    isNews: false,
  },
  {
    name: "what has not changed stays",
    known: ["1.0"],
    facts: { kind: "Unchanged" },
    status: "available",
    left: ["1.0"],
    isNews: false,
  },
  {
    name: "without an answer, what was known before is used",
    known: ["1.0"],
    facts: { kind: "Failed", reason: "Unavailable", message: "down" },
    status: "orphaned",
    left: ["1.0"],
    isNews: true,
  },
  {
    name: "without an answer, and with nothing known, there is nothing",
    facts: { kind: "Failed", reason: "Unavailable", message: "down" },
    status: "unavailable",
    left: [],
    isNews: true,
  },
  {
    name: "the versions of another source are not used",
    known: ["1.0"],
    from: "hangar:other",
    facts: { kind: "Failed", reason: "Unavailable", message: "down" },
    status: "unavailable",
    left: [],
    isNews: true,
  },
  {
    name: "a jar that is not the promised one is not used, although it was before",
    known: ["1.0"],
    facts: { kind: "Failed", reason: "ChecksumMismatch", message: "other bytes" },
    status: "unavailable",
    left: [],
    isNews: true,
  },
];
for (const { name, known = [], from = "hangar:p", facts, status: expected, left, isNews } of outcomes)
  test(`a source: ${name}`, () => {
    const versions = Object.fromEntries(known.map((version) => [version, []]));
    const one = plugin("p", { versions, status: { fetchedFrom: from } });
    const { status, events } = mergePluginFacts(one, facts, now);
    assert.equal(status.repositoryStatus, expected);
    assert.deepEqual(
      (status.availableVersions ?? []).map(({ version }) => version),
      left,
    );
    assert.deepEqual(
      events.map(({ reason, isLogged }) => [reason, isLogged]),
      isNews ? [["RepositoryUnavailable", true]] : [],
    );
    // The same again is no news.
    assert.deepEqual(mergePluginFacts({ ...one, status }, facts, now).events, []);
  });

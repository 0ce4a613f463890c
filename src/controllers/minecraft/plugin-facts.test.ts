import assert from "node:assert/strict";
import { test } from "node:test";
import { plugin } from "../version-solver/example-fleet.ts";
import { mergePluginFacts } from "./plugin-facts.ts";
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

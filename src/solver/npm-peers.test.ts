import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { casesFile } from "../../test/conformance/semver.ts";
import { systemEnv } from "../env/system.ts";
import { comparePluginVersions } from "../versions/plugin-version.ts";
import { parseSemVer } from "../versions/semver.ts";
import { parseConstraint, satisfies } from "../versions/semver-constraint.ts";
import { createExplainer } from "./explain.ts";
import { isConsistent, type Problem, type Relation } from "./problem.ts";
import { solve } from "./solve.ts";
import { solverThread } from "./thread.ts";

const file = casesFile("npm-peers.json");

test("the packages of npm that have peers, all at once: proven, and explained by the packages that stand in the way", {
  skip: existsSync(file) ? false : `${file} is absent`,
}, async (context) => {
  context.after(() => solverThread.endIfIdle());
  const { problem, versions } = peerProblem();
  const answer = await solve(problem, { env: systemEnv, timeLimitMs: 60_000 });
  assert.ok(answer.kind === "Solved" && answer.proven);
  assert.ok(isConsistent(problem, answer.assignment));
  const explainer = createExplainer(problem, answer.assignment, { env: systemEnv });
  const why = await explainer.whyNotNewer("eslint", { atLeast: (versions.get("eslint") ?? []).length - 1 });
  explainer.dispose();
  assert.deepEqual(why, {
    kind: "Forbidden",
    obstacles: [{ kind: "Source", source: "eslint-config-airbnb-base needs eslint" }],
  });
});

type Peers = Readonly<Record<string, readonly (readonly [string, Readonly<Record<string, string>>?])[]>>;

/** Hosts first, then what is plugged into them; each as new as those before it allow. */
function peerProblem(): { readonly problem: Problem; readonly versions: ReadonlyMap<string, readonly string[]> } {
  const { hosts, packages } = JSON.parse(readFileSync(file, "utf8")) as {
    readonly hosts: readonly string[];
    readonly packages: Peers;
  };
  const stable = new Map(
    Object.entries(packages).map(([name, all]) => [
      name,
      all.filter(([version]) => /^\d+\.\d+\.\d+$/.test(version)).sort(([a], [b]) => comparePluginVersions(a, b)),
    ]),
  );
  const versions = new Map([...stable].map(([name, all]) => [name, all.map(([version]) => version)]));
  const rangesOf = new Map<string, readonly number[]>();
  const rowFor = (name: string, range: string): readonly number[] => {
    const key = `${name} ${range}`;
    const known = rangesOf.get(key);
    if (known) return known;
    const parsed = parseConstraint(range);
    const row = (versions.get(name) ?? []).flatMap((version, index) => {
      const read = parseSemVer(version);
      // A range that nobody can read forbids nothing.
      return !parsed.ok || !read.ok || satisfies(read.version, parsed.constraint) ? [index] : [];
    });
    rangesOf.set(key, row);
    return row;
  };
  const relations = [...stable].flatMap(([left, all]): readonly Relation[] =>
    [...new Set(all.flatMap(([, peers = {}]) => Object.keys(peers)))]
      .filter((right) => right !== left && (versions.get(right) ?? []).length > 0)
      .map((right) => ({
        source: `${left} needs ${right}`,
        left,
        right,
        allowed: all.map(([, peers = {}]) => rowFor(right, peers[right] ?? "*")),
      })),
  );
  const names = [...versions].filter(([, all]) => all.length > 0).map(([name]) => name);
  const order = [...hosts, ...names.filter((name) => !hosts.includes(name)).sort()];
  const variables = names.map((name) => ({ name, size: (versions.get(name) ?? []).length }));
  return { problem: { variables, limits: [], relations, order }, versions };
}

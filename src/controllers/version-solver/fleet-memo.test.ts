import assert from "node:assert/strict";
import { test } from "node:test";
import { systemEnv } from "../../env/system.ts";
import { solverThread } from "../../solver/thread.ts";
import { manualEnv } from "../../testing/manual-env.ts";
import { longLists, plugin, server } from "./example-fleet.ts";
import { longestHoldMs } from "./example-pulse.ts";
import type { FleetObjects } from "./fleet.ts";
import { createFleetMemo } from "./fleet-memo.ts";

const env = systemEnv;
const memoOf = (onRun: () => void = () => undefined) =>
  createFleetMemo({ env }, (solve) => {
    onRun();
    return solve();
  });

test("a fleet is solved once, and again as soon as a release is old enough, even within the same minute", async () => {
  let runs = 0;
  const memo = memoOf(() => void runs++);
  const versions = {
    "2": { minecraftVersions: ["1.21"], releasedAt: "2026-01-14T00:00:30Z" },
    "1": { minecraftVersions: ["1.21"], releasedAt: "2025-01-01T00:00:00Z" },
  };
  const objects = {
    servers: [server("s", { current: "1.21", paper: ["1.21"] })],
    plugins: [plugin("p", { versions, spec: { updateDelay: "24h" } })],
  };
  const at = async (time: string): Promise<string | undefined> => {
    const { answer } = await memo.solve("games", { ...objects, now: new Date(`2026-01-15T00:00:${time}Z`) });
    return answer?.plugins.get("p")?.chosen?.version;
  };
  assert.equal(await at("05"), "1");
  assert.equal(await at("30"), "1");
  assert.equal(runs, 1);
  assert.equal(await at("31"), "2");
  assert.equal(await at("59"), "2");
  assert.equal(runs, 2);
});

test("that nobody could be asked is news: a pin counts from then on", async () => {
  const memo = memoOf();
  const fresh = server("s", { paper: [], spec: { updateStrategy: "build-pin", version: "1.21.4", build: 7 } });
  const { availableVersions: _, repositoryStatus: __, ...status } = fresh.status ?? {};
  const now = new Date("2026-01-15T00:00:00Z");
  const before = await memo.solve("games", { servers: [{ ...fresh, status }], plugins: [], now });
  assert.equal(before.answer?.servers.get("s")?.chosen, undefined);
  const unasked = { ...fresh, status: { ...status, repositoryStatus: "unavailable" as const } };
  const after = await memo.solve("games", { servers: [unasked], plugins: [], now });
  assert.equal(after.answer?.servers.get("s")?.chosen?.build, 7);
});

test("a search that failed, such as by the end of its thread, is a fault for those who wait, and is begun again by the next", async () => {
  let runs = 0;
  let die = (_: Error): void => undefined;
  // A clock that stands still: nobody rests, so both wait for the same search when its thread dies.
  const memo = createFleetMemo({ env: manualEnv() }, (solve) => {
    runs++;
    return runs === 1 ? new Promise((_, reject) => (die = reject)) : solve();
  });
  const objects = {
    servers: [server("s", { current: "1.21", paper: ["1.21.4", "1.21"] })],
    plugins: [],
    now: new Date("2026-01-15T00:00:00Z"),
  };
  const both = [memo.solve("games", objects), memo.solve("games", objects)];
  await new Promise(setImmediate);
  assert.equal(runs, 1);
  die(new Error("the solver's thread has died"));
  await Promise.all(both.map((one) => assert.rejects(one, /has died/)));
  const { answer } = await memo.solve("games", objects);
  assert.equal(answer?.servers.get("s")?.chosen?.version.text, "1.21.4");
  assert.equal(runs, 2);
});

test("a search ends when nobody waits for it any more, and the next one who asks gets an answer", async () => {
  const ended: string[] = [];
  let begin = (): void => undefined;
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const memo = createFleetMemo({ env }, (solve) => {
    begin();
    return solve().then(
      (answer) => {
        ended.push("answered");
        return answer;
      },
      (error: Error) => {
        ended.push(error.message);
        throw error;
      },
    );
  });
  // Large enough to be still under way when they leave.
  const objects = { ...largeFleet(300), now: new Date("2026-01-15T00:00:00Z") };
  const [first, second] = [new AbortController(), new AbortController()];
  const one = memo.solve("games", objects, first.signal);
  await hasBegun;
  const other = memo.solve("games", objects, second.signal);
  // The search has its turn first, then the one who asks; then both again.
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
  first.abort(new Error("the first left"));
  await assert.rejects(one, /the first left/);
  assert.deepEqual(ended, []);
  second.abort(new Error("the second left"));
  const late = memo.solve("games", objects);
  await assert.rejects(other, /the second left/);
  const { answer } = await late;
  assert.ok(answer?.proven);
  assert.deepEqual(ended, ["the second left", "answered"]);
});

const large: readonly { readonly name: string; readonly fleet: () => Pick<FleetObjects, "servers" | "plugins"> }[] = [
  { name: "400 servers and 400 plugins", fleet: () => largeFleet(400) },
  { name: "10,000 versions of 3 plugins on 2,000 of Paper", fleet: () => longLists("AWindow") },
  { name: "10,000 versions that do not say what they support", fleet: () => longLists("Unknown") },
];
for (const { name, fleet } of large) {
  test(`from objects to an explained answer, ${name} never hold the event loop for 50 ms`, async (context) => {
    context.after(() => solverThread.endIfIdle());
    const { servers, plugins } = fleet();
    const heldMs = await longestHoldMs(async () => {
      const { answer, explainer } = await memoOf().solve("games", { servers, plugins, now: new Date() });
      assert.ok(answer?.proven);
      for (const { metadata } of servers.slice(0, 5)) await explainer?.server(metadata.name);
      for (const { metadata } of plugins.slice(0, 3)) await explainer?.plugin(metadata.name);
      explainer?.dispose();
    });
    assert.ok(heldMs < 50, `${heldMs.toFixed(0)} ms`);
  });
}

/** As many servers as plugins, each plugin on two of twenty groups. */
function largeFleet(size: number): Pick<FleetObjects, "servers" | "plugins"> {
  const groups = 20;
  const paper = Array.from({ length: 20 }, (_, index) => `1.${40 - index}`);
  const servers = Array.from({ length: size }, (_, index) =>
    server(`s${index}`, { paper, current: "1.21", labels: { group: `g${index % groups}` } }),
  );
  const plugins = Array.from({ length: size }, (_, index) => {
    const versions = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`1.${at}`, paper.slice(Math.max(0, 18 - at - (index % 3)), 20)]),
    );
    const values = [`g${index % groups}`, `g${(index * 7) % groups}`];
    return plugin(`p${index}`, {
      versions,
      spec: { instanceSelector: { matchExpressions: [{ key: "group", operator: "In", values }] } },
    });
  });
  return { servers, plugins };
}

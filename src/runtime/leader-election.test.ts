import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually } from "../testing/eventually.ts";
import { createWorld, type World } from "../testing/world.ts";
import { type LeaderElection, LeaseKind, runLeaderElection } from "./leader-election.ts";
import { silentLogger } from "./log.ts";
import { MetricsRegistry } from "./metrics.ts";

interface Candidate {
  readonly election: LeaderElection;
  readonly metrics: MetricsRegistry;
  readonly log: string[];
}

function candidate(world: World, identity: string, story: string[] = []): Candidate {
  const metrics = new MetricsRegistry();
  const election = runLeaderElection(
    { name: "capstan", namespace: "system", identity, labels: { app: "capstan" } },
    {
      env: world.env,
      client: world.client,
      log: silentLogger,
      metrics,
      onLead: () => story.push(`${identity} leads`),
      onLose: () => story.push(`${identity} lost`),
    },
  );
  return { election, metrics, log: story };
}

const lease = (world: World) => world.all(LeaseKind)[0];

describe("leader election", () => {
  test("the first candidate leads at once and writes times with exactly six digits", async () => {
    const world = createWorld();
    const a = candidate(world, "a");
    await world.env.flush();
    assert.ok(a.election.isLeader);
    const { spec, metadata } = lease(world) ?? {};
    assert.deepEqual(metadata?.labels, { app: "capstan" });
    assert.equal(spec?.holderIdentity, "a");
    assert.equal(spec?.leaseDurationSeconds, 15);
    assert.equal(spec?.leaseTransitions, 0);
    for (const time of [spec?.acquireTime, spec?.renewTime])
      assert.match(time ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    assert.ok(a.metrics.expose().includes('leader_election_master_status{name="capstan"} 1\n'));
    await a.election.release();
  });

  test("a second one waits while the first renews, and takes over 15 s after it went silent", async () => {
    const world = createWorld();
    const story: string[] = [];
    candidate(world, "a", story);
    await world.env.flush();
    const b = candidate(world, "b", story);
    await world.env.advance(60_000);
    assert.deepEqual(story, ["a leads"]);
    // The first one is cut off: its renewals no longer arrive.
    world.faults.add({ when: ({ isWrite }) => isWrite && !story.includes("a lost"), fault: { kind: "Unreachable" } });
    const cutAtMs = world.env.monotonicMs();
    await eventually(world.env, () => assert.ok(story.includes("a lost")));
    assert.ok(world.env.monotonicMs() - cutAtMs <= 12_000, "it stops before anybody else may lead");
    assert.equal(b.election.isLeader, false);
    await eventually(world.env, () => assert.ok(b.election.isLeader));
    assert.ok(world.env.monotonicMs() - cutAtMs >= 13_000, "never while the lease may still be valid");
    assert.deepEqual(story, ["a leads", "a lost", "b leads"]);
    assert.equal(lease(world)?.spec?.leaseTransitions, 1);
    await b.election.release();
  });

  test("a released lease is taken over without waiting", async () => {
    const world = createWorld();
    const a = candidate(world, "a");
    await world.env.flush();
    const b = candidate(world, "b");
    await world.env.advance(10_000);
    await a.election.release();
    assert.equal(lease(world)?.spec?.holderIdentity, "");
    await eventually(world.env, () => assert.ok(b.election.isLeader), { withinMs: 5_000 });
    await b.election.release();
  });

  test("a release waits for no request that hangs, and gives back even what it is not sure to have renewed", async () => {
    const world = createWorld();
    const a = candidate(world, "a");
    await world.env.flush();
    const isRenewal = ({ isWrite }: { readonly isWrite: boolean }): boolean => isWrite;
    world.faults.add({ when: isRenewal, times: 1, fault: { kind: "AnswerLost" } });
    world.faults.add({ when: isRenewal, times: 1, fault: { kind: "Hang" } });
    await world.env.advance(2_500);
    const stoppedAtMs = world.env.monotonicMs();
    const released = a.election.release();
    await world.env.flush();
    await released;
    assert.equal(world.env.monotonicMs(), stoppedAtMs);
    assert.equal(lease(world)?.spec?.holderIdentity, "");
  });

  test("clocks that differ by hours do not matter: only what is observed counts", async () => {
    const world = createWorld();
    const past = "2020-01-01T00:00:00.000000Z";
    await world.direct.create(LeaseKind, {
      metadata: { name: "capstan", namespace: "system" },
      spec: { holderIdentity: "other", leaseDurationSeconds: 15, acquireTime: past, renewTime: past },
    });
    const a = candidate(world, "a");
    await world.env.advance(14_000);
    assert.equal(a.election.isLeader, false, "an old renewTime may be a slow clock");
    world.env.setWallClock(new Date("2031-01-01T00:00:00Z"));
    await world.env.flush();
    assert.equal(a.election.isLeader, false, "a jump of our own clock proves nothing");
    await eventually(world.env, () => assert.ok(a.election.isLeader), { withinMs: 10_000 });
    world.env.setWallClock(new Date("2026-01-01T00:00:00Z"));
    await world.env.advance(60_000);
    assert.ok(a.election.isLeader);
    await a.election.release();
  });

  test("a renewal that hangs does not stretch the time of leadership", async () => {
    const world = createWorld();
    const story: string[] = [];
    const a = candidate(world, "a", story);
    await world.env.flush();
    world.faults.add({ when: ({ isWrite }) => isWrite, fault: { kind: "Hang" } });
    await world.env.advance(9_900);
    assert.ok(a.election.isLeader);
    await world.env.advance(2_200);
    assert.equal(a.election.isLeader, false);
    assert.deepEqual(story, ["a leads", "a lost"]);
  });

  test("somebody who takes the lease by force is believed at the next renewal", async () => {
    const world = createWorld();
    const story: string[] = [];
    const a = candidate(world, "a", story);
    await world.env.flush();
    await world.direct.patch(
      LeaseKind,
      { name: "capstan", namespace: "system" },
      { type: "merge", value: { spec: { holderIdentity: "thief" } } },
    );
    await world.env.advance(4_000);
    assert.equal(a.election.isLeader, false);
    assert.deepEqual(story, ["a leads", "a lost"]);
    assert.ok(a.metrics.expose().includes('leader_election_slowpath_total{name="capstan"} 1\n'));
  });

  test("a lease that others touch but nobody took is renewed by the slow path", async () => {
    const world = createWorld();
    const a = candidate(world, "a");
    await world.env.flush();
    await world.direct.patch(
      LeaseKind,
      { name: "capstan", namespace: "system" },
      { type: "merge", value: { metadata: { labels: { seen: "yes" } } } },
    );
    await world.env.advance(4_000);
    assert.ok(a.election.isLeader);
    await world.direct.delete(LeaseKind, { name: "capstan", namespace: "system" });
    await world.env.advance(4_000);
    assert.ok(a.election.isLeader, "a deleted lease is written anew");
    await a.election.release();
  });

  test("never two leaders at once, whatever faults strike five candidates", async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const world = createWorld({ seed });
      const candidates = ["a", "b", "c", "d", "e"].map((identity) => candidate(world, identity));
      world.faults.add({ when: () => world.env.random() < 0.3, fault: { kind: "Unreachable" } });
      world.faults.add({ when: () => world.env.random() < 0.2, fault: { kind: "AnswerLost" } });
      world.faults.add({ when: () => world.env.random() < 0.1, fault: { kind: "Hang" } });
      for (let step = 0; step < 600; step++) {
        await world.env.advance(200);
        const leaders = candidates.filter(({ election }) => election.isLeader).length;
        assert.ok(leaders <= 1, `seed ${seed}: ${leaders} leaders after ${step * 200} ms`);
      }
      for (const { election } of candidates) void election.release();
      await world.env.advance(10_000);
    }
  });

  test("times that cannot work are refused", () => {
    const world = createWorld();
    const options = { name: "x", namespace: "system", identity: "a", renewDeadlineMs: 20_000 };
    const nothing = {
      env: world.env,
      client: world.client,
      log: silentLogger,
      metrics: new MetricsRegistry(),
      onLead() {},
      onLose() {},
    };
    assert.throws(() => runLeaderElection(options, nothing), /leaseDuration \(15000 ms\) > renewDeadline \(20000 ms\)/);
  });
});

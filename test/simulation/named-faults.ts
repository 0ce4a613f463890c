import type { Plan } from "./plan.ts";

/** The faults of processes, time, leadership and third parties, one plan for each: F30 to F42 of the fault model. */
export const namedFaults: Readonly<Record<string, Plan>> = {
  "F30 an admission webhook denies everything for a minute": [
    { kind: "Webhook", atMs: 35_000, forMs: 60_000, does: "deny" },
  ],
  "F30 an admission webhook changes what we write": [{ kind: "Webhook", atMs: 35_000, forMs: 60_000, does: "mutate" }],
  "F30 an admission webhook does not answer": [{ kind: "Webhook", atMs: 35_000, forMs: 60_000, does: "timeout" }],
  "F31 a quota leaves no room for another child": [{ kind: "Quota", atMs: 90_000, forMs: 40_000 }],
  "F32 somebody puts a finalizer on a child and takes it back late": [
    { kind: "Meddle", atMs: 30_000, deed: "addFinalizer", pick: 0 },
    { kind: "Meddle", atMs: 58_000, deed: "addFinalizer", pick: 3 },
    { kind: "Meddle", atMs: 120_000, deed: "dropFinalizer", pick: 1 },
  ],
  "F33 owner, uid and labels of children are corrupted": [
    { kind: "Meddle", atMs: 20_000, deed: "orphan", pick: 0 },
    { kind: "Meddle", atMs: 50_000, deed: "wrongOwner", pick: 1 },
    { kind: "Meddle", atMs: 110_000, deed: "relabel", pick: 2 },
  ],
  "F35 the leader is stopped for a minute and wakes up": [{ kind: "Pause", who: "a", atMs: 30_000, forMs: 60_000 }],
  "F36 two processes believe to lead": [{ kind: "Intruder", atMs: 35_000, forMs: 60_000, version: "same" }],
  "F37 renewals of the lease are slow": [{ kind: "Wire", who: "a", atMs: 20_000, fault: "SlowLease", times: 8 }],
  "F38 clocks step by an hour, and one of them drifts": [
    { kind: "Drift", who: "b", rate: 1.2 },
    { kind: "ClockStep", who: "a", atMs: 30_000, byMs: 3_600_000 },
    { kind: "ClockStep", who: "a", atMs: 78_000, byMs: -7_200_000 },
    { kind: "ClockStep", who: "b", atMs: 80_000, byMs: -3_600_000 },
  ],
  "F39 the event loop stands still again and again": [20_000, 38_900, 58_900, 78_900, 94_900].map((atMs) => ({
    ...({ kind: "Pause", who: "a" } as const),
    atMs,
    forMs: 5_000,
  })),
  "F40 asked to stop in the middle of its work": [
    { kind: "Stop", who: "a", atMs: 39_030 },
    { kind: "Stop", who: "b", atMs: 79_030 },
  ],
  "F41 the version before this one works at the same time": [
    { kind: "Intruder", atMs: 75_000, forMs: 12_000, version: "old" },
  ],
  "F42 all connections are clogged and then released": [
    { kind: "Clog", atMs: 35_000, forMs: 30_000 },
    { kind: "Clog", atMs: 94_000, forMs: 40_000 },
  ],
};

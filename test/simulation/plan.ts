import type { AnswerFault, StreamFault } from "./wire-faults.ts";
import { answerFaults, streamFaults } from "./wire-faults.ts";

/** Everything that goes wrong in one run, as data: it can be printed, shortened and played again. */
export type Plan = readonly PlannedFault[];

export type PlannedFault =
  /** F1–F29: the next `times` requests or events that the fault fits. */
  | {
      readonly kind: "Wire";
      readonly who: Replica;
      readonly atMs: number;
      readonly fault: WireKind;
      readonly times: number;
    }
  /** F19: the process ends at its n-th write, or at the plane's, before or after the API has carried it out. */
  | {
      readonly kind: "Crash";
      readonly who: Replica | "any";
      readonly atWrite: number;
      readonly point: "before" | "after";
    }
  /** F30: an admission webhook that stands in the way of the plane. */
  | { readonly kind: "Webhook"; readonly atMs: number; readonly forMs: number; readonly does: WebhookDeed }
  /** F31: no room for another child. */
  | { readonly kind: "Quota"; readonly atMs: number; readonly forMs: number }
  /** F32, F33: somebody else lays hands on one of our objects. */
  | { readonly kind: "Meddle"; readonly atMs: number; readonly deed: Meddling; readonly pick: number }
  /** F35, F39: stopped for longer or shorter than the lease. */
  | { readonly kind: "Pause"; readonly who: Replica; readonly atMs: number; readonly forMs: number }
  /** F36: a third process that does not ask for a lease. F41: the same, of another version. */
  | { readonly kind: "Intruder"; readonly atMs: number; readonly forMs: number; readonly version: "same" | "old" }
  /** F38 */
  | { readonly kind: "ClockStep"; readonly who: Replica; readonly atMs: number; readonly byMs: number }
  | { readonly kind: "Drift"; readonly who: Replica; readonly rate: number }
  /** F40: asked to stop in the middle of its work, and started again. */
  | { readonly kind: "Stop"; readonly who: Replica; readonly atMs: number }
  /** F42: nothing gets through for anybody, then everything at once. */
  | { readonly kind: "Clog"; readonly atMs: number; readonly forMs: number }
  /** F46: what is asked for outside is not told. */
  | { readonly kind: "Repository"; readonly atMs: number; readonly forMs: number; readonly does: RepositoryDeed };

export type Replica = "a" | "b";
export type WireKind = AnswerFault | StreamFault;
export type WebhookDeed = "deny" | "mutate" | "timeout";
export const repositoryDeeds = ["unreachable", "broken", "busy", "cutOff", "empty", "silent"] as const;
export type RepositoryDeed = (typeof repositoryDeeds)[number];
export const meddlings = [
  "delete",
  "edit",
  "orphan",
  "relabel",
  "addFinalizer",
  "dropFinalizer",
  "wrongOwner",
] as const;
export type Meddling = (typeof meddlings)[number];

/** Faults begin after the plane has started and end before the run looks whether it recovers. */
export const faultsFromMs = 4_000;
export const faultsUntilMs = 150_000;

/** Between one and six faults, every kind as likely as the others; repositories fail where the story has one. */
export function drawPlan(random: () => number, writes: number, hasOutside = false): Plan {
  const among = hasOutside ? [...kinds, ...repositoryKinds] : kinds;
  const faults = Array.from({ length: 1 + Math.floor(random() * 6) }, () => drawFault(random, writes, among));
  return faults.sort((one, other) => startOf(one) - startOf(other));
}

export const startOf = (fault: PlannedFault): number => ("atMs" in fault ? fault.atMs : 0);

function drawFault(random: () => number, writes: number, among: readonly PlannedFault["kind"][]): PlannedFault {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const between = (low: number, high: number): number => Math.floor(low + random() * (high - low));
  const atMs = between(faultsFromMs, faultsUntilMs);
  const left = (wanted: number): number => Math.min(wanted, faultsUntilMs - atMs + 10_000);
  // The first replica leads most of the time, so most of what happens should happen to it.
  const who: Replica = random() < 0.8 ? "a" : "b";
  const kind = pick(among);
  switch (kind) {
    case "Wire":
      return { kind, who, atMs, fault: pick([...answerFaults, ...streamFaults]), times: pick([1, 1, 2, 5, 20]) };
    case "Crash":
      return { kind, who, atWrite: between(1, Math.max(2, writes + 1)), point: pick(["before", "after"]) };
    case "Webhook":
      return { kind, atMs, forMs: left(between(5_000, 60_000)), does: pick(["deny", "mutate", "timeout"]) };
    case "Quota":
      return { kind, atMs, forMs: left(between(5_000, 60_000)) };
    case "Meddle":
      return { kind, atMs, deed: pick(meddlings), pick: between(0, 1_000) };
    case "Pause":
      return { kind, who, atMs, forMs: left(pick([1_000, 5_000, 12_000, 30_000, 60_000])) };
    case "Intruder":
      return { kind, atMs, forMs: left(between(5_000, 40_000)), version: pick(["same", "old"]) };
    case "ClockStep":
      return { kind, who, atMs, byMs: pick([-3_600_000, 3_600_000, -5_000, 20_000]) };
    case "Drift":
      // Two clocks that differ by half would defeat any lease of 15 s that is renewed within 10 s.
      return { kind, who, rate: pick([0.85, 0.95, 1.1, 1.2]) };
    case "Stop":
      return { kind, who, atMs };
    case "Clog":
      return { kind, atMs, forMs: left(between(1_000, 40_000)) };
    case "Repository":
      return { kind, atMs, forMs: left(between(5_000, 60_000)), does: pick(repositoryDeeds) };
  }
}

const repositoryKinds = ["Repository", "Repository", "Repository", "Repository"] as const;

/** Wire faults and crashes are many kinds in one, so they are drawn more often. */
const kinds: readonly PlannedFault["kind"][] = [
  ...(["Wire", "Wire", "Wire", "Wire", "Crash", "Crash", "Crash", "Webhook", "Quota", "Meddle", "Meddle"] as const),
  ...(["Pause", "Pause", "Intruder", "ClockStep", "Drift", "Stop", "Clog"] as const),
];

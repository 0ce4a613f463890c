import type { Moment } from "../model/decide.ts";
import type { Directory } from "../model/directory.ts";
import type { Entry } from "../model/entry.ts";
import { type ExpiryLimits, isLiveAt } from "../model/expiry.ts";
import { recordedHealth } from "../model/instance.ts";
import type { KeptTarget } from "../model/kept-target.ts";
import { candidates, matcher, type Search } from "../model/queries.ts";

/** How one of several live services is chosen. All candidates come in one order, which is the same on every replica. */
export const strategyNames = ["first-available", "round-robin", "least-recently-failed", "weighted-by-health"] as const;
export type StrategyName = (typeof strategyNames)[number];

export const isStrategyName = (text: string): text is StrategyName => strategyNames.some((name) => name === text);

export interface ResolveQuestion extends Search {
  readonly strategy?: StrategyName;
}

/** The specification's ServiceResolver, with a choice of strategies. Only live services are ever handed out. */
export class Resolver {
  readonly #directory: Directory;
  readonly #limits: ExpiryLimits;
  readonly #now: () => Moment;
  readonly #turns = new Map<string, number>();

  constructor(directory: Directory, limits: ExpiryLimits, now: () => Moment) {
    this.#directory = directory;
    this.#limits = limits;
    this.#now = now;
  }

  resolve(question: ResolveQuestion): KeptTarget | undefined {
    const { strategy = "first-available" } = question;
    const nowMs = this.#now().monotonicMs;
    const isWanted = matcher(question);
    const live: Record<"HEALTHY" | "PENDING", Entry[]> = { HEALTHY: [], PENDING: [] };
    for (const entry of candidates(this.#directory, question)) {
      if (!isWanted(entry) || !isLiveAt(entry, nowMs, this.#limits)) continue;
      const health = recordedHealth(entry.instance) === "HEALTHY" ? "HEALTHY" : "PENDING";
      // The first healthy one is the answer, however many come after it.
      if (health === "HEALTHY" && strategy === "first-available") return entry.instance.target;
      live[health].push(entry);
    }
    // Those known to be healthy go before those of which nothing is known yet.
    const chosen = live.HEALTHY.length > 0 ? live.HEALTHY : live.PENDING;
    return this.#choose(chosen, strategy, question)?.instance.target;
  }

  #choose(among: readonly Entry[], strategy: StrategyName, question: ResolveQuestion): Entry | undefined {
    if (among.length < 2) return among[0];
    switch (strategy) {
      case "first-available":
        return among[0];
      case "round-robin":
        return among[this.#nextTurn(question) % among.length];
      case "least-recently-failed":
        return leastRecentlyFailed(among);
      case "weighted-by-health":
        return weightedByHealth(among, this.#nextTurn(question));
    }
  }

  #nextTurn(question: ResolveQuestion): number {
    const key = JSON.stringify(question);
    const turn = this.#turns.get(key) ?? 0;
    if (this.#turns.size >= maxTurns) this.#turns.clear();
    this.#turns.set(key, turn + 1);
    return turn;
  }
}

const maxTurns = 10_000;

/** Never failed first, then whose failure lies furthest back; ties by order. */
export function leastRecentlyFailed(candidates: readonly Entry[]): Entry | undefined {
  const failedAt = ({ instance }: Entry): number => instance.lastFailureAtMs ?? Number.NEGATIVE_INFINITY;
  let best = candidates[0];
  for (const candidate of candidates) if (best !== undefined && failedAt(candidate) < failedAt(best)) best = candidate;
  return best;
}

/**
 * Turns are shared out by weight: a service whose recent states were all good gets the most, one that failed all the
 * time the least, and nobody none. Deterministic: over one full round everybody gets exactly its share.
 */
export function weightedByHealth(candidates: readonly Entry[], turn: number): Entry | undefined {
  const weights = candidates.map(healthWeight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  // A stride that shares no divisor with the round spreads each one's turns over the round instead of bunching them.
  let place = (turn * strideFor(total)) % total;
  for (const [index, weight] of weights.entries()) {
    if (place < weight) return candidates[index];
    place -= weight;
  }
  return candidates[0];
}

export function healthWeight({ instance: { states } }: Entry): number {
  const known = states.filter(({ health }) => health !== "PENDING");
  if (known.length === 0) return maxWeight / 2;
  const good = known.filter(({ health }) => health === "HEALTHY").length;
  return Math.max(1, Math.round((maxWeight * good) / known.length));
}
const maxWeight = 10;

function strideFor(total: number): number {
  let stride = Math.max(1, Math.floor(total * 0.618));
  while (divisor(stride, total) !== 1) stride++;
  return stride;
}
const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

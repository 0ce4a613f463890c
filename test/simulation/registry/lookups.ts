import { sleep } from "../../../src/env/env.ts";
import type { RegistryOptions } from "../../../src/registry/registry.ts";
import type { SimulatedApi } from "../simulated-api.ts";
import type { Replica, Replicas } from "./replicas.ts";
import { type SimulatedService, steadyGapMs } from "./service.ts";

/** Shorter than the product's, so that a run need not last for hours. */
export const registryTimes = {
  missingAfterMs: 15_000,
  deregisterAfterMs: 40_000,
  remoteToleranceMs: 5_000,
  beatSaveMs: 2_000,
} as const satisfies Partial<RegistryOptions>;

/** P18, asked of every replica again and again: what is handed out is alive, and what is alive is handed out. */
export class Lookups {
  readonly violations = new Set<string>();
  answers = 0;
  readonly #api: SimulatedApi;
  readonly #replicas: Replicas;
  readonly #services: readonly SimulatedService[];

  constructor(api: SimulatedApi, replicas: Replicas, services: readonly SimulatedService[]) {
    this.#api = api;
    this.#replicas = replicas;
    this.#services = services;
    void this.#look();
  }

  async #look(): Promise<never> {
    for (;;) {
      await sleep(this.#api.env, everyMs);
      for (const replica of this.#replicas.reachable)
        for (const service of this.#services) if (service.state !== "Unborn") void this.#ask(replica, service);
    }
  }

  async #ask(replica: Replica, service: SimulatedService): Promise<void> {
    const answer = await this.#replicas.ask(replica, "GET", `/api/v1/resolve?serviceName=${service.name}`);
    if (answer === undefined) return;
    this.answers++;
    const objection = judge(replica, service, answer.status === 200, answer.atMs);
    if (objection !== undefined && this.violations.size < 5)
      this.violations.add(`P18 ${service.name} at ${replica.who}, ${answer.atMs} ms: ${objection}`);
  }
}

function judge(replica: Replica, service: SimulatedService, isLive: boolean, atMs: number): string | undefined {
  const { heardAtMs, goneAtMs, steadySinceMs, state } = service;
  // What a replica was not there for, it does not count as anybody's silence.
  const silentMs = atMs - Math.max(heardAtMs, replica.sinceMs);
  if (isLive && service.isKnownByHeartbeat && state !== "Beating" && silentMs > longestMs)
    return `it is handed out, and was silent for ${silentMs} ms`;
  const isAwake = atMs - Math.max(replica.sinceMs, replica.wokeAtMs) > settledMs;
  if (isLive && isAwake && atMs - goneAtMs > settledMs) return "it is handed out, and has said goodbye";
  const isSteady = atMs - steadySinceMs > longestMs && atMs - heardAtMs < steadyGapMs;
  if (!isLive && isAwake && isSteady && state === "Beating") return "it is heard in time, and not handed out";
  return undefined;
}

const everyMs = 1_500;
/** Saved, told and taken over. */
const settledMs = 6_000;
/** With a clock that is a fifth slow. */
const longestMs = 1.25 * (registryTimes.missingAfterMs + registryTimes.remoteToleranceMs + registryTimes.beatSaveMs);

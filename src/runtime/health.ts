import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import { textReply } from "../http/reply.ts";
import type { Manager } from "./manager.ts";

/** Says what is wrong, or nothing. */
export type HealthCheck = () => string | undefined;

/** Named checks behind `/healthz` and `/readyz`, in the words of Kubernetes' own probes. */
export class HealthChecks {
  readonly #checks = new Map<string, HealthCheck>();

  add(name: string, check: HealthCheck): void {
    if (this.#checks.has(name)) throw new Error(`there are two health checks named ${name}`);
    this.#checks.set(name, check);
  }

  /** Every check with what is wrong with it; a check that throws is not healthy. */
  results(): readonly { readonly name: string; readonly problem?: string }[] {
    return [...this.#checks].map(([name, check]) => {
      const problem = problemOf(check);
      return problem === undefined ? { name } : { name, problem };
    });
  }

  /** `/readyz`, `/readyz?verbose`, `/readyz?exclude=NAME` and `/readyz/NAME`. */
  handler(path: string): HttpHandler {
    return async (request) => {
      const url = new URL(request.target, "http://health");
      const only = url.pathname.slice(path.length).replace(/^\//, "");
      if (only !== "" && !this.#checks.has(only)) return textReply(404, `there is no check ${only}\n`);
      const excluded = url.searchParams.getAll("exclude");
      const results = this.results().filter(({ name }) => (only === "" || name === only) && !excluded.includes(name));
      const failed = results.some(({ problem }) => problem !== undefined);
      if (!failed && !url.searchParams.has("verbose")) return textReply(200, "ok");
      const lines = results.map(({ name, problem }) =>
        problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
      );
      const verdict = `${path.replace(/^\//, "")} check ${failed ? "failed" : "passed"}`;
      return textReply(failed ? 503 : 200, `${[...lines, verdict].join("\n")}\n`);
    };
  }
}

/** Ready: every cache has been filled. A standby replica is ready too: it waits, warm. */
export function readinessOf(manager: Manager): HealthChecks {
  const checks = new HealthChecks();
  checks.add("caches", () => {
    const missing = manager.informers.filter(({ cache, health }) => !cache.synced && !health.absent);
    return missing.length === 0 ? undefined : `not synced: ${missing.map(({ kind }) => kind.kind).join(", ")}`;
  });
  return checks;
}

/** Alive: no watch has been silent for longer than bookmarks and reconnections allow. */
export function livenessOf(manager: Manager, env: Env, maxSilenceMs: number = defaultMaxSilenceMs): HealthChecks {
  const checks = new HealthChecks();
  checks.add("ping", () => undefined);
  checks.add("watches", () => {
    const nowMs = env.monotonicMs();
    const silent = manager.informers.filter(
      // A server that answers with errors is its own trouble: starting us anew would not help.
      ({ health }) => nowMs - health.lastActivityAtMs > maxSilenceMs && health.consecutiveFailures === 0,
    );
    if (silent.length === 0) return undefined;
    return silent
      .map(({ kind, health }) => `${kind.kind} silent for ${Math.round((nowMs - health.lastActivityAtMs) / 1000)} s`)
      .join(", ");
  });
  checks.add("leader-election", () => (manager.isElectionHealthy ? undefined : "the lease was not renewed in time"));
  return checks;
}

const defaultMaxSilenceMs = 900_000;

function problemOf(check: HealthCheck): string | undefined {
  try {
    return check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

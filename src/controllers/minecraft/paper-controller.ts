import { PaperMCServer } from "../../api/papermc-server.ts";
import type { Env } from "../../env/env.ts";
import { type Controller, defineController } from "../../runtime/controller.ts";
import { generationChanged } from "../../runtime/predicates.ts";
import { Attempts } from "./attempts.ts";
import { type CheckTime, checkTime, untilMs } from "./check-time.ts";
import type { MinecraftMetrics } from "./metrics.ts";
import { OutsideError } from "./outside.ts";
import type { Catalogue } from "./paper-catalogue.ts";
import { mergePaperFacts, type PaperFacts } from "./paper-facts.ts";

export interface PaperControllerOptions {
  readonly env: Env;
  readonly catalogue: Catalogue;
  readonly metrics: MinecraftMetrics;
}

const withCacheRetryMs = 15 * 60_000;
const withoutCacheRetryMs = 60_000;

/** Brings what is known of Paper and its images into the status of a server. */
export function paperController({ env, catalogue, metrics }: PaperControllerOptions): Controller {
  const attempts = new Attempts<PaperFacts>();
  return defineController({
    name: "paper-versions",
    reconciles: PaperMCServer,
    predicates: [generationChanged],
    fieldManager: "minecraft-operator",
    concurrency: 8,
    observe: (server: PaperMCServer, { now }) => ({ server, now }),
    evaluate: ({ server, now }): CheckTime =>
      isPinKnown(server) ? checkTime(server.status?.lastFetched, [server], now) : { kind: "Now" },
    act: (due, { object, signal }) => ask(object, due, signal),
    reduce: ({ object, decision, outcome, now }) => {
      const merged = mergePaperFacts(object, outcome.facts, now);
      const next = decision.kind === "At" ? decision : checkTime(merged.status.lastFetched, [object], now);
      const waitMs = outcome.retryMs ?? (next.kind === "At" ? untilMs(next.time, now) : withoutCacheRetryMs);
      return { ...merged, requeueAfterMs: waitMs };
    },
  });

  async function ask(
    server: PaperMCServer,
    due: CheckTime,
    signal: AbortSignal,
  ): Promise<{ readonly facts: PaperFacts; readonly retryMs?: number }> {
    if (due.kind === "At") return { facts: { kind: "NotAsked" } };
    const question = `${server.spec.version ?? ""} ${server.spec.build ?? ""} ${server.spec.updateDelay ?? ""}`;
    const waiting = attempts.waiting(server, question, env.monotonicMs());
    if (waiting) return { facts: waiting.failure, retryMs: waiting.waitMs };
    try {
      const wanted = [server.spec.version, server.status?.currentVersion].flatMap((version) => version ?? []);
      const found = await metrics.asked("papermc", () => catalogue.look(wanted, signal));
      attempts.succeeded(server);
      return { facts: { kind: "Fetched", catalogue: found } };
    } catch (error) {
      if (!(error instanceof OutsideError)) throw error;
      const hasCache = (server.status?.availableVersions?.length ?? 0) > 0;
      const retryMs = Math.max(error.retryAfterMs ?? 0, hasCache ? withCacheRetryMs : withoutCacheRetryMs);
      const facts: PaperFacts = { kind: "Failed", message: error.message };
      attempts.failed(server, question, facts, env.monotonicMs() + retryMs);
      return { facts, retryMs };
    }
  }
}

/** A pin that was set after the last time is worth a question of its own. */
function isPinKnown({ spec, status }: PaperMCServer): boolean {
  if (spec.updateStrategy !== "pin" && spec.updateStrategy !== "build-pin") return true;
  const ofVersion = (status?.availableVersions ?? []).filter(({ version }) => version === spec.version);
  if (spec.updateStrategy === "pin" || spec.build === undefined) return ofVersion.length > 0;
  return ofVersion.some(({ build }) => build === spec.build);
}

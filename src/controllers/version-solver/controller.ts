import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import type { Env } from "../../env/env.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { type Controller, defineController, watch } from "../../runtime/controller.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";
import type { Predicate } from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";
import { factsDigest } from "./facts-digest.ts";
import { createFleetMemo } from "./fleet-memo.ts";
import { solverMetrics } from "./metrics.ts";
import { pluginStatus } from "./plugin-status.ts";
import { serverStatus } from "./server-status.ts";
import { eligibilityAt } from "./update-delay.ts";

export interface VersionSolverOptions {
  readonly env: Env;
  readonly metrics: MetricsRegistry;
  /** After this long the best answer so far counts. */
  readonly timeLimitMs?: number;
}

const fieldManager = "minecraft-operator";
const defaultTimeLimitMs = 30_000;

interface Observed {
  readonly namespace: string;
  readonly servers: readonly PaperMCServer[];
  readonly plugins: readonly Plugin[];
  readonly now: Date;
}

/**
 * Decides from what the statuses know. A whole namespace is one question; two controllers write its answer, each to the
 * objects of its kind.
 */
export function versionSolver({
  env,
  metrics,
  timeLimitMs = defaultTimeLimitMs,
}: VersionSolverOptions): readonly Controller[] {
  const memo = createFleetMemo({ env, timeLimitMs }, solverMetrics(metrics, env).timed);
  const observe = (
    { metadata: { namespace = "" } }: KubeObject,
    { read, now }: { read: Read; now: Date },
  ): Observed => ({
    namespace,
    servers: read.list(PaperMCServer, { namespace }),
    plugins: read.list(Plugin, { namespace }),
    now,
  });
  const solve = ({ namespace, ...objects }: Observed, signal: AbortSignal) => memo.solve(namespace, objects, signal);
  const everyServer = ({ metadata: { namespace = "" } }: KubeObject, read: Read): readonly ObjectKey[] =>
    read.list(PaperMCServer, { namespace }).map(keyOf);
  const everyPlugin = ({ metadata: { namespace = "" } }: KubeObject, read: Read): readonly ObjectKey[] =>
    read.list(Plugin, { namespace }).map(keyOf);

  const servers = defineController({
    name: "server-versions",
    reconciles: PaperMCServer,
    fieldManager,
    watches: [
      watch(PaperMCServer, { map: everyServer, predicates: [factsChanged] }),
      watch(Plugin, { map: everyServer, predicates: [factsChanged] }),
    ],
    observe: (server: PaperMCServer, context) => observe(server, context),
    evaluate: (observed: Observed) => observed,
    async act(observed, { object, signal }) {
      const { answer, explainer } = await solve(observed, signal);
      const { name } = object.metadata;
      const hold = answer?.servers.get(name)?.chosen && (await explainer?.server(name, signal));
      return { answer, hold: hold || undefined };
    },
    reduce: ({ object, decision, outcome, now }) => ({
      ...serverStatus(object, outcome.answer, outcome.hold, now),
      ...lookAgain(decision, now),
    }),
  });
  const plugins = defineController({
    name: "plugin-versions",
    reconciles: Plugin,
    fieldManager,
    watches: [
      watch(PaperMCServer, { map: everyPlugin, predicates: [factsChanged] }),
      watch(Plugin, { map: everyPlugin, predicates: [factsChanged] }),
    ],
    observe: (plugin: Plugin, context) => observe(plugin, context),
    evaluate: (observed: Observed) => observed,
    act: async (observed, { signal }) => (await solve(observed, signal)).answer,
    reduce: ({ object, decision, outcome, now }) => ({
      ...pluginStatus(object, outcome, now),
      ...lookAgain(decision, now),
    }),
  });
  return [servers, plugins];
}

/** Statuses carry facts and answers alike; only a change of facts concerns the others. */
const factsChanged: Predicate<PaperMCServer | Plugin> = (change) =>
  change.kind !== "Updated" || factsDigest(change.old) !== factsDigest(change.object);

const keyOf = ({ metadata: { namespace = "", name } }: KubeObject): ObjectKey => ({ namespace, name });

/** When the next release becomes old enough. */
function lookAgain({ servers, plugins }: Observed, now: Date): { readonly requeueAfterMs?: number } {
  const { nextMs } = eligibilityAt([...servers, ...plugins], now);
  return Number.isFinite(nextMs) ? { requeueAfterMs: nextMs - now.getTime() + 1_000 } : {};
}

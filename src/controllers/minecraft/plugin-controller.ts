import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { finalizers } from "../../api/well-known.ts";
import type { Env } from "../../env/env.ts";
import { labelSelectorRequirements, matchesLabels } from "../../kube/label-selector.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { type Controller, defineController, watch } from "../../runtime/controller.ts";
import {
  deletionChanged,
  generationChanged,
  labelsChanged,
  or,
  resourceVersionChanged,
} from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";
import { Attempts } from "./attempts.ts";
import type { BaseUrls } from "./base-urls.ts";
import { type CheckTime, checkTime, untilMs } from "./check-time.ts";
import { hangarReleases } from "./hangar.ts";
import type { MinecraftMetrics } from "./metrics.ts";
import { modrinthReleases } from "./modrinth.ts";
import { type Outside, OutsideError } from "./outside.ts";
import { mergePluginFacts, type PluginFacts, sourceText } from "./plugin-facts.ts";
import type { PluginRelease } from "./plugin-release.ts";
import { removePlugin } from "./plugin-removal.ts";
import { Unwritten } from "./unwritten.ts";
import { urlRelease } from "./url-release.ts";

export interface PluginControllerOptions {
  readonly env: Env;
  readonly outside: Outside;
  readonly baseUrls: BaseUrls;
  readonly metrics: MinecraftMetrics;
}

const withCacheRetryMs = 15 * 60_000;
const withoutCacheRetryMs = 5 * 60_000;
const maxTags = 10_000;

/** Brings what repositories know into the status of a Plugin, and takes leave of one that is deleted. */
export function pluginController({ env, outside, baseUrls, metrics }: PluginControllerOptions): Controller {
  const attempts = new Attempts<PluginFacts>();
  const unwritten = new Unwritten<Asked>();
  const etags = new Tags();

  return defineController({
    name: "plugin",
    reconciles: Plugin,
    predicates: [or(generationChanged, deletionChanged)],
    watches: [
      watch(PaperMCServer, { map: pluginsOf, predicates: [or(generationChanged, labelsChanged)] }),
      watch(PaperMCServer, { map: leavingPluginsOf, predicates: [resourceVersionChanged] }),
    ],
    fieldManager: "minecraft-operator",
    concurrency: 8,
    finalizer: { name: finalizers.plugin, cleanUp: removePlugin },
    observe: (plugin: Plugin, { read, now }) => ({ plugin, servers: serversOf(plugin, read), now }),
    evaluate: ({ plugin, servers, now }): CheckTime =>
      isAnswered(plugin) ? checkTime(plugin.status?.lastFetched, servers, now) : { kind: "Now" },
    act: (due, { object, signal }) => metrics.reconciled("plugin", () => ask(object, due, signal)),
    reduce: ({ object, snapshot, decision, outcome, now }) => {
      const merged = mergePluginFacts(object, outcome.facts, now);
      const next = decision.kind === "At" ? decision : checkTime(merged.status.lastFetched, snapshot.servers, now);
      const waitMs = outcome.retryMs ?? (next.kind === "At" ? untilMs(next.time, now) : withoutCacheRetryMs);
      const { tag } = outcome;
      return {
        ...merged,
        requeueAfterMs: waitMs,
        afterWrite: () => {
          unwritten.written(object);
          // Not before: "unchanged" is no answer for somebody whose status never got the first one.
          if (tag) etags.remember(tag);
        },
      };
    },
  });

  async function ask(plugin: Plugin, due: CheckTime, signal: AbortSignal): Promise<Asked> {
    if (due.kind === "At") return { facts: { kind: "NotAsked" } };
    const question = `${sourceText(plugin)} ${plugin.metadata.generation ?? 0}`;
    const waiting = attempts.waiting(plugin, question, env.monotonicMs());
    if (waiting) return { facts: waiting.failure, retryMs: waiting.waitMs };
    const asked = unwritten.get(plugin, question) ?? (await fetchFacts(plugin, signal));
    const { facts } = asked;
    if (facts.kind !== "Failed") {
      attempts.succeeded(plugin);
      unwritten.keep(plugin, question, asked);
      return asked;
    }
    const hasCache = (plugin.status?.availableVersions?.length ?? 0) > 0;
    const retryMs = Math.max(asked.retryMs ?? 0, hasCache ? withCacheRetryMs : withoutCacheRetryMs);
    attempts.failed(plugin, question, facts, env.monotonicMs() + retryMs);
    return { facts, retryMs };
  }

  async function fetchFacts(plugin: Plugin, signal: AbortSignal): Promise<Asked> {
    const { source } = plugin.spec;
    try {
      const asked = await metrics.asked(source.type, () => fetchFrom(plugin, signal));
      return isForgetful(plugin, asked.facts) ? { facts: forgotten } : asked;
    } catch (error) {
      if (!(error instanceof OutsideError)) throw error;
      const what = error.reason === "NotFound" ? `${missing(plugin)}: ` : "";
      return {
        facts: { kind: "Failed", reason: "Unavailable", message: `${what}${error.message}` },
        ...(error.retryAfterMs !== undefined && { retryMs: error.retryAfterMs }),
      };
    }
  }

  async function fetchFrom(plugin: Plugin, signal: AbortSignal): Promise<Asked> {
    const { source, version } = plugin.spec;
    switch (source.type) {
      case "hangar":
        return fetched(await hangarReleases(source.project ?? "", baseUrls.hangar, outside, signal));
      case "modrinth":
        return fetched(await modrinthReleases(source.project ?? "", baseUrls.modrinth, outside, signal));
      case "url": {
        // What a jar that names no version is called is part of the answer.
        const key = `${sourceText(plugin)} ${version ?? ""}`;
        const etag = plugin.status?.fetchedFrom === sourceText(plugin) ? etags.get(key) : undefined;
        const answer = await urlRelease(
          {
            url: source.url ?? "",
            ...(source.checksum !== undefined && { checksum: source.checksum }),
            ...(version !== undefined && { version }),
            ...(etag !== undefined && { etag }),
          },
          outside,
          signal,
        );
        switch (answer.kind) {
          case "Release":
            return {
              ...fetched([answer.release]),
              ...(answer.etag !== undefined && { tag: { key, value: answer.etag } }),
            };
          case "Unchanged":
            return { facts: { kind: "Unchanged" } };
          case "Refused":
            return { facts: { kind: "Failed", reason: "Unavailable", message: answer.message } };
          case "ChecksumMismatch":
            return { facts: { kind: "Failed", reason: "ChecksumMismatch", message: answer.message } };
        }
      }
    }
  }
}

/** The source has told of what is asked for now; where it failed to, the next check may be a day away, and is not waited for. */
const isAnswered = (plugin: Plugin): boolean =>
  plugin.status?.fetchedFrom === sourceText(plugin) &&
  plugin.status.observedGeneration === plugin.metadata.generation &&
  plugin.status.repositoryStatus === "available";

/** What came of asking, when to ask again at the earliest, and the tag by which to ask for changes only. */
interface Asked {
  readonly facts: PluginFacts;
  readonly retryMs?: number;
  readonly tag?: Tag;
}

interface Tag {
  readonly key: string;
  readonly value: string;
}

const missing = ({ spec: { source } }: Plugin): string =>
  source.type === "url"
    ? "There is nothing at spec.source.url"
    : `There is no project ${source.project ?? ""} in ${source.type}, see spec.source.project`;

/** A repository that suddenly knows nothing of a project has lost it, or its words have changed. */
const isForgetful = ({ status }: Plugin, facts: PluginFacts): boolean =>
  facts.kind === "Fetched" && facts.releases.length === 0 && (status?.availableVersions ?? []).length > 0;

const forgotten: PluginFacts = {
  kind: "Failed",
  reason: "Unavailable",
  message: "The repository names no version of it any more",
};

const fetched = (releases: readonly PluginRelease[]): Asked => ({ facts: { kind: "Fetched", releases } });

class Tags {
  readonly #values = new Map<string, string>();

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  remember({ key, value }: Tag): void {
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > maxTags && oldest !== undefined) this.#values.delete(oldest);
  }
}

function serversOf(plugin: Plugin, read: Read): readonly PaperMCServer[] {
  const selector = labelSelectorRequirements(plugin.spec.instanceSelector);
  const { namespace = "" } = plugin.metadata;
  if (!selector.ok) return [];
  return read
    .list(PaperMCServer, { namespace })
    .filter(({ metadata }) => matchesLabels(selector.value, metadata.labels));
}

/** A plugin that is being deleted waits for its servers to take note. */
function leavingPluginsOf({ metadata: { namespace = "" } }: PaperMCServer, read: Read): readonly ObjectKey[] {
  return read
    .list(Plugin, { namespace })
    .flatMap(({ metadata: { name, deletionTimestamp } }) =>
      deletionTimestamp === undefined ? [] : [{ namespace, name }],
    );
}

function pluginsOf({ metadata: { namespace = "" } }: PaperMCServer, read: Read): readonly ObjectKey[] {
  return read.list(Plugin, { namespace }).map(({ metadata: { name } }) => ({ namespace, name }));
}

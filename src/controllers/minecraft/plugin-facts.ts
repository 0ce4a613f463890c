import type { Plugin, PluginEvent } from "../../api/plugin.ts";
import { type ConditionState, setCondition } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import { comparePluginVersions } from "../../versions/plugin-version.ts";
import type { PluginRelease } from "./plugin-release.ts";

type Status = NonNullable<Plugin["status"]>;
type AvailableVersion = NonNullable<Status["availableVersions"]>[number];

/** What came of asking a plugin's source. */
export type PluginFacts =
  | { readonly kind: "NotAsked" }
  | { readonly kind: "Fetched"; readonly releases: readonly PluginRelease[] }
  | { readonly kind: "Unchanged" }
  | { readonly kind: "Failed"; readonly reason: "Unavailable" | "ChecksumMismatch"; readonly message: string };

interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: PluginEvent;
  readonly message: string;
  readonly isLogged?: boolean;
}

/** A status holds no more than this; what is pinned or was chosen is always kept. */
const maxKeptVersions = 500;

export function mergePluginFacts(
  plugin: Plugin,
  facts: PluginFacts,
  now: Date,
): { status: Status; events: readonly Note[] } {
  const old: Status = plugin.status ?? {};
  const fetchedFrom = sourceText(plugin);
  const isSameSource = old.fetchedFrom === undefined || old.fetchedFrom === fetchedFrom;
  const generation = plugin.metadata.generation !== undefined && { observedGeneration: plugin.metadata.generation };
  switch (facts.kind) {
    case "NotAsked":
      return { status: { ...old, ...generation }, events: [] };
    case "Unchanged":
    case "Fetched": {
      const known = isSameSource ? (old.availableVersions ?? []) : [];
      const availableVersions = facts.kind === "Fetched" ? toVersions(plugin, facts.releases, known, now) : known;
      const status: Status = {
        ...old,
        ...generation,
        availableVersions,
        repositoryStatus: "available",
        lastFetched: formatTime(now),
        fetchedFrom,
      };
      const said = [countOf(availableVersions, facts), ...doubtsAbout(plugin)].join("; ");
      return { status: { ...status, conditions: conditionsOf(plugin, true, "Available", said, now) }, events: [] };
    }
    case "Failed": {
      const isPoisoned = facts.reason === "ChecksumMismatch";
      const known = isSameSource && !isPoisoned ? (old.availableVersions ?? []) : [];
      const { availableVersions: _, ...kept } = old;
      const status: Status = {
        ...kept,
        ...generation,
        ...(known.length > 0 && { availableVersions: known }),
        repositoryStatus: known.length > 0 ? "orphaned" : "unavailable",
        fetchedFrom,
      };
      const message =
        known.length > 0 ? `${facts.message}; the ${known.length} versions known before are used` : facts.message;
      const isNews = old.repositoryStatus !== status.repositoryStatus;
      return {
        status: { ...status, conditions: conditionsOf(plugin, false, facts.reason, message, now) },
        events: isNews ? [{ type: "Warning", reason: "RepositoryUnavailable", message, isLogged: true }] : [],
      };
    }
  }
}

/** How many are known, and that there are more where not all of them are kept. */
function countOf({ length }: readonly AvailableVersion[], facts: PluginFacts): string {
  const found = facts.kind === "Fetched" ? new Set(facts.releases.map(({ version }) => version)).size : length;
  if (found > length)
    return `The newest ${length} of ${found} versions are known; to hold an older one, pin it with spec.version`;
  return `${length} ${length === 1 ? "version is" : "versions are"} known`;
}

/** What is allowed, but worth a second look. */
function doubtsAbout({ spec: { source } }: Plugin): readonly string[] {
  if (source.type !== "url") return [];
  const isJar = URL.parse(source.url ?? "")?.pathname.endsWith(".jar") ?? false;
  return [
    ...(source.checksum === undefined
      ? ["whatever is found there is taken, since spec.source.checksum is not set"]
      : []),
    ...(isJar ? [] : ["spec.source.url does not end in .jar"]),
  ];
}

/** What the known versions came from, so that a changed source is noticed. */
export function sourceText({ spec: { source } }: Plugin): string {
  if (source.type !== "url") return `${source.type}:${source.project ?? ""}`;
  return `url:${source.url ?? ""}${source.checksum === undefined ? "" : `#${source.checksum.toLowerCase()}`}`;
}

function toVersions(
  plugin: Plugin,
  releases: readonly PluginRelease[],
  known: readonly AvailableVersion[],
  now: Date,
): readonly AvailableVersion[] {
  const before = new Map(known.map((version) => [version.version, version]));
  const newestFirst = [...new Map(releases.map((release) => [release.version, release])).values()].sort((a, b) =>
    comparePluginVersions(b.version, a.version),
  );
  const { spec, status } = plugin;
  return newestFirst
    .filter(
      ({ version }, index) =>
        index < maxKeptVersions || isBuildOf(version, spec.version) || version === status?.resolvedVersion,
    )
    .map(({ version, minecraftVersions, downloadURL, hash, releasedAt, channel, dependencies }) => {
      const old = before.get(version);
      const isSameFile = old !== undefined && old.hash === hash;
      const cachedAt = old?.cachedAt ?? formatTime(now);
      return {
        version,
        minecraftVersions,
        downloadURL,
        hash,
        cachedAt,
        releasedAt: releasedAt ?? (isSameFile ? old.releasedAt : formatTime(now)),
        ...(channel !== undefined && { channel }),
        ...(dependencies && { dependencies }),
      };
    });
}

/** `2.21.0` itself, and `2.21.0+512` or `2.21.0-b512`: a pin follows the builds of its version. */
const isBuildOf = (version: string, pin: string | undefined): boolean =>
  pin !== undefined && pin !== "" && version.startsWith(pin) && !/^[0-9.]/.test(version.slice(pin.length));

function conditionsOf(
  { metadata, status }: Plugin,
  isAvailable: boolean,
  reason: string,
  message: string,
  now: Date,
): NonNullable<Status["conditions"]> {
  const common = {
    status: isAvailable ? ("True" as const) : ("False" as const),
    message,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
  };
  const states: readonly ConditionState[] = [
    { type: "RepositoryAvailable", reason, ...common },
    { type: "Ready", reason: isAvailable ? "ReconcileSuccess" : "ReconcileError", ...common },
  ];
  return states.reduce<NonNullable<Status["conditions"]>>(
    (conditions, state) => setCondition(conditions, state, now),
    status?.conditions ?? [],
  );
}

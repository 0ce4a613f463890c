import type { PaperMCServer, PaperServerEvent } from "../../api/papermc-server.ts";
import { setCondition } from "../../kube/condition.ts";
import { parseDurationMs } from "../../kube/duration.ts";
import { formatTime } from "../../kube/time.ts";
import { compareMinecraftVersions, parseMinecraftVersion } from "../../versions/minecraft.ts";
import { parseSchedule } from "./cron.ts";
import type { PaperBuild } from "./paper.ts";

type Status = NonNullable<PaperMCServer["status"]>;
type AvailableVersion = NonNullable<Status["availableVersions"]>[number];

/** What the outside knows of Paper: builds by version, newest version first, and the tags of the image. */
export interface PaperCatalogue {
  readonly versions: readonly { readonly version: string; readonly builds: readonly PaperBuild[] }[];
  readonly tags: ReadonlySet<string>;
}

export type PaperFacts =
  | { readonly kind: "NotAsked" }
  | { readonly kind: "Fetched"; readonly catalogue: PaperCatalogue }
  | { readonly kind: "Failed"; readonly message: string };

interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: PaperServerEvent;
  readonly message: string;
  readonly isLogged?: boolean;
}

export function mergePaperFacts(
  server: PaperMCServer,
  facts: PaperFacts,
  now: Date,
): { readonly status: Status; readonly events: readonly Note[] } {
  const old: Status = { ...server.status, conditions: scheduleCondition(server, now) };
  switch (facts.kind) {
    case "NotAsked":
      return { status: old, events: [] };
    case "Fetched":
      return {
        status: {
          ...old,
          availableVersions: availableVersions(server, facts.catalogue, now),
          repositoryStatus: "available",
          lastFetched: formatTime(now),
        },
        events: [],
      };
    case "Failed": {
      const hasCache = (old.availableVersions?.length ?? 0) > 0;
      const repositoryStatus = hasCache ? "orphaned" : "unavailable";
      const isNews = old.repositoryStatus !== repositoryStatus;
      const message = hasCache ? `${facts.message}; the versions known before are used` : facts.message;
      return {
        status: { ...old, repositoryStatus },
        events: isNews ? [{ type: "Warning", reason: "RepositoryUnavailable", message, isLogged: true }] : [],
      };
    }
  }
}

/** A version that a status speaks of, in the builds that could be wanted: the newest, and one that is old enough. */
export function availableVersions(
  server: PaperMCServer,
  { versions, tags }: PaperCatalogue,
  now: Date,
): readonly AvailableVersion[] {
  const { spec, status } = server;
  const floor = status?.currentVersion === undefined ? undefined : parseMinecraftVersion(status.currentVersion);
  return versions.flatMap(({ version, builds }) => {
    if (floor && compareMinecraftVersions(parseMinecraftVersion(version), floor) < 0) return [];
    const isPinned = spec.version === version;
    return wantedBuilds(builds, version, tags, isPinned ? spec.build : undefined, spec.updateDelay, now).map(
      ({ build, channel, releasedAt }) => ({
        version,
        build,
        ...(channel !== "" && { channel }),
        ...(releasedAt !== undefined && { releasedAt }),
        imageAvailable: tags.has(`${version}-${build}`),
      }),
    );
  });
}

/** Builds come newest first. Those with an image come before those without, and settled ones before others. */
function wantedBuilds(
  builds: readonly PaperBuild[],
  version: string,
  tags: ReadonlySet<string>,
  pinned: number | undefined,
  delay: string | undefined,
  now: Date,
): readonly PaperBuild[] {
  const withImage = builds.filter(({ build }) => tags.has(`${version}-${build}`));
  const settled = withImage.filter(({ channel }) => channel === "STABLE" || channel === "RECOMMENDED");
  const newest = settled[0] ?? withImage[0] ?? builds[0];
  const delayMs = delay === undefined ? undefined : parseDurationMs(delay);
  const latest = delayMs?.ok ? now.getTime() - delayMs.value : undefined;
  const oldEnough =
    latest === undefined
      ? undefined
      : settled.find(({ releasedAt }) => releasedAt !== undefined && Date.parse(releasedAt) < latest);
  const exact = pinned === undefined ? undefined : builds.find(({ build }) => build === pinned);
  return [...new Set([newest, oldEnough, exact])].flatMap((build) => build ?? []);
}

/** A bad schedule is a condition that names the field. */
function scheduleCondition(
  { metadata, spec: { updateSchedule }, status }: PaperMCServer,
  now: Date,
): NonNullable<Status["conditions"]> {
  const { checkCron, timeZone, maintenanceWindow } = updateSchedule;
  const zone = parseSchedule("@daily", timeZone);
  const check = parseSchedule(checkCron);
  const window = parseSchedule(maintenanceWindow.cron);
  const wrong = !zone.ok
    ? (["InvalidTimeZone", `spec.updateSchedule.timeZone: ${zone.message}`] as const)
    : !check.ok
      ? (["InvalidCronExpression", `spec.updateSchedule.checkCron: ${check.message}`] as const)
      : maintenanceWindow.enabled && !window.ok
        ? (["InvalidCronExpression", `spec.updateSchedule.maintenanceWindow.cron: ${window.message}`] as const)
        : undefined;
  return setCondition(
    status?.conditions,
    {
      type: "CronScheduleValid",
      status: wrong ? "False" : "True",
      reason: wrong?.[0] ?? "CronScheduleConfigured",
      message: wrong?.[1] ?? "The schedules can be read",
      ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    },
    now,
  );
}

import type { PaperMCServer } from "../../api/papermc-server.ts";
import {
  compareWithoutBuild,
  isRelease,
  type MinecraftVersion,
  parseMinecraftVersion,
} from "../../versions/minecraft.ts";
import { followsNewest } from "./fleet.ts";
import { eligibleAt, oldEnough } from "./update-delay.ts";

/** One thing that a server could run: a version of Paper in one build. */
export interface ServerCandidate {
  readonly version: MinecraftVersion;
  readonly build?: number;
  readonly releasedAt?: string;
}

/** Why a server may not take every candidate. `Pin`, `Delay` are the user's words; `Floor` is that it never goes back. */
export type OwnReason = "Pin" | "Delay" | "Floor";

export type ServerChoices =
  | {
      readonly kind: "Candidates";
      /** From oldest to newest. */
      readonly candidates: readonly ServerCandidate[];
      readonly current?: number;
      readonly limits: readonly { readonly reason: OwnReason; readonly allowed: readonly number[] }[];
      /** The newest candidate that its own limits allow. */
      readonly ceiling: number;
    }
  | { readonly kind: "None"; readonly message: string };

/** What a server may run as far as it alone is concerned. */
export function serverChoices(server: PaperMCServer, now: Date): ServerChoices {
  const { spec } = server;
  const current = currentOf(server);
  const candidates = candidatesOf(server, current);
  if (candidates.length === 0) return { kind: "None", message: nothingKnown(server) };
  const all = candidates.map((_, index) => index);
  const currentIndex = current ? candidates.findIndex((candidate) => compare(candidate, current) === 0) : -1;
  const where = (passes: (candidate: ServerCandidate, index: number) => boolean): readonly number[] =>
    all.filter((index) => index === currentIndex || passes(candidates[index] as ServerCandidate, index));
  const limits: { reason: OwnReason; allowed: readonly number[] }[] = [];
  if (!followsNewest(server))
    limits.push({ reason: "Pin", allowed: where((candidate) => isPinned(server, candidate)) });
  if (spec.updateDelay !== undefined && spec.updateStrategy !== "build-pin") {
    const isOldEnough = oldEnough(spec.updateDelay, now);
    limits.push({ reason: "Delay", allowed: where(({ releasedAt }) => isOldEnough(releasedAt)) });
  }
  if (currentIndex > 0) limits.push({ reason: "Floor", allowed: where((_, index) => index > currentIndex) });
  const allowedSets = limits.map(({ allowed }) => new Set(allowed));
  const ceiling = all.findLast((index) => allowedSets.every((allowed) => allowed.has(index)));
  if (ceiling === undefined) return { kind: "None", message: nothingAllowed(server, candidates) };
  return {
    kind: "Candidates",
    candidates,
    limits,
    ceiling,
    ...(currentIndex >= 0 && { current: currentIndex }),
  };
}

/** `1.21.4-232`, the tag of the image that has it. */
export const tagOf = ({ version, build }: ServerCandidate): string =>
  build === undefined ? version.text : `${version.text}-${build}`;

export const imageOf = (candidate: ServerCandidate): string => `docker.io/lexfrei/papermc:${tagOf(candidate)}`;

export function currentOf({ status }: PaperMCServer): ServerCandidate | undefined {
  if (status?.currentVersion === undefined) return undefined;
  return {
    version: parseMinecraftVersion(status.currentVersion),
    ...(status.currentBuild !== undefined && { build: status.currentBuild }),
  };
}

function candidatesOf(server: PaperMCServer, current: ServerCandidate | undefined): readonly ServerCandidate[] {
  const known = (server.status?.availableVersions ?? []).flatMap((entry) => {
    const candidate: ServerCandidate = {
      version: parseMinecraftVersion(entry.version),
      ...(entry.build !== undefined && { build: entry.build }),
      ...(entry.releasedAt !== undefined && { releasedAt: entry.releasedAt }),
    };
    const isWanted = followsNewest(server)
      ? isRelease(candidate.version) && isSettled(entry.channel)
      : isPinned(server, candidate);
    return entry.imageAvailable !== false && isWanted ? [candidate] : [];
  });
  const pinned = isPinImageMissing(server) ? [] : pinOf(server, known);
  const found = [...(current ? [current] : []), ...known, ...pinned].sort(compare);
  // The same version may be written in two ways, and what runs now may be listed too, then with its release time.
  const distinct: ServerCandidate[] = [];
  for (const candidate of found) {
    const last = distinct.at(-1);
    if (last && compare(last, candidate) === 0) distinct[distinct.length - 1] = { ...candidate, ...last };
    else distinct.push(candidate);
  }
  return distinct;
}

/** A pin counts even when nobody could be asked whether it exists, but not before anybody was. */
function pinOf({ spec, status }: PaperMCServer, known: readonly ServerCandidate[]): readonly ServerCandidate[] {
  if (status?.availableVersions === undefined && status?.repositoryStatus === undefined) return [];
  if (spec.updateStrategy === "build-pin" && spec.version !== undefined && spec.build !== undefined)
    return [{ version: parseMinecraftVersion(spec.version), build: spec.build }];
  if (spec.updateStrategy !== "pin" || spec.version === undefined || known.length > 0) return [];
  return [{ version: parseMinecraftVersion(spec.version), ...(spec.build !== undefined && { build: spec.build }) }];
}

/** Somebody was asked, and knows no such image; what runs already needs nobody to know it. */
export function isPinImageMissing(server: PaperMCServer): boolean {
  const known = server.status?.availableVersions ?? [];
  if (followsNewest(server) || known.length === 0) return false;
  const current = currentOf(server);
  if (current && isPinned(server, current)) return false;
  return !known.some(
    ({ version, build, imageAvailable }) =>
      imageAvailable !== false &&
      isPinned(server, { version: parseMinecraftVersion(version), ...(build !== undefined && { build }) }),
  );
}

function isPinned({ spec }: PaperMCServer, { version, build }: ServerCandidate): boolean {
  const wanted = parseMinecraftVersion(spec.version ?? "");
  if (compareWithoutBuild(version, wanted) !== 0) return false;
  if (spec.build === undefined) return true;
  return spec.updateStrategy === "build-pin" ? build === spec.build : (build ?? spec.build) >= spec.build;
}

/** Builds that their authors call unfinished are never chosen by themselves. */
const isSettled = (channel: string | undefined): boolean =>
  channel === undefined || channel === "STABLE" || channel === "RECOMMENDED" || channel === "default";

export const compare = (a: ServerCandidate, b: ServerCandidate): number =>
  compareWithoutBuild(a.version, b.version) || (a.build ?? 0) - (b.build ?? 0);

function nothingKnown(server: PaperMCServer): string {
  const { spec, status } = server;
  if (isPinImageMissing(server)) {
    const tag = spec.build === undefined ? (spec.version ?? "") : `${spec.version}-${spec.build}`;
    return `Image docker.io/lexfrei/papermc:${tag} does not exist; choose another spec.version or spec.build`;
  }
  if (status?.availableVersions === undefined)
    return status?.repositoryStatus === "unavailable"
      ? "No version of Paper is known, because nobody could be asked; the event RepositoryUnavailable says why"
      : "No version of Paper is known yet";
  return "None of the known versions of Paper is a stable release with an image; pin one with spec.version";
}

function nothingAllowed({ spec }: PaperMCServer, candidates: readonly ServerCandidate[]): string {
  const first = candidates
    .flatMap((candidate) => {
      const at = eligibleAt(candidate.releasedAt, spec.updateDelay);
      return at ? [{ at, candidate }] : [];
    })
    .sort((a, b) => a.at.getTime() - b.at.getTime())[0];
  return first
    ? `Every known version is younger than updateDelay ${spec.updateDelay}; ${tagOf(first.candidate)} is old enough first`
    : "No known version is allowed by the server's own settings";
}

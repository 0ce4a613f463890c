import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import type { Rest } from "../../solver/rest.ts";
import {
  comparePluginVersions,
  compareReadVersions,
  type PluginVersion,
  readPluginVersion,
} from "../../versions/plugin-version.ts";
import type { AvailableVersion } from "./compatibility.ts";
import { followsNewest, type Member, type Project } from "./fleet.ts";
import { oldEnough } from "./update-delay.ts";

/** What a project may be installed in. Value 0 of its variable is "none: keep what is installed", value n is candidate n - 1. */
export type PluginChoices =
  | {
      readonly kind: "Candidates";
      /** From oldest to newest. */
      readonly candidates: readonly AvailableVersion[];
      readonly limits: readonly PluginLimit[];
      /** The newest version that is installed anywhere. */
      readonly installed?: string;
      readonly pin?: Pin;
    }
  /** Nobody has been asked yet. */
  | { readonly kind: "Pending" }
  /** Nothing is known of it, so nothing can be said against it. */
  | { readonly kind: "Unknown" };

export interface PluginLimit {
  readonly reason: "Pin" | "Delay" | "Floor";
  readonly plugin: string;
  /** Values of the variable. */
  readonly allowed: readonly number[];
}

export interface Pin {
  readonly plugin: string;
  readonly version: string;
  /** Whether the pin is among the known versions. */
  readonly known: boolean;
  /** Others that pin the same project elsewhere, and lose. */
  readonly overruled: readonly string[];
}

/** What a project may be installed in as far as it alone is concerned. It may have thousands of versions, so others run in between. */
export async function pluginChoices({ members }: Project, now: Date, rest: Rest): Promise<PluginChoices> {
  const known = knownVersions(members);
  const installed = installedVersion(members);
  if (known.length === 0 && installed === undefined) {
    const isPending = members.every(({ plugin: { status } }) => status?.repositoryStatus === undefined);
    return { kind: isPending ? "Pending" : "Unknown" };
  }
  const pin = members.some(({ plugin }) => followsNewest(plugin)) ? undefined : highestPin(members);
  const read = await inOrder(withInstalled(pin ? known : settledOnly(known), members, installed), rest);
  const values = async (passes: (one: Read) => boolean): Promise<readonly number[]> => {
    const passed = [0];
    for (const [index, one] of read.entries()) {
      if (passes(one)) passed.push(index + 1);
      const pause = rest();
      if (pause) await pause;
    }
    return passed;
  };
  const limits: PluginLimit[] = [];
  let isPinKnown = false;
  if (pin) {
    const allowed = await values(({ available }) => isPinnedTo(available.version, pin.version, pin.build));
    isPinKnown = allowed.length > 1;
    limits.push({ reason: "Pin", plugin: pin.plugin, allowed });
  } else {
    for (const { plugin } of members) {
      const { updateDelay } = plugin.spec;
      if (updateDelay === undefined) continue;
      const isOldEnough = oldEnough(updateDelay, now);
      const allowed = await values(
        ({ available: { version, releasedAt } }) => version === installed || isOldEnough(releasedAt),
      );
      limits.push({ reason: "Delay", plugin: plugin.metadata.name, allowed });
    }
    if (installed !== undefined) {
      const floor = readPluginVersion(installed);
      limits.push({
        reason: "Floor",
        plugin: members[0]?.plugin.metadata.name ?? "",
        allowed: await values(({ version }) => compareReadVersions(version, floor) >= 0),
      });
    }
  }
  return {
    kind: "Candidates",
    candidates: read.map(({ available }) => available),
    limits,
    ...(installed !== undefined && { installed }),
    ...(pin && {
      pin: { plugin: pin.plugin, version: pin.version, known: isPinKnown, overruled: pin.overruled },
    }),
  };
}

interface Read {
  readonly available: AvailableVersion;
  readonly version: PluginVersion;
}

/** From oldest to newest. */
async function inOrder(versions: readonly AvailableVersion[], rest: Rest): Promise<readonly Read[]> {
  const read: Read[] = [];
  for (const available of versions) {
    read.push({ available, version: readPluginVersion(available.version) });
    const pause = rest();
    if (pause) await pause;
  }
  return read.sort((a, b) => compareReadVersions(a.version, b.version));
}

/** What a server has of a plugin now, by its own status. */
export function installedOn({ plugin }: Member, { status }: PaperMCServer): string | undefined {
  return status?.plugins?.find(({ pluginRef }) => pluginRef.name === plugin.metadata.name)?.currentVersion;
}

/** `2.21.0` pins every build of it, `2.21.0+512` or `2.21.0-b512` with build 512 just the one. */
export function isPinnedTo(version: string, pin: string, build: number | undefined): boolean {
  const rest = version.startsWith(pin) ? version.slice(pin.length) : undefined;
  const found = rest === undefined ? null : /^(?:\+|[-+. ]?(?:build|b|#)[-. ]?)([0-9]+)$/i.exec(rest);
  if (build !== undefined && found) return Number(found[1]) === build;
  return comparePluginVersions(version, pin) === 0 || found !== null;
}

function knownVersions(members: readonly Member[]): AvailableVersion[] {
  const byVersion = new Map<string, AvailableVersion>();
  for (const { plugin } of members)
    for (const available of plugin.status?.availableVersions ?? [])
      if (!byVersion.has(available.version)) byVersion.set(available.version, available);
  return [...byVersion.values()];
}

function installedVersion(members: readonly Member[]): string | undefined {
  return members
    .flatMap((member) => member.servers.flatMap((server) => installedOn(member, server) ?? []))
    .sort(comparePluginVersions)
    .at(-1);
}

/** A version that was withdrawn may stay where it is: it is known to run there. */
function withInstalled(
  known: readonly AvailableVersion[],
  members: readonly Member[],
  installed: string | undefined,
): AvailableVersion[] {
  if (installed === undefined || known.some(({ version }) => version === installed)) return [...known];
  const withdrawn = members
    .flatMap(({ plugin }) => plugin.status?.availableVersions ?? [])
    .find(({ version }) => version === installed);
  const runsOn = members.flatMap(({ servers }) => servers.flatMap(({ status }) => status?.currentVersion ?? []));
  const stillThere: AvailableVersion = withdrawn ?? {
    version: installed,
    minecraftVersions: [...new Set(runsOn)],
    downloadURL: "",
    hash: "",
    cachedAt: "",
    releasedAt: "",
  };
  return [...known, stillThere];
}

const unsettled = /alpha|beta|snapshot|dev|pre|nightly|experimental|\brc\b/i;

/** Unfinished versions count only where there is nothing else. */
function settledOnly(known: readonly AvailableVersion[]): readonly AvailableVersion[] {
  const settled = known.filter(({ channel }) => channel === undefined || !unsettled.test(channel));
  return settled.length > 0 ? settled : known;
}

function highestPin(
  members: readonly Member[],
): { plugin: string; version: string; build: number | undefined; overruled: readonly string[] } | undefined {
  const pins = members
    .map(({ plugin }) => ({ plugin, version: plugin.spec.version ?? "", build: plugin.spec.build ?? 0 }))
    .sort((a, b) => comparePluginVersions(b.version, a.version) || b.build - a.build);
  const [highest, ...others] = pins;
  if (!highest) return undefined;
  return {
    plugin: highest.plugin.metadata.name,
    version: highest.version,
    build: buildOf(highest.plugin),
    overruled: others
      .filter(({ version }) => comparePluginVersions(version, highest.version) !== 0)
      .map(({ plugin }) => plugin.metadata.name),
  };
}

const buildOf = ({ spec }: Plugin): number | undefined =>
  spec.updateStrategy === "build-pin" ? spec.build : undefined;

/**
 * Versions of Minecraft and of the servers that follow it, as they are really written: `1.21`, `1.20.4`, the year-based
 * `26.1.2`, pre-releases of every era, weekly snapshots and Paper builds. Any text has a place in one total order.
 */
export interface MinecraftVersion {
  readonly text: string;
  readonly kind: "numbered" | "weekly" | "other";
  /** `1.21.4` is [1, 21, 4]; a weekly snapshot is [year, week]; empty for anything else. */
  readonly numbers: readonly number[];
  readonly stage: Stage;
  /** Which of its stage: 4 of `1.21.9-pre4`; the letter of a weekly snapshot. */
  readonly stageNumber: number;
  /** The build of a server: 123 of `1.21.4-123`; 0 when none is named. */
  readonly build: number;
}

export type Stage = "snapshot" | "pre" | "rc" | "release";

/** Longer than any real version; what is longer is kept as it is and never read. */
const maxLength = 100;

export function parseMinecraftVersion(text: string): MinecraftVersion {
  return (
    parseNumbered(text) ??
    parseWeekly(text) ?? { text, kind: "other", numbers: [], stage: "snapshot", stageNumber: 0, build: 0 }
  );
}

/**
 * Older is negative. Missing numbers are zero, so 1.21 and 1.21.0 are equal. Weekly snapshots and names that nobody can
 * read come before every numbered version: they are never the newest by accident.
 */
export const compareMinecraftVersions = (a: MinecraftVersion, b: MinecraftVersion): number =>
  compareWithoutBuild(a, b) || a.build - b.build;

/** The same of what the build is made from. */
export function compareWithoutBuild(a: MinecraftVersion, b: MinecraftVersion): number {
  return (
    kindRank[a.kind] - kindRank[b.kind] ||
    compareNumbers(a.numbers, b.numbers) ||
    stageRank[a.stage] - stageRank[b.stage] ||
    a.stageNumber - b.stageNumber ||
    (a.kind === "other" ? compareText(a.text, b.text) : 0)
  );
}

/** Only releases are chosen automatically. */
export const isRelease = ({ kind, stage }: MinecraftVersion): boolean => kind === "numbered" && stage === "release";

/** What an entry of a compatibility list covers: a stretch of the order, and of that what passes. */
export interface Coverage {
  /** Nothing before this is covered, and nothing after `to`; builds do not count. */
  readonly from?: MinecraftVersion;
  readonly to?: MinecraftVersion;
  covers(version: MinecraftVersion): boolean;
}

/**
 * An entry is a version, `1.21.x` or `1.21.*` (which cover 1.21 itself too), a range of two versions such as
 * `1.19.4-1.20.6`, or a minimum such as `1.21+`.
 */
export function readCoverage(entry: string): Coverage {
  const pattern = entry.trim();
  const range = /^([0-9]+(?:\.[0-9]+)+)\s*-\s*([0-9]+(?:\.[0-9]+)+)$/.exec(pattern);
  if (range) return between(parseMinecraftVersion(range[1] ?? ""), parseMinecraftVersion(range[2] ?? ""));
  const minimum = /^([0-9]+(?:\.[0-9]+)+)\+$/.exec(pattern);
  if (minimum) return between(parseMinecraftVersion(minimum[1] ?? ""));
  const wildcard = /^([0-9]+(?:\.[0-9]+)*)\.[xX*]$/.exec(pattern);
  if (wildcard) return startingWith((wildcard[1] ?? "").split(".").map(Number));
  const exact = parseMinecraftVersion(pattern);
  return between(exact, exact);
}

/** For a single question; a list of them is better read once. */
export const coversMinecraftVersion = (entry: string, version: MinecraftVersion): boolean =>
  readCoverage(entry).covers(version);

function between(from: MinecraftVersion, to?: MinecraftVersion): Coverage {
  return {
    from,
    ...(to && { to }),
    covers: (version) =>
      compareWithoutBuild(from, version) <= 0 && (to === undefined || compareWithoutBuild(version, to) <= 0),
  };
}

function startingWith(prefix: readonly number[]): Coverage {
  const first = { text: "", kind: "numbered", stage: "snapshot", stageNumber: 0, build: 0 } as const;
  return {
    from: { ...first, numbers: prefix },
    to: { ...first, numbers: prefix.with(-1, (prefix.at(-1) ?? 0) + 1) },
    covers: (version) =>
      isRelease(version) && prefix.every((number, index) => (version.numbers[index] ?? 0) === number),
  };
}

const kindRank = { other: 0, weekly: 1, numbered: 2 } as const;
const stageRank = { snapshot: 0, pre: 1, rc: 2, release: 3 } as const;

const numbered = /^v?([0-9]+(?:\.[0-9]+)+)(.*)$/is;
const build = /^[-+](?:build[.-]?)?([0-9]+)$/i;
const staged = /^[-. ]?(snapshot|pre-?release|pre|release candidate|rc)[-. ]?([0-9]*)$/i;
const weekly = /^([0-9]{2})w([0-9]{2})([a-z~]?)(.*)$/is;

function parseNumbered(text: string): MinecraftVersion | undefined {
  const found = text.length <= maxLength ? numbered.exec(text.trim()) : null;
  if (!found) return undefined;
  const [, digits = "", suffix = ""] = found;
  const numbers = digits.split(".").map(Number);
  const version = { text, kind: "numbered", numbers, stage: "release", stageNumber: 0, build: 0 } as const;
  if (suffix === "") return version;
  const builds = build.exec(suffix);
  if (builds) return { ...version, build: Number(builds[1]) };
  const stage = staged.exec(suffix);
  if (!stage) return undefined;
  return { ...version, stage: stageOf(stage[1] ?? ""), stageNumber: Number(stage[2] === "" ? 0 : stage[2]) };
}

function stageOf(word: string): Stage {
  const lower = word.toLowerCase();
  if (lower === "snapshot") return "snapshot";
  return lower.startsWith("pre") ? "pre" : "rc";
}

function parseWeekly(text: string): MinecraftVersion | undefined {
  const found = text.length <= maxLength ? weekly.exec(text.trim()) : null;
  if (!found) return undefined;
  const [, year = "", week = "", letter = ""] = found;
  const stageNumber = letter === "" ? 0 : letter.toLowerCase().charCodeAt(0);
  return { text, kind: "weekly", numbers: [Number(year), Number(week)], stage: "snapshot", stageNumber, build: 0 };
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const order = (a[index] ?? 0) - (b[index] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

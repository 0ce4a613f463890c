import {
  comparePrerelease,
  compareSemVer,
  endOf,
  expected,
  isDigit,
  maxNumber,
  parseSuffix,
  refuse,
  type SemVer,
} from "./semver.ts";

/**
 * Version constraints in the dialect of Masterminds/semver v3 (`^1.2`, `~1.2.3`, `>=1.1, <2 || 3.x`, `1.1 - 2`), which
 * differs from node-semver: commas mean and, `>1.2` means 1.3.0 or newer, `!=` and `~>` exist.
 */
export interface SemVerConstraint {
  readonly text: string;
  /** Satisfied when every comparison of at least one alternative is. */
  readonly alternatives: readonly (readonly Comparison[])[];
}

export interface Comparison {
  readonly operator: Operator;
  readonly version: SemVer;
  /** How many of major, minor and patch were written as numbers; the rest is open, as in `1.2.x` or `1.2`. */
  readonly precision: 0 | 1 | 2 | 3;
}

export type Operator = "" | "=" | "!=" | ">" | "<" | ">=" | "<=" | "~" | "^";

export type ParsedConstraint =
  | { readonly ok: true; readonly constraint: SemVerConstraint }
  | { readonly ok: false; readonly column: number; readonly message: string };

/** A longer constraint is refused before it is read; the dialect's own limits. */
export const maxConstraintLength = 512;
export const maxAlternatives = 32;

/** Parses a constraint; an empty one means any release. Columns count from 1. */
export function parseConstraint(text: string): ParsedConstraint {
  if (text.length > maxConstraintLength) {
    return refuse(maxConstraintLength + 1, `a constraint has at most ${maxConstraintLength} characters`);
  }
  if (text.trim() === "") return { ok: true, constraint: { text, alternatives: [[anyRelease]] } };
  const alternatives: (readonly Comparison[])[] = [];
  let start = 0;
  for (const part of text.split("||")) {
    if (alternatives.length === maxAlternatives)
      return refuse(start + 1, `a constraint has at most ${maxAlternatives} alternatives`);
    const comparisons = parseAlternative(text, start, start + part.length);
    if (!comparisons.ok) return comparisons;
    alternatives.push(comparisons.comparisons);
    start += part.length + 2;
  }
  return { ok: true, constraint: { text, alternatives } };
}

/**
 * A pre-release satisfies an alternative only when one of its comparisons names a pre-release, or when the caller
 * includes pre-releases everywhere.
 */
export function satisfies(version: SemVer, constraint: SemVerConstraint, includePrerelease = false): boolean {
  return constraint.alternatives.some((comparisons) => {
    const mayBePrerelease =
      includePrerelease || comparisons.some((comparison) => comparison.version.prerelease.length > 0);
    if (version.prerelease.length > 0 && !mayBePrerelease) return false;
    return comparisons.every((comparison) => holds[comparison.operator](version, comparison));
  });
}

const holds: Readonly<Record<Operator, (version: SemVer, comparison: Comparison) => boolean>> = {
  "": (version, comparison) => isExactlyOrWithin(version, comparison),
  "=": (version, comparison) => isExactlyOrWithin(version, comparison),
  "!=": (version, comparison) => differs(version, comparison),
  ">": (version, comparison) => isAbove(version, comparison),
  "<": (version, { version: bound }) => compareSemVer(version, bound) < 0,
  ">=": (version, { version: bound }) => compareSemVer(version, bound) >= 0,
  "<=": (version, comparison) => isAtMost(version, comparison),
  "~": (version, comparison) => isWithinTilde(version, comparison),
  "^": (version, comparison) => isWithinCaret(version, comparison),
};

function isExactlyOrWithin(version: SemVer, comparison: Comparison): boolean {
  return comparison.precision < 3
    ? isWithinTilde(version, comparison)
    : compareSemVer(version, comparison.version) === 0;
}

function differs(version: SemVer, { version: bound, precision }: Comparison): boolean {
  if (precision === 3 || precision === 0) return compareSemVer(version, bound) !== 0;
  if (version.major !== bound.major) return true;
  if (precision === 1) return false;
  if (version.minor !== bound.minor) return true;
  const hasPrerelease = version.prerelease.length > 0 || bound.prerelease.length > 0;
  return hasPrerelease && comparePrerelease(version.prerelease, bound.prerelease) !== 0;
}

/** `>11` is 12 or newer and `>11.1` is 11.2 or newer: every version inside the written part is not above it. */
function isAbove(version: SemVer, { version: bound, precision }: Comparison): boolean {
  if (precision === 3) return compareSemVer(version, bound) > 0;
  if (version.major !== bound.major) return version.major > bound.major;
  if (precision === 1) return false;
  if (precision === 2) return version.minor > bound.minor;
  return compareSemVer(version, bound) > 0;
}

/** `<=1.1` includes every 1.1.z. */
function isAtMost(version: SemVer, { version: bound, precision }: Comparison): boolean {
  if (precision === 3) return compareSemVer(version, bound) <= 0;
  if (version.major > bound.major) return false;
  return !(version.major === bound.major && version.minor > bound.minor && precision !== 1);
}

function isWithinTilde(version: SemVer, { version: bound, precision }: Comparison): boolean {
  if (compareSemVer(version, bound) < 0) return false;
  const isOpen = precision === 0 || precision === 3;
  if (isOpen && bound.major === 0n && bound.minor === 0n && bound.patch === 0n) return true;
  if (version.major !== bound.major) return false;
  return version.minor === bound.minor || precision === 1;
}

/** The leftmost number that is not zero must stay. */
function isWithinCaret(version: SemVer, { version: bound, precision }: Comparison): boolean {
  if (compareSemVer(version, bound) < 0) return false;
  if (bound.major > 0n || precision === 1) return version.major === bound.major;
  if (version.major > 0n) return false;
  if (bound.minor > 0n || precision === 2) return version.minor === bound.minor;
  if (version.minor > 0n) return false;
  return version.patch === bound.patch;
}

type ParsedAlternative =
  | { readonly ok: true; readonly comparisons: readonly Comparison[] }
  | { readonly ok: false; readonly column: number; readonly message: string };

function parseAlternative(text: string, start: number, end: number): ParsedAlternative {
  const comparisons: Comparison[] = [];
  let mayBeRange = true;
  let at = skipSpace(text, start, end);
  if (at === end) return refuse(at + 1, 'expected a constraint beside "||"');
  while (true) {
    const operator = parseOperator(text, at, end);
    at = skipSpace(text, at + operator.length, end);
    const bound = parseBound(text, at, end);
    if (!bound.ok) return bound;
    const hyphen = skipSpace(text, bound.end, end);
    const isRange =
      operator.length === 0 && hyphen > bound.end && text[hyphen] === "-" && isSpace(text.charAt(hyphen + 1));
    if (isRange && !mayBeRange) return refuse(at + 1, "expected a comma before a range");
    if (isRange) {
      const upper = parseBound(text, skipSpace(text, hyphen + 1, end), end);
      if (!upper.ok) return upper;
      comparisons.push({ operator: ">=", ...bound.bound }, { operator: "<=", ...upper.bound });
      at = upper.end;
    } else {
      comparisons.push({ operator: operator.operator, ...bound.bound });
      at = bound.end;
    }
    const next = skipSpace(text, at, end);
    if (next === end) return { ok: true, comparisons };
    const hasComma = text[next] === ",";
    if (!hasComma && next === at && !isRange)
      return refuse(next + 1, expected('",", "||", a space or the end', text, next));
    // The dialect reads `1 - 2 3 - 4`, but `>=1 3 - 4` only with a comma.
    mayBeRange = hasComma || isRange;
    at = hasComma ? skipSpace(text, next + 1, end) : next;
    if (at === end) return refuse(at + 1, expected("a constraint after the comma", text.slice(0, end), at));
  }
}

const operators: readonly (readonly [string, Operator])[] = [
  ["!=", "!="],
  [">=", ">="],
  ["=>", ">="],
  ["<=", "<="],
  ["=<", "<="],
  ["~>", "~"],
  ["=", "="],
  [">", ">"],
  ["<", "<"],
  ["~", "~"],
  ["^", "^"],
];

function parseOperator(
  text: string,
  at: number,
  end: number,
): { readonly operator: Operator; readonly length: number } {
  for (const [written, operator] of operators) {
    if (at + written.length <= end && text.startsWith(written, at)) return { operator, length: written.length };
  }
  return { operator: "", length: 0 };
}

type ParsedBound =
  | { readonly ok: true; readonly bound: Omit<Comparison, "operator">; readonly end: number }
  | { readonly ok: false; readonly column: number; readonly message: string };

/** `1`, `1.2`, `1.x`, `v1.2.3-rc.1`: everything after the first wildcard is open. */
function parseBound(text: string, start: number, end: number): ParsedBound {
  const inside = text.slice(0, end);
  let at = inside[start] === "v" ? start + 1 : start;
  const numbers: bigint[] = [];
  let isOpen = false;
  for (let part = 0; part < 3; part++) {
    const wildcardEnd = endOf(inside, at, isOpen ? isOpenPart : isWildcard);
    const numberEnd = endOf(inside, at, isDigit);
    if (isOpen && wildcardEnd > at) {
      at = wildcardEnd;
    } else if (wildcardEnd > at) {
      if (wildcardEnd > at + 1) return refuse(at + 2, expected('".", a space or the end', inside, at + 1));
      isOpen = true;
      at = wildcardEnd;
    } else if (numberEnd > at) {
      const value = BigInt(inside.slice(at, numberEnd));
      if (value > maxNumber) return refuse(at + 1, `${inside.slice(at, numberEnd)} is too large`);
      numbers.push(value);
      at = numberEnd;
      if (isOpenPart(inside.charAt(at))) return refuse(at + 1, expected('".", a space or the end', inside, at));
    } else {
      return refuse(at + 1, expected(part === 0 ? 'a version such as "1.2.3"' : 'a number or "x"', inside, at));
    }
    if (part === 2 || inside[at] !== ".") break;
    at++;
  }
  const suffix = parseSuffix(inside, at);
  if (!suffix.ok) return suffix;
  const [major = 0n, minor = 0n, patch = 0n] = numbers;
  const version = { major, minor, patch, prerelease: suffix.prerelease, build: suffix.build };
  return { ok: true, bound: { version, precision: numbers.length as Comparison["precision"] }, end: suffix.end };
}

const anyRelease: Comparison = {
  operator: "",
  version: { major: 0n, minor: 0n, patch: 0n, prerelease: [], build: "" },
  precision: 0,
};

const isWildcard = (character: string): boolean => character === "x" || character === "X" || character === "*";
const isOpenPart = (character: string): boolean => isWildcard(character) || isDigit(character) || character === "|";
const isSpace = (character: string): boolean => character !== "" && " \t\n\f\r".includes(character);

function skipSpace(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(text.charAt(at))) at++;
  return at;
}

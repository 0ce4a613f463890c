/**
 * Semantic versions as authors of Kubernetes manifests write them: the reading of Masterminds/semver v3, which accepts a
 * leading `v` and missing minor or patch numbers. For the strict order of one repository's versions see minecraft.ts.
 */
export interface SemVer {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** Dot-separated identifiers; empty for a release. */
  readonly prerelease: readonly string[];
  /** Never compared. */
  readonly build: string;
}

export type ParsedSemVer =
  | { readonly ok: true; readonly version: SemVer }
  | { readonly ok: false; readonly column: number; readonly message: string };

/** A version longer than this is refused: no real one is, and hostile ones must not cost time. */
export const maxVersionLength = 256;

/** Parses `1`, `1.2`, `v1.2.3`, `1.2.3-rc.1+build`; missing numbers are 0. Columns count from 1. */
export function parseSemVer(text: string): ParsedSemVer {
  if (text === "") return refuse(1, "the version is empty");
  if (text.length > maxVersionLength)
    return refuse(maxVersionLength + 1, `a version has at most ${maxVersionLength} characters`);
  const numbers: bigint[] = [];
  let at = text.startsWith("v") ? 1 : 0;
  while (numbers.length < 3) {
    const end = endOf(text, at, isDigit);
    if (end === at) return refuse(at + 1, expected("a number", text, at));
    const value = BigInt(text.slice(at, end));
    if (value > maxNumber) return refuse(at + 1, `${text.slice(at, end)} is too large`);
    numbers.push(value);
    at = end;
    if (text[at] !== "." || numbers.length === 3) break;
    at++;
  }
  const suffix = parseSuffix(text, at);
  if (!suffix.ok) return suffix;
  if (suffix.end < text.length) {
    return refuse(
      suffix.end + 1,
      expected(numbers.length < 3 ? '".", "-", "+" or the end' : '"-", "+" or the end', text, suffix.end),
    );
  }
  const [major = 0n, minor = 0n, patch = 0n] = numbers;
  return { ok: true, version: { major, minor, patch, prerelease: suffix.prerelease, build: suffix.build } };
}

/** Negative, zero or positive, as a sort wants it. Build metadata does not count. */
export function compareSemVer(a: SemVer, b: SemVer): number {
  return (
    compareNumbers(a.major, b.major) ||
    compareNumbers(a.minor, b.minor) ||
    compareNumbers(a.patch, b.patch) ||
    comparePrerelease(a.prerelease, b.prerelease)
  );
}

/** A release is newer than its pre-releases; numbers are older than words; a longer list is newer than its beginning. */
export function comparePrerelease(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Math.sign(b.length - a.length);
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) {
    const order = compareIdentifiers(a[index] ?? "", b[index] ?? "");
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

export function formatSemVer({ major, minor, patch, prerelease, build }: SemVer): string {
  const pre = prerelease.length > 0 ? `-${prerelease.join(".")}` : "";
  return `${major}.${minor}.${patch}${pre}${build === "" ? "" : `+${build}`}`;
}

export type ParsedSuffix =
  | { readonly ok: true; readonly prerelease: readonly string[]; readonly build: string; readonly end: number }
  | { readonly ok: false; readonly column: number; readonly message: string };

/** The optional `-pre.release` and `+build` that follow the numbers. */
export function parseSuffix(text: string, start: number): ParsedSuffix {
  let at = start;
  let prerelease: readonly string[] = [];
  let build = "";
  if (text[at] === "-") {
    const end = endOf(text, at + 1, isIdentifierCharacter);
    const wrong = wrongIdentifier(text, at + 1, end, true);
    if (wrong) return wrong;
    prerelease = text.slice(at + 1, end).split(".");
    at = end;
  }
  if (text[at] === "+") {
    const end = endOf(text, at + 1, isIdentifierCharacter);
    const wrong = wrongIdentifier(text, at + 1, end, false);
    if (wrong) return wrong;
    build = text.slice(at + 1, end);
    at = end;
  }
  return { ok: true, prerelease, build, end: at };
}

/** Numbers are unsigned 64-bit where these manifests come from. */
export const maxNumber = 2n ** 64n - 1n;

export const isDigit = (character: string): boolean => character >= "0" && character <= "9";

export function endOf(text: string, start: number, belongs: (character: string) => boolean): number {
  let end = start;
  while (end < text.length && belongs(text.charAt(end))) end++;
  return end;
}

export const refuse = (column: number, message: string): { ok: false; column: number; message: string } => ({
  ok: false,
  column,
  message,
});

export const expected = (what: string, text: string, at: number): string =>
  at < text.length ? `expected ${what}, found ${JSON.stringify(text.charAt(at))}` : `expected ${what}, found the end`;

function wrongIdentifier(
  text: string,
  start: number,
  end: number,
  isPrerelease: boolean,
): ReturnType<typeof refuse> | undefined {
  let at = start;
  for (const identifier of text.slice(start, end).split(".")) {
    if (identifier === "") return refuse(at + 1, expected("a letter, digit or hyphen", text, at));
    if (isPrerelease && /^0[0-9]+$/.test(identifier))
      return refuse(at + 1, `the number ${identifier} begins with a zero`);
    at += identifier.length + 1;
  }
  return undefined;
}

const isIdentifierCharacter = (character: string): boolean => /[0-9A-Za-z.-]/.test(character);

function compareIdentifiers(a: string, b: string): number {
  if (a === b) return 0;
  const aIsNumber = isNumber(a);
  const bIsNumber = isNumber(b);
  if (aIsNumber && bIsNumber) return compareNumbers(BigInt(a), BigInt(b));
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return a < b ? -1 : 1;
}

const isNumber = (identifier: string): boolean => /^[0-9]+$/.test(identifier) && BigInt(identifier) <= maxNumber;

const compareNumbers = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Versions of plugins as their authors write them: `2.21.0`, `v5.4`, `7.3.9-beta-01`, `1.0-SNAPSHOT`, `build 512`,
 * `2.0.0+nightly.3`. There is no grammar to rely on, so any text is read as numbers and words, and has a place in one
 * total order in which numbers count as numbers and words for unfinished work come before the finished version.
 */
export const comparePluginVersions = (a: string, b: string): number =>
  compareReadVersions({ text: a, tokens: tokensOf(a) }, { text: b, tokens: tokensOf(b) });

/** A version that was read once, for comparing it many times. */
export interface PluginVersion {
  readonly text: string;
  readonly tokens: readonly Token[];
}

export const readPluginVersion = (text: string): PluginVersion => ({ text, tokens: parseTokens(text) });

export function compareReadVersions(
  { text: a, tokens: first }: PluginVersion,
  { text: b, tokens: second }: PluginVersion,
): number {
  const length = Math.max(first.length, second.length);
  for (let index = 0; index < length; index++) {
    const order = compareTokens(first[index] ?? end, second[index] ?? end);
    if (order !== 0) return order;
  }
  return compareText(a, b);
}

type Token =
  | { readonly kind: "number"; readonly value: bigint }
  | { readonly kind: "word"; readonly rank: number; readonly text: string }
  | { readonly kind: "end" };

const end: Token = { kind: "end" };
const maxLength = 200;

/** A leading `v`, `version`, `release` or `build` only introduces the number. */
const introduction = /^(?:v|version|ver|release|build|r|b)[\s.:_-]*(?=[0-9])/i;

/** Sorting reads each version many times; what was read last is kept. */
const read = new Map<string, readonly Token[]>();
const maxRead = 20_000;

function tokensOf(text: string): readonly Token[] {
  const known = read.get(text);
  if (known) return known;
  if (read.size >= maxRead) read.clear();
  const tokens = parseTokens(text);
  read.set(text, tokens);
  return tokens;
}

function parseTokens(text: string): readonly Token[] {
  const cleaned = text.slice(0, maxLength).trim().replace(introduction, "");
  const tokens: Token[] = [];
  for (const [part] of cleaned.matchAll(/[0-9]+|[A-Za-z]+/g)) {
    if (/^[0-9]/.test(part)) tokens.push({ kind: "number", value: BigInt(part) });
    else if (!finished.has(part.toLowerCase())) {
      dropZeros(tokens);
      const word = part.toLowerCase();
      tokens.push({ kind: "word", rank: wordRanks[word] ?? unknownWordRank, text: word });
    }
  }
  dropZeros(tokens);
  return tokens;
}

/** Zeros at the end of a run of numbers say nothing: 1.0-beta and 1-beta are the same. */
function dropZeros(tokens: Token[]): void {
  while (isZero(tokens.at(-1))) tokens.pop();
}

/** Words that only say that the version is a version. */
const finished = new Set(["release", "final", "ga", "stable"]);

/** Negative words stand for something before the version, positive ones for something after it. */
const wordRanks: Readonly<Record<string, number>> = {
  dev: -6,
  nightly: -6,
  snapshot: -5,
  alpha: -4,
  a: -4,
  beta: -3,
  b: -3,
  preview: -2,
  pre: -2,
  prerelease: -2,
  m: -2,
  milestone: -2,
  rc: -1,
  cr: -1,
  candidate: -1,
  sp: 2,
  patch: 2,
  hotfix: 2,
};
const unknownWordRank = 1;

function compareTokens(a: Token, b: Token): number {
  if (a.kind === "number" && b.kind === "number") return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
  if (a.kind === "word" && b.kind === "word") return a.rank - b.rank || compareText(a.text, b.text);
  return position(a) - position(b);
}

/** Where a token stands against one of another kind: 1.0-beta < 1.0 < 1.0-hotfix < 1.0.1. */
function position(token: Token): number {
  switch (token.kind) {
    case "number":
      return 10;
    case "word":
      return token.rank;
    case "end":
      return 0;
  }
}

const isZero = (token: Token | undefined): boolean => token?.kind === "number" && token.value === 0n;

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

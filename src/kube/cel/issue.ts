/** What is wrong with an expression, and where. */
export interface Issue {
  readonly at: number;
  readonly message: string;
}

export class CelSyntaxError extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** After these, further issues only follow from the first ones. */
const maxReported = 100;

/** The issues as kube-apiserver shows them: with the line and a mark under the place. */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  const sorted = [...issues].sort((left, right) => left.at - right.at);
  const shown = sorted.slice(0, maxReported).map((issue) => formatIssue(source, issue));
  if (sorted.length > maxReported) shown.push(`${sorted.length - maxReported} more errors were truncated`);
  return shown.join("\n");
}

function formatIssue(source: string, { at, message }: Issue): string {
  const { line, column, text } = position(source, at);
  const before = [...text].slice(0, column);
  const dots = before.map((character) => (character.charCodeAt(0) < 0x80 ? "." : "．")).join("");
  const mark = ([...text][column]?.charCodeAt(0) ?? 0) < 0x80 ? "^" : "＾";
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text.replaceAll("\t", " ")}\n | ${dots}${mark}`;
}

/** Lines from 1, columns from 0, counted in characters. */
export function position(
  source: string,
  at: number,
): { readonly line: number; readonly column: number; readonly text: string } {
  const start = source.lastIndexOf("\n", at - 1) + 1;
  const end = source.indexOf("\n", at);
  const line = source.slice(0, start).split("\n").length;
  return { line, column: [...source.slice(start, at)].length, text: source.slice(start, end < 0 ? undefined : end) };
}

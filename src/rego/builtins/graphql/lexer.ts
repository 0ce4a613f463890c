/** GraphQL text to tokens. */
import { GraphqlFault, type Position } from "./ast.ts";

export interface Token {
  /** A sign, or `Name`, `Int`, `Float`, `String`, `BlockString`, `<EOF>`. */
  readonly kind: string;
  readonly value: string;
  readonly position: Position;
  /** Comments directly before the token. */
  readonly comments: readonly string[];
  /** A fault that is reported when the parser reaches the token. */
  readonly fault?: GraphqlFault;
}

export function lexGraphql(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let comments: string[] = [];
  let position = 0;
  let line = 1;
  let lineStart = 0;
  const pattern =
    /[\s,\ufeff]+|#[^\n\r]*|[_A-Za-z][_0-9A-Za-z]*|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|"""|"|\.\.\.|[!$&():=@[\]{}|]/y;
  const push = (kind: string, value: string, start: number, fault?: GraphqlFault): void => {
    const at = { line, column: start - lineStart + 1 };
    tokens.push({ kind, value, position: at, comments, ...(fault && { fault }) });
    comments = [];
  };
  const invalid = (message: string, start: number): readonly Token[] => {
    push("<Invalid>", "", start, new GraphqlFault(message, { line, column: start - lineStart + 1 }));
    return tokens;
  };
  const countLines = (text: string, start: number): void => {
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
      line++;
      lineStart = start + at + 1;
    }
  };
  while (position < source.length) {
    pattern.lastIndex = position;
    const text = pattern.exec(source)?.[0];
    const start = position;
    if (text === undefined) return invalid(unexpected(source, position), start);
    position += text.length;
    const [first = ""] = text;
    if (/[\s,\ufeff]/.test(first)) countLines(text, start);
    else if (first === "#") comments.push(text);
    else if (/[_A-Za-z]/.test(first)) push("Name", text, start);
    else if (/[-\d]/.test(first)) {
      if (/[.\w]/.test(source[position] ?? ""))
        return invalid(`Invalid number, unexpected "${source[position]}".`, start);
      push(/[.eE]/.test(text) ? "Float" : "Int", text, start);
    } else if (text === '"""') {
      const close = blockEnd(source, position);
      if (close === -1) {
        countLines(source.slice(position).replaceAll("\r", "\n"), position);
        return invalid("Unterminated string.", source.length);
      }
      push("BlockString", dedent(source.slice(position, close).replaceAll('\\"""', '"""')), position);
      countLines(source.slice(position, close), position);
      position = close + 3;
    } else if (first === '"') {
      const { value, end } = readString(source, position);
      if (value === undefined) return invalid("Unterminated string.", end);
      // The place of a string is that of its first character, not of its quote.
      push("String", value, position);
      position = end;
    } else push(text, "", start);
  }
  push("<EOF>", "", source.length);
  return tokens;
}

export function describeToken(token: Token): string {
  return token.value === "" ? token.kind : `${token.kind} ${JSON.stringify(token.value)}`;
}

function unexpected(source: string, position: number): string {
  const char = String.fromCodePoint(source.codePointAt(position) ?? 0);
  if (char === "'") {
    return "Unexpected single quote character ('), did you mean to use a double quote (\")?";
  }
  return `Cannot parse the unexpected character "${char}".`;
}

function blockEnd(source: string, from: number): number {
  for (let at = source.indexOf('"""', from); at !== -1; at = source.indexOf('"""', at + 1)) {
    if (source[at - 1] !== "\\") return at;
  }
  return -1;
}

/** The common indent and blank first and last lines of a block string do not count. */
function dedent(text: string): string {
  const lines = text.split(/\r\n|[\n\r]/);
  let indent = Number.POSITIVE_INFINITY;
  lines.forEach((line, index) => {
    const own = /^[ \t]*/.exec(line)?.[0].length ?? 0;
    if (index > 0 && own < line.length) indent = Math.min(indent, own);
  });
  const cut = lines.map((line, index) =>
    index === 0 || indent === Number.POSITIVE_INFINITY ? line : line.slice(indent),
  );
  while (cut.length > 0 && (cut[0] ?? "").trim() === "") cut.shift();
  while (cut.length > 0 && (cut.at(-1) ?? "").trim() === "") cut.pop();
  return cut.join("\n");
}

function readString(source: string, from: number): { readonly value: string | undefined; readonly end: number } {
  let value = "";
  for (let at = from; at < source.length; at++) {
    const char = source[at] ?? "";
    if (char === "\n" || char === "\r") return { value: undefined, end: at };
    if (char === '"') return { value, end: at + 1 };
    if (char !== "\\") {
      value += char;
      continue;
    }
    const escaped = source[++at] ?? "";
    if (escaped === "u") {
      value += String.fromCharCode(Number.parseInt(source.slice(at + 1, at + 5), 16));
      at += 4;
    } else value += { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }[escaped] ?? escaped;
  }
  return { value: undefined, end: source.length };
}

import type { LiteralValue } from "./ast.ts";
import { CelSyntaxError, type Issue } from "./issue.ts";
import { unescapeText } from "./unescape.ts";

export interface Token {
  readonly kind: "symbol" | "ident" | "literal" | "end";
  readonly at: number;
  readonly text: string;
  readonly value?: LiteralValue;
}

const blank = /(?:[ \t\r\n\f]+|\/\/[^\n]*)*/y;
const symbol = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const float = /(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/y;
const integer = /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?/y;
const prefix = /(?:[bB]?[rR]?|[rR][bB])(?=["'])/y;
const words: ReadonlyMap<string, LiteralValue> = new Map<string, LiteralValue>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** What cannot be read is skipped and reported, so that the parser can say what it misses there. */
export function tokenize(source: string): { readonly tokens: readonly Token[]; readonly issues: readonly Issue[] } {
  const tokens: Token[] = [];
  const issues: Issue[] = [];
  let at = 0;
  for (;;) {
    at += match(blank, source, at).length;
    if (at >= source.length) {
      tokens.push({ kind: "end", at, text: "<EOF>" });
      return { tokens, issues };
    }
    const token = quotedText(source, at) ?? numberToken(source, at) ?? wordToken(source, at) ?? symbolToken(source, at);
    if (token === undefined) {
      const skipped = unreadable(source, at);
      issues.push({ at, message: `Syntax error: token recognition error at: '${skipped}'` });
      at += skipped.length;
      continue;
    }
    tokens.push(token);
    at += token.text.length;
  }
}

/** A quote that nothing closes swallows the rest of the line. */
function unreadable(source: string, at: number): string {
  const rest = source.slice(at);
  return /^["']/.test(rest) ? (/^[^\n\r]*/.exec(rest)?.[0] ?? "") : String.fromCodePoint(source.codePointAt(at) ?? 0);
}

function match(pattern: RegExp, source: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? "";
}

function numberToken(source: string, at: number): Token | undefined {
  const floating = match(float, source, at);
  if (floating !== "") return { kind: "literal", at, text: floating, value: Number(floating) };
  const text = match(integer, source, at);
  if (text === "") return undefined;
  const isUnsigned = /[uU]$/.test(text);
  const value = BigInt(isUnsigned ? text.slice(0, -1) : text);
  if (isUnsigned) {
    if (BigInt.asUintN(64, value) !== value) throw new CelSyntaxError(at, "invalid uint literal");
    return { kind: "literal", at, text, value: { uint: value } };
  }
  // The parser may still put a minus before it, so 2^63 itself is refused there.
  return { kind: "literal", at, text, value };
}

function wordToken(source: string, at: number): Token | undefined {
  const text = match(identifier, source, at);
  if (text === "") return undefined;
  const value = words.get(text);
  if (value !== undefined) return { kind: "literal", at, text, value };
  return { kind: text === "in" ? "symbol" : "ident", at, text };
}

function symbolToken(source: string, at: number): Token | undefined {
  const text = match(symbol, source, at);
  return text === "" ? undefined : { kind: "symbol", at, text };
}

function quotedText(source: string, at: number): Token | undefined {
  const letters = match(prefix, source, at);
  const quote = source[at + letters.length];
  if (quote !== '"' && quote !== "'") return undefined;
  const start = at + letters.length;
  const isLong = source.startsWith(quote.repeat(3), start);
  const mark = isLong ? quote.repeat(3) : quote;
  const isRaw = /r/i.test(letters);
  const end = endOfText(source, start + mark.length, mark, isRaw);
  if (end === undefined) return undefined;
  const body = source.slice(start + mark.length, end);
  const text = source.slice(at, end + mark.length);
  const isBytes = /b/i.test(letters);
  if (!isBytes) return { kind: "literal", at, text, value: isRaw ? body : unescapeText(body, at) };
  const bytes = isRaw ? Buffer.from(body, "utf8") : unescapeText(body, at, true);
  return { kind: "literal", at, text, value: Uint8Array.from(bytes) };
}

function endOfText(source: string, from: number, mark: string, isRaw: boolean): number | undefined {
  for (let at = from; at < source.length; at += 1) {
    if (source.startsWith(mark, at)) return at;
    const character = source[at];
    if (character === "\\" && !isRaw) at += 1;
    else if (mark.length === 1 && (character === "\n" || character === "\r")) return undefined;
  }
  return undefined;
}

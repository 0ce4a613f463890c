/**
 * Source text to tokens, in one pass over the text. Words are not told apart from keywords here: which words are
 * keywords depends on the imports above them, so the parser decides.
 */
import type { Comment, Location } from "./ast.ts";

export type TokenKind =
  | "eof"
  | "illegal"
  | "ident"
  | "number"
  | "string"
  | "raw-string"
  | "template-part"
  | "template-end"
  | "raw-template-part"
  | "raw-template-end"
  | Punctuation;

export type Punctuation =
  | "["
  | "]"
  | "{"
  | "}"
  | "("
  | ")"
  | ","
  | ":"
  | ":="
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "&"
  | "|"
  | "="
  | "=="
  | ">"
  | ">="
  | "<"
  | "<="
  | "!="
  | ";"
  | ".";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly row: number;
  readonly col: number;
  /** Whitespace or a comment stands before this token. */
  readonly spaceBefore: boolean;
  readonly newlineBefore: boolean;
  /** What is wrong with an illegal token. */
  readonly fault?: string;
  /** True for a token that continues a template string after an expression. */
  readonly continues?: boolean;
  /** Comments seen up to here; the parser compares two counts. */
  readonly commentsBefore: number;
}

export interface LexedSource {
  readonly file: string;
  readonly source: string;
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
}

export function lex(file: string, text: string): LexedSource {
  const source = text.startsWith("\ufeff") ? text.slice(1) : text;
  const tokens: Token[] = [];
  const comments: Comment[] = [];
  /** Open braces since the start of each template expression that we are in. */
  const templates: { readonly raw: boolean; depth: number }[] = [];
  let position = 0;
  let row = 1;
  let lineStart = 0;
  let spaceBefore = false;
  let newlineBefore = false;

  const push = (
    kind: TokenKind,
    start: number,
    end: number,
    extra: { fault?: string; continues?: boolean } = {},
  ): void => {
    tokens.push({
      kind: extra.fault === undefined ? kind : "illegal",
      text: source.slice(start, end),
      start,
      end,
      row,
      // The end has no character of its own: it is shown at the one before it.
      col: start - lineStart + (kind === "eof" ? 0 : 1),
      spaceBefore,
      newlineBefore,
      commentsBefore: comments.length,
      ...extra,
    });
    spaceBefore = false;
    newlineBefore = false;
    position = end;
  };
  const countLines = (start: number, end: number): void => {
    for (let at = source.indexOf("\n", start); at !== -1 && at < end; at = source.indexOf("\n", at + 1)) {
      row++;
      lineStart = at + 1;
    }
  };
  const readTemplate = (start: number, from: number, raw: boolean, continues: boolean): void => {
    let at = from;
    let fault: string | undefined;
    for (;;) {
      const char = source[at];
      if (char === undefined || (!raw && char === "\n")) {
        push("template-end", start, at, { fault: "non-terminated string", continues });
        return;
      }
      at++;
      if (char === (raw ? "`" : '"')) {
        push(raw ? "raw-template-end" : "template-end", start, at, { ...(fault && { fault }), continues });
        countLines(start, at);
        return;
      }
      if (char === "{") {
        templates.push({ raw, depth: 0 });
        push(raw ? "raw-template-part" : "template-part", start, at, { ...(fault && { fault }), continues });
        countLines(start, at);
        return;
      }
      if (char !== "\\") continue;
      if (source[at] === "{") at++;
      else if (!raw) {
        if (/["\\/bfnrt]/.test(source[at] ?? "")) at++;
        else if (source[at] === "u") at += 5;
        else fault = "illegal escape sequence";
      }
    }
  };

  while (position < source.length) {
    const start = position;
    const char = source[start] ?? "";
    if (char === " " || char === "\t" || char === "\r" || char === "\n") {
      spaceBefore = true;
      if (char === "\n") {
        newlineBefore = true;
        row++;
        lineStart = start + 1;
      }
      position++;
      continue;
    }
    if (char === "#") {
      let end = source.indexOf("\n", start);
      if (end === -1) end = source.length;
      const commentText = source.slice(start + 1, end).replace(/\r+$/, "");
      comments.push({
        text: commentText,
        loc: { file, row, col: start - lineStart + 1, offset: start, text: `#${commentText}` },
      });
      spaceBefore = true;
      position = end;
      continue;
    }
    if (isLetter(char)) {
      let end = start + 1;
      while (end < source.length && isWordPart(source.charCodeAt(end))) end++;
      push("ident", start, end);
      continue;
    }
    if (isDigit(char)) {
      const { end, fault } = readNumber(source, start);
      push("number", start, end, fault === undefined ? {} : { fault });
      continue;
    }
    if (char === '"') {
      const { end, fault } = readString(source, start + 1);
      push("string", start, end, fault === undefined ? {} : { fault });
      continue;
    }
    if (char === "`") {
      const close = source.indexOf("`", start + 1);
      const end = close === -1 ? source.length : close + 1;
      push("raw-string", start, end, close === -1 ? { fault: "non-terminated string" } : {});
      countLines(start, end);
      continue;
    }
    if (char === "$") {
      const quote = source[start + 1];
      if (quote === '"' || quote === "`") readTemplate(start, start + 2, quote === "`", false);
      else push("illegal", start, start + 1, { fault: "illegal $ character" });
      continue;
    }
    const inner = templates.at(-1);
    if (inner !== undefined) {
      if (char === "{") inner.depth++;
      if (char === "}") {
        if (inner.depth === 0) {
          templates.pop();
          push("}", start, start + 1);
          readTemplate(start, start + 1, inner.raw, true);
          continue;
        }
        inner.depth--;
      }
    }
    const pair = source.slice(start, start + 2);
    if (pair === ":=" || pair === "==" || pair === ">=" || pair === "<=" || pair === "!=") {
      push(pair, start, start + 2);
      continue;
    }
    if (isPunctuation(char)) {
      push(char, start, start + 1);
      continue;
    }
    const fault =
      char === "\u00a0"
        ? "illegal non-breaking space character, use a regular space instead"
        : char === "!"
          ? "illegal ! character"
          : char === "\u0000"
            ? "illegal null character"
            : undefined;
    push("illegal", start, start + 1, fault === undefined ? {} : { fault });
  }
  push("eof", source.length, source.length);
  return { file, source, tokens, comments };
}

export function locationOf(lexed: LexedSource, token: Token, end: number = token.end): Location {
  return {
    file: lexed.file,
    row: token.row,
    col: token.col,
    offset: token.start,
    text: lexed.source.slice(token.start, end),
  };
}

const punctuation = "[]{}(),:+-*/%&|=><;.";

function isPunctuation(char: string): char is Punctuation {
  return punctuation.includes(char);
}

function isLetter(char: string): boolean {
  return (char >= "a" && char <= "z") || (char >= "A" && char <= "Z") || char === "_";
}

function isDigit(char: string): boolean {
  return char >= "0" && char <= "9";
}

function isWordPart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
}

function readNumber(source: string, start: number): { readonly end: number; readonly fault?: string } {
  let end = start;
  let fault: string | undefined;
  const digits = (): boolean => {
    const from = end;
    while (end < source.length && isDigit(source[end] ?? "")) end++;
    return end > from;
  };
  digits();
  if (source[end] === ".") {
    end++;
    if (!digits()) fault = "expected fraction";
  }
  if (source[end] === "e" || source[end] === "E") {
    end++;
    if (source[end] === "+" || source[end] === "-") end++;
    if (!digits()) fault = "expected exponent";
  }
  if (isLetter(source[end] ?? "")) {
    fault = "illegal number format";
    while (end < source.length && isWordPart(source.charCodeAt(end))) end++;
  }
  return fault === undefined ? { end } : { end, fault };
}

function readString(source: string, from: number): { readonly end: number; readonly fault?: string } {
  let at = from;
  let fault: string | undefined;
  for (;;) {
    const char = source[at];
    if (char === undefined || char === "\n") return { end: at, fault: "non-terminated string" };
    at++;
    if (char === '"') return fault === undefined ? { end: at } : { end: at, fault };
    if (char !== "\\") continue;
    if (/["\\/bfnrt]/.test(source[at] ?? "")) at++;
    else if (source[at] === "u") at += 5;
    else fault = "illegal escape sequence";
  }
}

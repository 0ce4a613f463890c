/**
 * The parser's place in the tokens: what is next, which words are keywords here, what went wrong so far.
 * Parsing may try one reading and fall back to another; `mark` and `reset` make that cheap, and terms are remembered by
 * position so that falling back never parses the same text twice (the parser stays linear).
 */
import type { Body, Location, RegoVersion, Term } from "./ast.ts";
import type { RegoErrorItem } from "./errors.ts";
import { type LexedSource, locationOf, type Token, type TokenKind } from "./lexer.ts";

export interface Mark {
  readonly position: number;
  readonly errors: readonly RegoErrorItem[];
}

interface Remembered<T> {
  readonly result: T | undefined;
  readonly position: number;
  readonly errors: readonly RegoErrorItem[];
}

/** Deeper nesting than this is refused: every level costs several frames of the machine's stack. */
export const maxParseDepth = 1000;

export class Cursor {
  readonly lexed: LexedSource;
  readonly version: RegoVersion;
  readonly keywords: Set<string>;
  position = 0;
  errors: RegoErrorItem[] = [];
  hints: string[] = [];
  /** `future.keywords.not`: a `not` has a body of its own. */
  notBodies = false;
  /** Where a literal begins with a keyword that starts a ref (`if.foo`); elsewhere in a term that is an error. */
  keywordRefPosition = -1;
  depth = 0;
  #wildcards = 0;
  readonly #terms = new Map<number, Remembered<Term>>();
  readonly #bodies = new Map<number, Remembered<Body>>();

  constructor(lexed: LexedSource, version: RegoVersion, futureKeywords: readonly string[] = []) {
    this.lexed = lexed;
    this.version = version;
    this.keywords = new Set([...coreKeywords, ...(version === "v1" ? v1Keywords : []), ...futureKeywords]);
    if (futureKeywords.includes("not")) this.notBodies = true;
  }

  get token(): Token {
    return this.at(this.position);
  }

  at(position: number): Token {
    const token = this.lexed.tokens[Math.min(position, this.lexed.tokens.length - 1)];
    if (token === undefined) throw new RangeError("no tokens");
    return token;
  }

  /** The end of the last token that was consumed. */
  get lastEnd(): number {
    return this.position === 0 ? 0 : this.at(this.position - 1).end;
  }

  advance(): Token {
    const { token } = this;
    if (token.kind !== "eof") this.position++;
    return token;
  }

  is(kind: TokenKind): boolean {
    return this.token.kind === kind;
  }

  /** The current token is this keyword, it is a keyword here, and it does not start a ref such as `in.foo`. */
  isKeyword(word: string): boolean {
    const { token } = this;
    return token.kind === "ident" && token.text === word && this.keywords.has(word) && !this.startsKeywordRef();
  }

  isAnyKeyword(): boolean {
    const { token } = this;
    return token.kind === "ident" && this.keywords.has(token.text);
  }

  /** A word that is not a keyword here. */
  isName(): boolean {
    const { token } = this;
    return token.kind === "ident" && !this.keywords.has(token.text);
  }

  /** A keyword directly followed by `.` or `[` is the first name of a ref: `if.foo`. */
  startsKeywordRef(): boolean {
    if (!this.isAnyKeyword()) return false;
    const next = this.at(this.position + 1);
    return (next.kind === "." || next.kind === "[") && !next.spaceBefore;
  }

  logicalKeywordsActive(): boolean {
    return this.keywords.has("and") || this.keywords.has("or");
  }

  isLogicalOperator(): boolean {
    return this.isKeyword("and") || this.isKeyword("or");
  }

  wildcard(): string {
    return `$${this.#wildcards++}`;
  }

  mark(): Mark {
    return { position: this.position, errors: this.errors.slice() };
  }

  reset(mark: Mark): void {
    this.position = mark.position;
    this.errors = mark.errors.slice();
  }

  /** Runs a parse of a term at the current position once, and answers from memory afterwards. */
  rememberTerm(parse: () => Term | undefined): Term | undefined {
    // The same text reads differently at the start of a literal.
    if (this.startsKeywordRef()) return parse();
    return this.#remember(this.#terms, parse);
  }

  rememberBody(parse: () => Body | undefined): Body | undefined {
    return this.#remember(this.#bodies, parse);
  }

  /** Keywords changed: what was read under the old ones may read differently now. */
  forget(): void {
    this.#terms.clear();
    this.#bodies.clear();
  }

  locationFrom(start: Token): Location {
    return locationOf(this.lexed, start, Math.max(this.lastEnd, start.start));
  }

  locationOf(token: Token): Location {
    return locationOf(this.lexed, token);
  }

  here(): Location {
    return locationOf(this.lexed, this.token);
  }

  error(location: Location, message: string): void {
    const hints =
      this.hints.length === 0
        ? ""
        : this.hints.length === 1
          ? ` (hint: ${this.hints[0]})`
          : ` (hints: ${this.hints.join(", ")})`;
    this.hints = [];
    this.errors.push({
      code: "rego_parse_error",
      message: `${message}${hints}`,
      location,
      details: sourceLine(this.lexed.source, location),
    });
  }

  /** Complains about the current token. */
  illegal(note = ""): undefined {
    const { token } = this;
    if (token.kind === "illegal") {
      this.error(this.here(), token.fault ?? "illegal token");
      return undefined;
    }
    const kind = token.kind === "ident" && this.keywords.has(token.text) ? "keyword" : "token";
    this.error(this.here(), `unexpected ${this.describeToken(token)} ${kind}${note === "" ? "" : `: ${note}`}`);
    return undefined;
  }

  describeToken(token: Token): string {
    if (token.kind === "ident") return this.keywords.has(token.text) ? token.text : "identifier";
    return tokenNames[token.kind] ?? token.kind;
  }

  /** Guards recursion; false (with an error) when the text nests too deeply. */
  enter(): boolean {
    if (this.depth >= maxParseDepth) {
      this.error(this.here(), "max parsing recursion depth exceeded");
      return false;
    }
    this.depth++;
    return true;
  }

  leave(): void {
    this.depth--;
  }

  #remember<T>(memory: Map<number, Remembered<T>>, parse: () => T | undefined): T | undefined {
    const start = this.position;
    const known = memory.get(start);
    if (known !== undefined) {
      this.position = known.position;
      this.errors.push(...known.errors);
      return known.result;
    }
    const before = this.errors.length;
    const result = parse();
    memory.set(start, { result, position: this.position, errors: this.errors.slice(before) });
    return result;
  }
}

export const coreKeywords = [
  "package",
  "import",
  "as",
  "default",
  "else",
  "not",
  "some",
  "with",
  "null",
  "true",
  "false",
] as const;
export const v1Keywords = ["in", "every", "contains", "if"] as const;
/** Keywords that a v1 module can still import. */
export const futureV1Keywords = ["and", "not", "or"] as const;

const tokenNames: { readonly [kind: string]: string } = {
  "+": "plus",
  "-": "minus",
  "*": "mul",
  "/": "div",
  "%": "rem",
  "&": "and",
  "|": "or",
  "=": "eq",
  "==": "equal",
  ":=": "assign",
  "!=": "neq",
  ">": "gt",
  "<": "lt",
  ">=": "gte",
  "<=": "lte",
  "raw-string": "string",
  "template-part": "template-string-part",
  "template-end": "template-string-end",
  "raw-template-part": "raw-template-string-part",
  "raw-template-end": "raw-template-string-end",
};

/** The line of an error and a caret below its column; at the end of a text, the last line that says something. */
function sourceLine(source: string, location: Location): readonly string[] {
  const offset = location.offset >= source.length ? Math.max(source.trimEnd().length - 1, 0) : location.offset;
  const lineStart = source.lastIndexOf("\n", offset - 1) + 1;
  const lineEnd = source.indexOf("\n", offset);
  const line = source.slice(lineStart, lineEnd === -1 ? source.length : lineEnd).replace(/\r$/, "");
  if (line.trim() === "") return [];
  const indent = line.length - line.trimStart().length;
  const column = Math.max(0, offset - lineStart - indent);
  return [line.trimStart().slice(0, maxShownLine), `${" ".repeat(Math.min(column, maxShownLine))}^`];
}

const maxShownLine = 200;

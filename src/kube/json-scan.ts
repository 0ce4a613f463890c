import { goQuote } from "./go-text.ts";

/** One pass over a JSON text that builds nothing: it checks the grammar and finds what `JSON.parse` would pass over. */

export interface JsonProblem {
  readonly reason: "Syntax" | "TooDeep" | "TooLarge" | "NumberOutOfRange";
  /** In the words of Go's decoder. */
  readonly message: string;
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

export type Scanned =
  | { readonly ok: true; readonly duplicates: readonly string[]; readonly inexactIntegers: readonly string[] }
  | { readonly ok: false; readonly problem: JsonProblem };

export function scanJson(text: string, maxDepth: number): Scanned {
  const scanner = new Scanner(text, maxDepth);
  try {
    scanner.run();
  } catch (error) {
    if (error instanceof ScanProblem) return { ok: false, problem: located(text, error) };
    throw error;
  }
  return { ok: true, duplicates: [...new Set(scanner.duplicates)], inexactIntegers: scanner.inexactIntegers };
}

/** Where some fields of a text that can be read are given for the first time, and others for the second. */
export function firstPlaces(
  text: string,
  first: ReadonlySet<string>,
  second: ReadonlySet<string>,
): { readonly first: ReadonlyMap<string, number>; readonly second: ReadonlyMap<string, number> } {
  const places = { first: new Map<string, number>(), second: new Map<string, number>() };
  const seen = new Set<string>();
  const scanner = new Scanner(text, Number.POSITIVE_INFINITY, (path, offset) => {
    if (first.has(path) && !places.first.has(path)) places.first.set(path, offset);
    if (second.has(path) && seen.has(path) && !places.second.has(path)) places.second.set(path, offset);
    if (second.has(path)) seen.add(path);
  });
  scanner.run();
  return places;
}

/**
 * Whether an integer comes out again as it went in. Beyond 64 bits Go reads a float as well, so nothing more is lost there.
 */
export function isExactInteger(value: bigint): boolean {
  if (BigInt.asIntN(64, value) !== value) return true;
  return BigInt(String(Number(value))) === value;
}

class ScanProblem extends Error {
  readonly reason: JsonProblem["reason"];
  readonly offset: number;
  constructor(reason: JsonProblem["reason"], message: string, offset: number) {
    super(message);
    this.reason = reason;
    this.offset = offset;
  }
}

function located(text: string, { reason, message, offset }: ScanProblem): JsonProblem {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { reason, message, offset, line, column: offset - (before.lastIndexOf("\n") + 1) + 1 };
}

/** One object or list that is open: its keys so far, or the index of its current item. */
interface Level {
  keys: Set<string> | undefined;
  key: string;
  index: number;
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const plainString = /"[^"\\\u0000-\u001f]*"/y;

class Scanner {
  readonly duplicates: string[] = [];
  readonly inexactIntegers: string[] = [];
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #levels: Level[] = [];
  readonly #visit: ((path: string, offset: number) => void) | undefined;
  #at = 0;

  constructor(text: string, maxDepth: number, visit?: (path: string, offset: number) => void) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#visit = visit;
  }

  /** Reads one value after the other; `#levels` takes the place of recursion, so that depth costs no stack. */
  run(): void {
    this.#blank();
    for (;;) {
      const opened = this.#value();
      if (opened) continue;
      if (!this.#close()) break;
    }
    this.#blank();
    if (this.#at < this.#text.length) this.#unexpected("after top-level value");
  }

  /** Reads one value; answers true when it opened a non-empty object or list, whose first value is then next. */
  #value(): boolean {
    const code = this.#text.charCodeAt(this.#at);
    if (code === 0x7b) return this.#open(new Set(), 0x7d);
    if (code === 0x5b) return this.#open(undefined, 0x5d);
    if (code === 0x22) this.#string();
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) this.#number();
    else if (code === 0x74) this.#literal("true");
    else if (code === 0x66) this.#literal("false");
    else if (code === 0x6e) this.#literal("null");
    else this.#unexpected("looking for beginning of value");
    return false;
  }

  #open(keys: Set<string> | undefined, end: number): boolean {
    if (this.#levels.length >= this.#maxDepth) throw new ScanProblem("TooDeep", "exceeded max depth", this.#at);
    this.#at += 1;
    this.#blank();
    if (this.#text.charCodeAt(this.#at) === end) {
      this.#at += 1;
      return false;
    }
    this.#levels.push({ keys, key: "", index: 0 });
    if (keys !== undefined) this.#key(keys);
    return true;
  }

  /** After a value: goes on to the next one of the innermost open level; false when everything is closed. */
  #close(): boolean {
    for (;;) {
      const level = this.#levels[this.#levels.length - 1];
      if (level === undefined) return false;
      this.#blank();
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x2c) {
        this.#at += 1;
        this.#blank();
        level.index += 1;
        if (level.keys !== undefined) this.#key(level.keys);
        return true;
      }
      if (code !== (level.keys === undefined ? 0x5d : 0x7d)) {
        this.#unexpected(level.keys === undefined ? "after array element" : "after object key:value pair");
      }
      this.#at += 1;
      this.#levels.pop();
    }
  }

  #key(keys: Set<string>): void {
    if (this.#text.charCodeAt(this.#at) !== 0x22) this.#unexpected("looking for beginning of object key string");
    const start = this.#at;
    this.#string();
    const quoted = this.#text.slice(start, this.#at);
    const key: string = quoted.includes("\\") ? JSON.parse(quoted) : quoted.slice(1, -1);
    const level = this.#levels[this.#levels.length - 1];
    if (level !== undefined) level.key = key;
    if (keys.has(key)) this.duplicates.push(this.#path());
    this.#visit?.(this.#path(), start);
    keys.add(key);
    this.#blank();
    if (this.#text.charCodeAt(this.#at) !== 0x3a) this.#unexpected("after object key");
    this.#at += 1;
    this.#blank();
  }

  #string(): void {
    plainString.lastIndex = this.#at;
    if (plainString.test(this.#text)) {
      this.#at = plainString.lastIndex;
      return;
    }
    this.#at += 1;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) break;
      if (code === 0x5c) this.#escape();
      else if (Number.isNaN(code) || code < 0x20) this.#unexpected("in string literal");
      else this.#at += 1;
    }
    this.#at += 1;
  }

  #escape(): void {
    this.#at += 1;
    const code = this.#text[this.#at] ?? "";
    if (code === "u") {
      for (let digit = 0; digit < 4; digit += 1) {
        this.#at += 1;
        if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? "")) this.#unexpected("in \\u hexadecimal character escape");
      }
    } else if (code === "" || !'"\\/bfnrt'.includes(code)) this.#unexpected("in string escape code");
    this.#at += 1;
  }

  #number(): void {
    const start = this.#at;
    number.lastIndex = start;
    const matched = number.exec(this.#text)?.[0];
    if (matched === undefined) {
      this.#at += 1;
      this.#unexpected("in numeric literal");
      return;
    }
    this.#at += matched.length;
    const next = this.#text[this.#at] ?? "";
    if (next === "." || ((next === "e" || next === "E") && !/[eE]/.test(matched))) {
      this.#at += 1;
      if (next !== "." && /[+-]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
      this.#unexpected(next === "." ? "after decimal point in numeric literal" : "in exponent of numeric literal");
    }
    const value = Number(matched);
    if (!Number.isFinite(value)) {
      throw new ScanProblem(
        "NumberOutOfRange",
        `cannot unmarshal number ${matched} into Go value of type float64`,
        start,
      );
    }
    if (!Number.isSafeInteger(value) && /^-?\d+$/.test(matched) && !isExactInteger(BigInt(matched))) {
      this.inexactIntegers.push(this.#path());
    }
  }

  #literal(word: string): void {
    for (const letter of word) {
      if (this.#text[this.#at] !== letter) {
        this.#unexpected(`in literal ${word} (expecting '${letter}')`);
      }
      this.#at += 1;
    }
  }

  #blank(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #path(): string {
    let path = "";
    for (const { keys, key, index } of this.#levels) {
      path += keys === undefined ? `[${index}]` : path === "" ? key : `.${key}`;
    }
    return path;
  }

  #unexpected(where: string): never {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) throw new ScanProblem("Syntax", "unexpected end of JSON input", this.#at);
    const character = String.fromCodePoint(code);
    const quoted = character === "'" ? "'\\''" : character === '"' ? `'"'` : `'${goQuote(character).slice(1, -1)}'`;
    throw new ScanProblem("Syntax", `invalid character ${quoted} ${where}`, this.#at);
  }
}

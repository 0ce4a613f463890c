import type { CallExpr, Expr, ListExpr, MapExpr } from "./ast.ts";
import { CelSyntaxError, type Issue } from "./issue.ts";
import { type Token, tokenize } from "./lex.ts";
import { expandMacro } from "./macros.ts";

/** Longer expressions are refused, as on a real server. */
export const celMaxLength = 100_000;
/** How deep an expression may nest. */
export const celMaxDepth = 250;

/** The tree, or what is wrong with the text. */
export function parseCel(source: string): { readonly expr?: Expr; readonly issues: readonly Issue[] } {
  const size = source.length > celMaxLength ? [...source].length : 0;
  if (size > celMaxLength) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${celMaxLength}`;
    return { issues: [{ at: 0, message }] };
  }
  const found: Issue[] = [];
  try {
    const { tokens, issues } = tokenize(source);
    found.push(...issues);
    const parser = new Parser(tokens);
    const expr = parser.expression();
    parser.end();
    if (found.length === 0) return { expr, issues: [] };
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    found.push({ at: error.at, message: error.message });
  }
  return { issues: found };
}

const relations: ReadonlyMap<string, string> = new Map([
  ["<", "_<_"],
  ["<=", "_<=_"],
  [">", "_>_"],
  [">=", "_>=_"],
  ["==", "_==_"],
  ["!=", "_!=_"],
  ["in", "@in"],
]);
const sums: ReadonlyMap<string, string> = new Map([
  ["+", "_+_"],
  ["-", "_-_"],
]);
const products: ReadonlyMap<string, string> = new Map([
  ["*", "_*_"],
  ["/", "_/_"],
  ["%", "_%_"],
]);
const reserved = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);
const anyExpression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Recursive descent; every rule reads one level of precedence. */
class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  expression(): Expr {
    this.#enter();
    const condition = this.#or();
    const question = this.#take("?");
    if (question === undefined) return this.#leave(condition);
    const whenTrue = this.#or();
    this.#expect(":");
    const whenFalse = this.expression();
    return this.#leave(call(question.at, "_?_:_", condition, whenTrue, whenFalse));
  }

  end(): void {
    const token = this.#peek();
    if (token.kind === "end") return;
    // One word too many is told apart from a text that goes wrong altogether.
    const isLast = this.#tokens[this.#next + 1]?.kind === "end";
    throw new CelSyntaxError(
      token.at,
      `Syntax error: ${isLast ? "extraneous" : "mismatched"} input '${token.text}' expecting <EOF>`,
    );
  }

  #or(): Expr {
    return this.#logical("||", "_||_", () => this.#logical("&&", "_&&_", () => this.#relation()));
  }

  /** Chains are built as balanced trees, so that a thousand terms nest ten deep. */
  #logical(sign: string, name: string, term: () => Expr): Expr {
    const terms = [term()];
    const places: number[] = [];
    for (let operator = this.#take(sign); operator !== undefined; operator = this.#take(sign)) {
      places.push(operator.at);
      terms.push(term());
    }
    const build = (from: number, to: number): Expr => {
      const middle = Math.floor((from + to + 1) / 2);
      const left = middle === from ? terms[middle] : build(from, middle - 1);
      const right = middle === to ? terms[middle + 1] : build(middle + 1, to);
      return call(places[middle] ?? 0, name, left as Expr, right as Expr);
    };
    return places.length === 0 ? (terms[0] as Expr) : build(0, places.length - 1);
  }

  #relation(): Expr {
    return this.#leftAssociative(relations, () =>
      this.#leftAssociative(sums, () => this.#leftAssociative(products, () => this.#unary())),
    );
  }

  #leftAssociative(operators: ReadonlyMap<string, string>, operand: () => Expr): Expr {
    let left = operand();
    let links = 0;
    for (;;) {
      const token = this.#peek();
      const name = token.kind === "symbol" ? operators.get(token.text) : undefined;
      if (name === undefined) break;
      this.#next += 1;
      links += 1;
      if (links > celMaxDepth) throw tooDeep(token.at);
      left = call(token.at, name, left, operand());
    }
    return left;
  }

  #unary(): Expr {
    const first = this.#peek();
    let count = 0;
    while (first.kind === "symbol" && (first.text === "!" || first.text === "-") && this.#take(first.text)) count += 1;
    if (count === 0) return this.#member();
    const literal = this.#peek();
    const isNumber =
      literal.kind === "literal" && (typeof literal.value === "bigint" || typeof literal.value === "number");
    // A minus right before a number belongs to the literal.
    if (first.text === "-" && isNumber && count % 2 === 1 && count === 1) return this.#member(true, first.at);
    const operand = this.#member();
    return count % 2 === 0 ? operand : call(first.at, first.text === "!" ? "!_" : "-_", operand);
  }

  #member(negative = false, at?: number): Expr {
    let expr = this.#primary(negative, at);
    let links = 0;
    for (;;) {
      const token = this.#peek();
      if (token.kind !== "symbol" || (token.text !== "." && token.text !== "[")) return expr;
      links += 1;
      if (links > celMaxDepth) throw tooDeep(token.at);
      this.#next += 1;
      const optional = this.#take("?") !== undefined;
      expr = token.text === "." ? this.#field(expr, token.at, optional) : this.#index(expr, token.at, optional);
    }
  }

  #field(operand: Expr, at: number, optional: boolean): Expr {
    const name = this.#identifier();
    if (optional) return call(at, "_?._", operand, { kind: "literal", at: name.at, value: name.text });
    const open = this.#take("(");
    if (open === undefined) return { kind: "select", at, operand, field: name.text, testOnly: false };
    const args = this.#arguments();
    return expandMacro(name.text, open.at, operand, args) ?? memberCall(open.at, name.text, operand, args);
  }

  #index(operand: Expr, at: number, optional: boolean): Expr {
    const index = this.expression();
    this.#expect("]");
    return call(at, optional ? "_[?_]" : "_[_]", operand, index);
  }

  #primary(negative: boolean, minusAt = 0): Expr {
    const token = this.#peek();
    if (token.kind === "literal") return this.#literal(token, negative, minusAt);
    if (token.kind === "ident") return this.#name("");
    if (token.kind === "symbol") {
      if (token.text === "(") {
        this.#next += 1;
        const inner = this.expression();
        this.#expect(")");
        return inner;
      }
      if (token.text === "[") return this.#list(token.at);
      if (token.text === "{") return this.#map(token.at);
      if (token.text === ".") {
        this.#next += 1;
        return this.#name(".");
      }
    }
    const isExtra = startsExpression(this.#tokens[this.#next + 1]);
    throw new CelSyntaxError(
      token.at,
      `Syntax error: ${isExtra ? "extraneous" : "mismatched"} input '${token.text}' expecting ${anyExpression}`,
    );
  }

  #literal(token: Token, negative: boolean, minusAt: number): Expr {
    this.#next += 1;
    const { value = null } = token;
    const at = negative ? minusAt : token.at;
    if (typeof value === "bigint") {
      const signed = negative ? -value : value;
      if (BigInt.asIntN(64, signed) !== signed) throw new CelSyntaxError(at, "invalid int literal");
      return { kind: "literal", at, value: signed };
    }
    if (typeof value === "number") {
      if (!Number.isFinite(value)) throw new CelSyntaxError(at, "invalid double literal");
      return { kind: "literal", at, value: negative ? -value : value };
    }
    return { kind: "literal", at, value };
  }

  #name(leadingDot: string): Expr {
    const token = this.#identifier();
    if (reserved.has(token.text)) throw new CelSyntaxError(token.at, `reserved identifier: ${token.text}`);
    const name = leadingDot + token.text;
    const open = this.#take("(");
    if (open !== undefined) {
      const args = this.#arguments();
      return expandMacro(name, open.at, undefined, args) ?? call(open.at, name, ...args);
    }
    return this.#struct(name) ?? { kind: "ident", at: token.at, name };
  }

  /** `Type{…}` and `pkg.Type{…}`: no type can be made this way here, but the name is needed for the error. */
  #struct(first: string): Expr | undefined {
    const start = this.#next;
    let name = first;
    while (this.#take(".")) {
      const part = this.#peek();
      if (part.kind !== "ident") break;
      this.#next += 1;
      name += `.${part.text}`;
    }
    const open = this.#take("{");
    if (open === undefined) {
      this.#next = start;
      return undefined;
    }
    while (this.#take("}") === undefined) {
      this.#identifier();
      this.#expect(":");
      this.expression();
      if (this.#take(",") === undefined) {
        this.#expect("}");
        break;
      }
    }
    return { kind: "struct", at: open.at, name };
  }

  #list(at: number): ListExpr {
    this.#next += 1;
    const elements: Expr[] = [];
    const optionals = new Set<number>();
    while (this.#take("]") === undefined) {
      if (this.#take("?") !== undefined) optionals.add(elements.length);
      elements.push(this.expression());
      if (this.#take(",") === undefined) {
        this.#expect("]", ",");
        break;
      }
    }
    return { kind: "list", at, elements, optionals };
  }

  #map(at: number): MapExpr {
    this.#next += 1;
    const entries: { key: Expr; value: Expr; optional: boolean }[] = [];
    while (this.#take("}") === undefined) {
      const optional = this.#take("?") !== undefined;
      const key = this.expression();
      this.#expect(":");
      entries.push({ key, value: this.expression(), optional });
      if (this.#take(",") === undefined) {
        this.#expect("}", ",");
        break;
      }
    }
    return { kind: "map", at, entries };
  }

  #arguments(): readonly Expr[] {
    const args: Expr[] = [];
    if (this.#take(")") !== undefined) return args;
    do args.push(this.expression());
    while (this.#take(",") !== undefined);
    this.#expect(")", ",");
    return args;
  }

  #identifier(): Token {
    const token = this.#peek();
    if (token.kind !== "ident") {
      throw new CelSyntaxError(token.at, `Syntax error: mismatched input '${token.text}' expecting IDENTIFIER`);
    }
    this.#next += 1;
    return token;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? (this.#tokens[this.#tokens.length - 1] as Token);
  }

  #take(text: string): Token | undefined {
    const token = this.#peek();
    if (token.kind !== "symbol" || token.text !== text) return undefined;
    this.#next += 1;
    return token;
  }

  /** With an alternative, both are named in the complaint. */
  #expect(text: string, alternative?: string): void {
    if (this.#take(text) !== undefined) return;
    const token = this.#peek();
    const closes = token.kind === "end" && alternative === undefined && text !== ":";
    const expected = alternative === undefined ? `'${text}'` : `{'${text}', '${alternative}'}`;
    const found = closes ? `missing '${text}' at '<EOF>'` : `mismatched input '${token.text}' expecting ${expected}`;
    throw new CelSyntaxError(token.at, `Syntax error: ${found}`);
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > celMaxDepth) throw tooDeep(this.#peek().at);
  }

  #leave(expr: Expr): Expr {
    this.#depth -= 1;
    return expr;
  }
}

const startsExpression = (token: Token | undefined): boolean =>
  token !== undefined && (token.kind === "ident" || token.kind === "literal" || "[{(.-!".includes(token.text));

const tooDeep = (at: number): CelSyntaxError =>
  new CelSyntaxError(at, `expression recursion limit exceeded: ${celMaxDepth}`);

export const call = (at: number, name: string, ...args: readonly Expr[]): CallExpr => ({
  kind: "call",
  at,
  function: name,
  args,
});

export const memberCall = (at: number, name: string, target: Expr, args: readonly Expr[]): CallExpr => ({
  kind: "call",
  at,
  function: name,
  target,
  args,
});

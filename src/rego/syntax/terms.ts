/** Parsing of terms: scalars, collections, comprehensions, refs, calls, template strings and infix operators. */
import { numberFromText, numberRangeFault } from "../values/number.ts";
import { builtinRef, type CallTerm, type Expr, type RefTerm, refOf, scalar, type Term, variable } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import type { Token, TokenKind } from "./lexer.ts";
import { parseBody, parseLiteral } from "./literals.ts";
import { valueName } from "./print.ts";

/** A term with infix operators; `k, v in xs` is allowed. */
export function parseInfix(p: Cursor): Term | undefined {
  return parseMembership(p, true);
}

/** A term with infix operators inside a list, where a comma ends it. */
export function parseInfixInList(p: Cursor): Term | undefined {
  return parseMembership(p, false);
}

export function parseTerm(p: Cursor): Term | undefined {
  return p.rememberTerm(() => {
    if (!p.enter()) return undefined;
    try {
      return parsePrimary(p);
    } finally {
      p.leave();
    }
  });
}

/** A variable name; `_` is a fresh wildcard. */
export function parseVar(p: Cursor): Term {
  const loc = p.here();
  const { text } = p.advance();
  return variable(text === "_" ? p.wildcard() : text, loc);
}

function parseMembership(p: Cursor, allowsKey: boolean): Term | undefined {
  if (!p.enter()) return undefined;
  try {
    const start = p.token;
    let left = parseBinary(p, 0);
    for (let isFirst = true; left !== undefined; isFirst = false) {
      if (allowsKey && isFirst && p.is(",")) {
        const pair = tryKeyedMembership(p, start, left);
        if (pair !== undefined) {
          left = pair;
          continue;
        }
      }
      if (!p.isKeyword("in")) return left;
      const operatorLoc = p.here();
      p.advance();
      const right = parseBinary(p, 0);
      if (right === undefined) return undefined;
      left = call(p, start, builtinRef("internal.member_2", operatorLoc), [left, right]);
    }
    return left;
  } finally {
    p.leave();
  }
}

function tryKeyedMembership(p: Cursor, start: Token, key: Term): Term | undefined {
  const mark = p.mark();
  p.advance();
  const value = parseBinary(p, 0);
  if (value !== undefined && p.isKeyword("in")) {
    const operatorLoc = p.here();
    p.advance();
    const domain = parseBinary(p, 0);
    if (domain !== undefined) return call(p, start, builtinRef("internal.member_3", operatorLoc), [key, value, domain]);
  }
  p.reset(mark);
  return undefined;
}

/** Operators by binding strength, weakest first; all associate to the left. */
const levels: readonly (readonly TokenKind[])[] = [
  ["==", "!=", "<", ">", "<=", ">="],
  ["|"],
  ["&"],
  ["+", "-"],
  ["*", "/", "%"],
];

const operatorNames: { readonly [kind: string]: string } = {
  "==": "equal",
  "!=": "neq",
  "<": "lt",
  ">": "gt",
  "<=": "lte",
  ">=": "gte",
  "|": "or",
  "&": "and",
  "+": "plus",
  "-": "minus",
  "*": "mul",
  "/": "div",
  "%": "rem",
};

function levelOf(kind: TokenKind): number {
  return levels.findIndex((kinds) => kinds.includes(kind));
}

function parseBinary(p: Cursor, minimum: number): Term | undefined {
  const start = p.token;
  let left = parseTerm(p);
  while (left !== undefined) {
    const level = levelOf(p.token.kind);
    if (level < minimum) return left;
    const operatorLoc = p.here();
    const name = operatorNames[p.advance().kind] ?? "";
    const right = parseBinary(p, level + 1);
    if (right === undefined) return undefined;
    left = call(p, start, builtinRef(name, operatorLoc), [left, right]);
  }
  return left;
}

function call(p: Cursor, start: Token, operator: RefTerm, args: readonly Term[]): CallTerm {
  return { kind: "call", operator, args, loc: p.locationFrom(start) };
}

function parsePrimary(p: Cursor): Term | undefined {
  const start = p.token;
  switch (start.kind) {
    case "-": {
      const next = p.at(p.position + 1);
      if (next.kind === "ident" && (!p.keywords.has(next.text) || next.text === "contains")) {
        p.advance();
        const operand = parseSuffix(p, start, parseVar(p));
        if (operand === undefined) return undefined;
        return call(p, start, builtinRef("minus", operand.loc), [scalar(0, operand.loc), operand]);
      }
      return parseNumber(p);
    }
    case ".":
    case "number":
      return parseSuffix(p, start, parseNumber(p));
    case "string":
    case "raw-string":
      return parseSuffix(p, start, parseString(p));
    case "template-part":
    case "template-end":
    case "raw-template-part":
    case "raw-template-end":
      return parseSuffix(p, start, parseTemplate(p));
    case "[":
      return parseSuffix(p, start, parseArray(p));
    case "{":
      return parseSuffix(p, start, parseSetOrObject(p));
    case "(":
      return parseSuffix(p, start, parseParenthesised(p));
    case "ident":
      return parseWord(p, start);
    default:
      return p.illegal();
  }
}

function parseWord(p: Cursor, start: Token): Term | undefined {
  const isName = !p.keywords.has(start.text) || start.text === "contains";
  const isKeywordRef = p.keywordRefPosition === p.position && p.startsKeywordRef();
  if (isName || isLogicalCall(p, start) || isKeywordRef) return parseSuffix(p, start, parseVar(p));
  if (start.text === "true" || start.text === "false" || start.text === "null") {
    const value = start.text === "null" ? null : start.text === "true";
    const loc = p.here();
    p.advance();
    return parseSuffix(p, start, scalar(value, loc));
  }
  return p.illegal();
}

/** `and(` and `or(` are calls of the set built-ins even where the words are keywords. */
function isLogicalCall(p: Cursor, token: Token): boolean {
  if (token.text !== "and" && token.text !== "or") return false;
  const next = p.at(p.position + 1);
  return next.kind === "(" && !next.spaceBefore;
}

/** What may follow a term without a space: `.name`, `[key]` and `(args)`. */
export function parseSuffix(p: Cursor, start: Token, head: Term | undefined, allowsSpace = false): Term | undefined {
  if (head === undefined) return undefined;
  let term = head;
  let mayHaveSpace = allowsSpace;
  while (isSuffix(p) || (mayHaveSpace && isSuffixKind(p))) {
    mayHaveSpace = false;
    if (term.kind === "scalar" || term.kind === "template") {
      p.error(term.loc, `illegal ref (head cannot be ${valueName(term)})`);
      return undefined;
    }
    const parts: Term[] = [term];
    while ((isSuffix(p) || parts.length === 1) && !p.is("(")) {
      const part = p.is(".") ? parseDotPart(p) : parseBracketPart(p);
      if (part === undefined) return undefined;
      parts.push(part);
    }
    const ref = refOf(parts, p.locationFrom(start));
    if (!p.is("(") || (p.token.spaceBefore && parts.length > 1)) return ref;
    const called = parseCall(p, start, ref);
    if (called === undefined) return undefined;
    term = called;
  }
  return term.kind === "var" && isRootName(term.name) ? refOf([term], term.loc) : term;
}

function isSuffix(p: Cursor): boolean {
  return !p.token.spaceBefore && isSuffixKind(p);
}

function isSuffixKind(p: Cursor): boolean {
  return p.is(".") || p.is("[") || p.is("(");
}

export function isRootName(name: string): boolean {
  return name === "input" || name === "data";
}

function parseDotPart(p: Cursor): Term | undefined {
  p.advance();
  if (!p.is("ident") || p.token.spaceBefore) return p.illegal("expected identifier");
  const loc = p.here();
  return scalar(p.advance().text, loc);
}

function parseBracketPart(p: Cursor): Term | undefined {
  p.advance();
  const part = parseInfix(p);
  if (part === undefined) return undefined;
  if (!p.is("]")) return p.illegal("expected [");
  p.advance();
  return part;
}

function parseCall(p: Cursor, start: Token, operator: RefTerm): Term | undefined {
  p.advance();
  const args = parseList(p, ")");
  if (args === undefined) return undefined;
  p.advance();
  const [head] = operator.parts;
  if (args.length === 0 && operator.parts.length === 1 && head?.kind === "var" && head.name === "set") {
    return { kind: "set", items: [], loc: p.locationFrom(start) };
  }
  return call(p, start, operator, args);
}

function parseNumber(p: Cursor): Term | undefined {
  const start = p.token;
  let prefix = "";
  if (p.is("-")) {
    prefix = "-";
    p.advance();
    if (!p.is("number") && !p.is(".")) return p.illegal("expected number");
  }
  if (p.is(".")) {
    prefix += ".";
    p.advance();
    if (!p.is("number")) return p.illegal("expected number");
  }
  const { text } = p.token;
  if (!prefix.endsWith(".") && /^0[^.eE]/.test(text)) return p.illegal("expected number without leading zero");
  const fault = numberRangeFault(prefix + text);
  if (fault !== undefined) {
    if (fault === "invalid float") return p.illegal(fault);
    p.error(p.here(), fault);
    return undefined;
  }
  p.advance();
  return scalar(numberFromText(prefix + text), p.locationFrom(start));
}

function parseString(p: Cursor): Term | undefined {
  const loc = p.here();
  const token = p.advance();
  if (token.kind === "raw-string") return scalar(token.text.slice(1, -1), loc);
  const text = unescapeLiteral(token.text);
  if (text === undefined) {
    p.error(loc, `illegal string literal: ${token.text}`);
    return undefined;
  }
  return scalar(text, loc);
}

/** The text of a quoted literal; undefined if JSON would refuse it. */
function unescapeLiteral(literal: string): string | undefined {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    const text: string = JSON.parse(literal.replace(/[\u0000-\u001f]/g, escapeControl));
    return text.isWellFormed() ? text : text.toWellFormed();
  } catch {
    return undefined;
  }
}

function escapeControl(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function parseTemplate(p: Cursor): Term | undefined {
  const start = p.token;
  if (p.version === "v0") {
    p.error(p.here(), "template strings are not supported by current capabilities");
    return undefined;
  }
  const multiLine = start.kind.startsWith("raw");
  const parts: (Term | Expr)[] = [];
  for (;;) {
    const { token } = p;
    if (!token.kind.includes("template")) return p.illegal();
    const opening = token.continues === true ? 1 : 2;
    const inner = token.text.slice(opening, -1);
    const text = multiLine
      ? inner.replaceAll("\\{", "{")
      : unescapeLiteral(`"${inner.replace(/\\(\\|\{)/g, templateEscape)}"`);
    if (text === undefined) {
      p.error(p.here(), `illegal template-string part: ${token.text}`);
      return undefined;
    }
    if (text !== "") parts.push(scalar(text, p.here()));
    p.advance();
    if (token.kind.endsWith("end")) return { kind: "template", multiLine, parts, loc: p.locationFrom(start) };
    const expr = parseTemplateExpr(p);
    if (expr === undefined) return undefined;
    const isPlain = expr.kind === "expr-term" && expr.term.kind === "scalar" && expr.withs.length === 0;
    parts.push(isPlain ? expr.term : expr);
    if (!p.is("}")) {
      p.error(p.here(), "expected } to end template string expression");
      return undefined;
    }
    p.advance();
  }
}

/** `\{` is a brace; a doubled backslash stays what it is. */
function templateEscape(pair: string): string {
  return pair === "\\{" ? "{" : pair;
}

function parseTemplateExpr(p: Cursor): Expr | undefined {
  const expr = parseLiteral(p);
  if (expr === undefined) {
    p.error(p.here(), "invalid template-string expression");
    return undefined;
  }
  const refusal = templateRefusal(expr);
  if (refusal === undefined) return expr;
  p.error(expr.loc, `unexpected ${refusal} in template-string expression`);
  return undefined;
}

function templateRefusal(expr: Expr): string | undefined {
  if (expr.negated || expr.kind === "expr-not") return "negation ('not')";
  if (expr.kind === "expr-every") return "'every'";
  if (expr.kind === "expr-some") return "'some'";
  if (expr.kind !== "expr-call") return undefined;
  const [head] = expr.operator.parts;
  if (head?.kind !== "var" || expr.operator.parts.length !== 1) return undefined;
  return head.name === "eq" ? "unification ('=')" : head.name === "assign" ? "assignment (':=')" : undefined;
}

function parseParenthesised(p: Cursor): Term | undefined {
  const start = p.token;
  p.advance();
  const inner = parseInfix(p);
  if (inner === undefined) return undefined;
  if (!p.is(")")) {
    p.error(p.here(), "non-terminated expression");
    return undefined;
  }
  p.advance();
  return { ...inner, loc: p.locationFrom(start) };
}

function parseArray(p: Cursor): Term | undefined {
  const start = p.token;
  p.advance();
  if (p.is("]")) {
    p.advance();
    return { kind: "array", items: [], loc: p.locationFrom(start) };
  }
  const hasLeadingComma = p.is(",");
  if (hasLeadingComma) p.advance();
  const mark = p.mark();
  const head = parseTerm(p);
  if (head === undefined) return undefined;
  if (p.is("|") && !hasLeadingComma) {
    p.advance();
    const body = parseBody(p, "]");
    if (body !== undefined) {
      p.advance();
      return { kind: "array-comprehension", head, body, loc: p.locationFrom(start) };
    }
    if (!p.is(",")) return undefined;
  }
  p.reset(mark);
  const items = parseList(p, "]");
  if (items === undefined) return undefined;
  p.advance();
  return { kind: "array", items, loc: p.locationFrom(start) };
}

function parseSetOrObject(p: Cursor): Term | undefined {
  const start = p.token;
  p.advance();
  if (p.is("}")) {
    p.advance();
    return { kind: "object", entries: [], loc: p.locationFrom(start) };
  }
  const hasLeadingComma = p.is(",");
  if (hasLeadingComma) p.advance();
  const mark = p.mark();
  // One plain term first: `{a | b}` is a comprehension, not a set with a union in it.
  const head = parseTerm(p);
  if (head === undefined) return undefined;
  if (p.is("|") && !hasLeadingComma) {
    p.advance();
    const body = parseBody(p, "}");
    if (body !== undefined) {
      p.advance();
      return { kind: "set-comprehension", head, body, loc: p.locationFrom(start) };
    }
    if (!p.is(",")) return undefined;
    p.reset(mark);
    return finishSet(p, start);
  }
  if (p.is("}") || p.is(",")) {
    p.reset(mark);
    return finishSet(p, start);
  }
  if (p.is(":")) return parseObject(p, start, head, !hasLeadingComma);
  p.reset(mark);
  const full = parseInfixInList(p);
  if (full === undefined) return undefined;
  if (p.is("}") || p.is(",")) {
    p.reset(mark);
    return finishSet(p, start);
  }
  if (p.is(":")) return parseObject(p, start, full, !hasLeadingComma);
  return p.illegal("non-terminated set");
}

function finishSet(p: Cursor, start: Token): Term | undefined {
  const items = parseList(p, "}");
  if (items === undefined) return undefined;
  p.advance();
  return { kind: "set", items, loc: p.locationFrom(start) };
}

function parseObject(p: Cursor, start: Token, key: Term, mayBeComprehension: boolean): Term | undefined {
  p.advance();
  const mark = p.mark();
  const value = parseTerm(p);
  if (value === undefined) return undefined;
  if (p.is("|") && mayBeComprehension) {
    p.advance();
    const body = parseBody(p, "}");
    if (body !== undefined) {
      p.advance();
      return { kind: "object-comprehension", key, value, body, loc: p.locationFrom(start) };
    }
  }
  p.reset(mark);
  const entries: (readonly [Term, Term])[] = [];
  let nextKey: Term | undefined = key;
  for (;;) {
    const nextValue = parseInfixInList(p);
    if (nextValue === undefined || nextKey === undefined) return undefined;
    entries.push([nextKey, nextValue]);
    if (p.is(",")) p.advance();
    else if (!p.is("}")) return p.illegal(entries.length === 1 ? "non-terminated object" : 'expected "," or "}"');
    if (p.is("}")) {
      p.advance();
      return { kind: "object", entries, loc: p.locationFrom(start) };
    }
    nextKey = parseInfixInList(p);
    if (nextKey === undefined) return undefined;
    if (!p.is(":")) return p.illegal('expected ":"');
    p.advance();
  }
}

/** Terms up to (not including) the closing token; a trailing comma is fine. */
function parseList(p: Cursor, end: TokenKind): readonly Term[] | undefined {
  const items: Term[] = [];
  while (!p.is(end)) {
    const item = parseInfixInList(p);
    if (item === undefined) return undefined;
    items.push(item);
    if (p.is(",")) p.advance();
    else if (!p.is(end)) return p.illegal(`expected "," or "${end}"`);
  }
  return items;
}

/** Parsing of bodies: expressions, `some`, `every`, `not`, `with`, and the operators `and` and `or`. */
import type { Body, CallExpr, Expr, Location, LogicalExpr, NotExpr, Term, With } from "./ast.ts";
import { builtinRef, operatorName, refOf, termExpr } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import type { Token, TokenKind } from "./lexer.ts";
import { braceMeansValue, isAmbiguousUnion, parseGroup } from "./logical-group.ts";
import { parseInfix, parseTerm, parseVar } from "./terms.ts";

/** Expressions up to (not including) the closing token. */
export function parseBody(p: Cursor, end: TokenKind): Body | undefined {
  return p.rememberBody(() => {
    if (!p.enter()) return undefined;
    try {
      return parseQuery(p, end, false);
    } finally {
      p.leave();
    }
  });
}

/** With `single`, a statement: it ends where no semicolon follows. */
export function parseQuery(p: Cursor, end: TokenKind, single: boolean): Body | undefined {
  if (p.is(end)) {
    p.error(p.here(), "found empty body");
    return undefined;
  }
  const body: Expr[] = [];
  for (;;) {
    const expr = parseLiteral(p);
    if (expr === undefined) return undefined;
    body.push(expr);
    if (p.is(";")) {
      p.advance();
      if (p.is(end)) return body;
      continue;
    }
    if (p.is(end) || single) return body;
    if (!p.token.newlineBefore) {
      if (p.errors.length === 0) {
        hintMissingKeyword(p);
        p.illegal(`expected \\n or ; or ${end}`);
      }
      return undefined;
    }
  }
}

const infixKeywordExamples: { readonly [word: string]: string } = { in: "x in xs", and: "x and y", or: "x or y" };

function hintMissingKeyword(p: Cursor): void {
  if (p.hints.length > 0 || !p.isName()) return;
  const example = infixKeywordExamples[p.token.text];
  if (example !== undefined) p.hints.push(`\`import future.keywords.${p.token.text}\` for \`${example}\` expressions`);
}

export function parseLiteral(p: Cursor): Expr | undefined {
  const start = p.token;
  if (p.is("{") && p.logicalKeywordsActive()) {
    const led = tryBraceLedOperator(p);
    if (led !== "not-an-operand") return led;
  }
  if (p.is("(") && p.logicalKeywordsActive()) {
    const group = parseGroup(p, false, "");
    if (group.kind === "failed") return undefined;
    if (group.kind === "group") return finishOperators(p, start, group.body, group.explicit);
  }
  if (p.startsKeywordRef()) {
    p.keywordRefPosition = p.position;
    return parseOperandExpr(p, start, undefined);
  }
  const isNegated = p.isKeyword("not");
  if (isNegated) p.advance();
  if (isNegated && p.notBodies && p.is("{")) {
    const not = parseNotBody(p, start);
    return not === undefined ? undefined : finishOperators(p, start, [not], false);
  }
  if (p.isKeyword("some")) {
    return isNegated ? p.illegal("illegal negation of 'some'") : parseSome(p);
  }
  if (p.isKeyword("every")) {
    return isNegated ? p.illegal("illegal negation of 'every'") : parseEvery(p);
  }
  return parseOperandExpr(p, start, isNegated ? start : undefined);
}

/** `{ … } and …`: braces that turn out to be an operand. */
function tryBraceLedOperator(p: Cursor): Expr | undefined | "not-an-operand" {
  const start = p.token;
  const mark = p.mark();
  p.advance();
  const body = parseBody(p, "}");
  if (body !== undefined) {
    p.advance();
    if (p.isLogicalOperator()) {
      if (isAmbiguousUnion(body)) return reportAmbiguousUnion(p, start);
      return finishOperators(p, start, body, true);
    }
  }
  p.reset(mark);
  return "not-an-operand";
}

function parseOperandExpr(p: Cursor, start: Token, not: Token | undefined): Expr | undefined {
  if (not !== undefined && p.notBodies && p.is("(")) {
    const group = parseGroup(p, true, "not ");
    if (group.kind === "failed") return undefined;
    if (group.kind === "group") {
      return finishOperators(p, start, [notExpr(p, start, group.body, group.explicit)], false);
    }
  }
  const operandStart = p.token;
  const inner = parseExpr(p);
  if (inner === undefined) return undefined;
  const withLoc = p.isKeyword("with") ? p.here() : undefined;
  const withs = parseWiths(p);
  if (withs === undefined) return undefined;
  const expr: Expr =
    not !== undefined && p.notBodies
      ? { ...notExpr(p, start, [inner], false), withs }
      : { ...inner, withs, negated: not !== undefined, loc: p.locationFrom(start) };
  if (!p.isLogicalOperator()) return expr;
  if (withLoc !== undefined) return reportWithOnOperand(p, withLoc, p.token.text);
  if (not === undefined && operandStart.kind === "{") return braceMeansValue(p, expr, p.token.text);
  return finishOperators(p, start, [expr], false);
}

/** Folds `and`s and `or`s that follow, then a `with` for the whole. */
function finishOperators(p: Cursor, start: Token, body: Body, explicit: boolean): Expr | undefined {
  const expr = p.isLogicalOperator() ? parseOperators(p, start, body, explicit) : body[0];
  if (expr === undefined) return undefined;
  return attachWiths(p, start, expr);
}

export function attachWiths(p: Cursor, start: Token, expr: Expr): Expr | undefined {
  if (!p.isKeyword("with")) return { ...expr, loc: expr.loc };
  const withs = parseWiths(p);
  return withs === undefined ? undefined : { ...expr, withs, loc: p.locationFrom(start) };
}

/** `and` binds tighter than `or`; both associate to the left. */
export function parseOperators(p: Cursor, start: Token, first: Body, firstExplicit: boolean): Expr | undefined {
  let left = parseAnds(p, start, first, firstExplicit);
  while (left !== undefined && p.isKeyword("or")) {
    p.advance();
    const rightStart = p.token;
    const operand = parseOperand(p, "or");
    if (operand === undefined) return undefined;
    const right = parseAnds(p, rightStart, operand.body, operand.explicit);
    if (right === undefined) return undefined;
    left = { body: [logical(p, start, "expr-or", left, right)], explicit: false };
  }
  return left?.body[0];
}

interface Operand {
  readonly body: Body;
  readonly explicit: boolean;
}

function parseAnds(p: Cursor, start: Token, body: Body, explicit: boolean): Operand | undefined {
  let left: Operand = { body, explicit };
  while (p.isKeyword("and")) {
    p.advance();
    const right = parseOperand(p, "and");
    if (right === undefined) return undefined;
    left = { body: [logical(p, start, "expr-and", left, right)], explicit: false };
  }
  return left;
}

function logical(p: Cursor, start: Token, kind: LogicalExpr["kind"], left: Operand, right: Operand): LogicalExpr {
  return {
    kind,
    left: left.body,
    right: right.body,
    explicitLeft: left.explicit,
    explicitRight: right.explicit,
    loc: p.locationFrom(start),
    negated: false,
    withs: [],
  };
}

/** One operand of `and`/`or`; an empty operator means that the caller only tries. */
export function parseOperand(p: Cursor, operator: string): Operand | undefined {
  const start = p.token;
  if (p.is("{")) return parseBraceOperand(p, start, operator);
  const isNegated = p.isKeyword("not");
  if (isNegated) p.advance();
  if (isNegated && p.notBodies && p.is("{")) {
    const not = parseNotBody(p, start);
    return not === undefined ? undefined : { body: [not], explicit: false };
  }
  if (p.is("(") && p.logicalKeywordsActive() && (!isNegated || p.notBodies)) {
    const group = parseGroup(p, true, isNegated ? "not " : "");
    if (group.kind === "failed") return undefined;
    if (group.kind === "group") {
      if (!isNegated) return { body: group.body, explicit: group.explicit };
      return { body: [notExpr(p, start, group.body, group.explicit)], explicit: false };
    }
  }
  const expr = parseExpr(p);
  if (expr === undefined) return undefined;
  if (!isNegated) return { body: [expr], explicit: false };
  if (p.notBodies) return { body: [notExpr(p, start, [expr], false)], explicit: false };
  return { body: [{ ...expr, negated: true, loc: p.locationFrom(start) }], explicit: false };
}

function parseBraceOperand(p: Cursor, start: Token, operator: string): Operand | undefined {
  const mark = p.mark();
  p.advance();
  const isEmpty = p.is("}");
  const body = parseBody(p, "}");
  if (body === undefined) {
    if (isEmpty || operator === "") return undefined;
    const failed = p.mark();
    p.reset(mark);
    const term = parseInfix(p);
    if (term !== undefined) {
      p.hints.push(`wrap the operand to keep the value: \`(${term.loc.text}) ${operator} ...\``);
      p.error(
        p.locationFrom(start),
        `operand of \`${operator}\` cannot begin with \`{\` unless the braces hold a body`,
      );
      return undefined;
    }
    p.reset(failed);
    return undefined;
  }
  p.advance();
  if (isAmbiguousUnion(body)) reportAmbiguousUnion(p, start);
  return { body, explicit: true };
}

function reportAmbiguousUnion(p: Cursor, start: Token): undefined {
  p.error(
    p.locationFrom(start),
    "ambiguous `{ ... | ... }` operand: read as a body holding a set-union expression, not as a comprehension",
  );
  return undefined;
}

export function reportWithOnOperand(p: Cursor, loc: Location, operator: string): undefined {
  p.hints.push(
    `Wrap the operand in \`(...)\` or \`{...}\` to scope, or move \`with\` after the \`${operator}\` expression to apply it to the whole expression`,
  );
  p.error(loc, `\`with\` modifier is not allowed on operand of \`${operator}\``);
  return undefined;
}

function parseNotBody(p: Cursor, start: Token): NotExpr | undefined {
  const mark = p.mark();
  const braceLoc = p.here();
  p.advance();
  const isEmpty = p.is("}");
  const body = parseBody(p, "}");
  if (body === undefined) {
    if (isEmpty) return undefined;
    const failed = p.mark();
    p.reset(mark);
    const term = parseInfix(p);
    if (term !== undefined) {
      const { text } = term.loc;
      p.hints.push(`write \`not (${text})\` to negate the value, or \`not {${text}}\` for a body holding it`);
      p.error(braceLoc, "`{...}` in an operand position must contain expression(s)");
      return undefined;
    }
    p.reset(failed);
    return undefined;
  }
  p.advance();
  if (isAmbiguousUnion(body)) return reportAmbiguousUnion(p, start);
  return notExpr(p, start, body, true);
}

function notExpr(p: Cursor, start: Token, body: Body, explicit: boolean): NotExpr {
  return { kind: "expr-not", body, explicit, loc: p.locationFrom(start), negated: false, withs: [] };
}

/** A term, a call, `a = b` or `a := b`. */
export function parseExpr(p: Cursor): Expr | undefined {
  const start = p.token;
  const left = parseInfix(p);
  if (left === undefined) return undefined;
  if (p.is("=") || p.is(":=")) {
    const operator = builtinRef(p.is("=") ? "eq" : "assign", p.here());
    p.advance();
    const right = parseInfix(p);
    if (right === undefined) return undefined;
    return call(p, start, operator, [left, right]);
  }
  if (left.kind === "call") return call(p, start, left.operator, left.args);
  return termExpr(left, p.locationFrom(start));
}

function call(p: Cursor, start: Token, operator: CallExpr["operator"], args: readonly Term[]): CallExpr {
  return { kind: "expr-call", operator, args, loc: p.locationFrom(start), negated: false, withs: [] };
}

export function parseWiths(p: Cursor): readonly With[] | undefined {
  const withs: With[] = [];
  while (p.isKeyword("with")) {
    const start = p.token;
    p.advance();
    if (!p.isName()) return p.illegal("expected ident");
    const target = parseTerm(p);
    if (target === undefined) return undefined;
    if (target.kind !== "ref" && target.kind !== "var") return p.illegal("expected with target path");
    if (!p.isKeyword("as")) return p.illegal("expected as keyword");
    p.advance();
    const value = parseInfix(p);
    if (value === undefined) return undefined;
    const ref = target.kind === "ref" ? target : refOf([target], target.loc);
    withs.push({ target: ref, value, loc: p.locationFrom(start) });
  }
  return withs;
}

function parseSome(p: Cursor): Expr | undefined {
  const start = p.token;
  const mark = p.mark();
  p.advance();
  const term = parseInfix(p);
  if (term?.kind === "call") {
    const name = operatorName(term.operator);
    if (name !== "internal.member_2" && name !== "internal.member_3") {
      return p.illegal("expected `x in xs` or `x, y in xs` expression");
    }
    const withs = parseWiths(p);
    if (withs === undefined) return undefined;
    return { kind: "expr-some", symbols: [term], loc: p.locationFrom(start), negated: false, withs };
  }
  p.reset(mark);
  p.advance();
  const symbols: Term[] = [];
  for (;;) {
    if (!p.isName()) return p.illegal("expected var");
    symbols.push(parseVar(p));
    if (!p.is(",")) break;
    p.advance();
  }
  return { kind: "expr-some", symbols, loc: p.locationFrom(start), negated: false, withs: [] };
}

function parseEvery(p: Cursor): Expr | undefined {
  const start = p.token;
  p.advance();
  const term = parseInfix(p);
  if (term === undefined) return undefined;
  const name = term.kind === "call" ? operatorName(term.operator) : undefined;
  if (term.kind !== "call" || (name !== "internal.member_2" && name !== "internal.member_3")) {
    return p.illegal("expected `x[, y] in xs { ... }` expression");
  }
  const key = term.args.length === 3 ? term.args[0] : undefined;
  const [value, domain] = term.args.slice(-2);
  if (value === undefined || domain === undefined) return p.illegal("illegal domain");
  if (key !== undefined && key.kind !== "var") return p.illegal("expected key to be a variable");
  if (value.kind !== "var") return p.illegal("expected value to be a variable");
  if (!p.is("{")) return p.illegal("missing body");
  p.advance();
  const body = parseBody(p, "}");
  if (body === undefined) return undefined;
  p.advance();
  const withs = parseWiths(p);
  if (withs === undefined) return undefined;
  return { kind: "expr-every", key, value, domain, body, loc: p.locationFrom(start), negated: false, withs };
}

/** Parsing of rules: heads, bodies, `else`, and statements that are rules without a body (`p := 1`). */
import { builtinNames } from "../builtins/signatures.ts";
import type { Body, Expr, Head, Location, RefTerm, Rule, Term } from "./ast.ts";
import { isWildcard, operatorName, refOf, scalar, termExpr } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import type { Token } from "./lexer.ts";
import { parseBody, parseLiteral } from "./literals.ts";
import { printRef, valueName } from "./print.ts";
import { parseInfix, parseSuffix, parseVar } from "./terms.ts";

/** The rules of one statement (several bodies may share a head), or undefined if it is not a rule with a body. */
export function parseRules(p: Cursor): readonly Rule[] | undefined {
  const start = p.token;
  const isDefault = p.isKeyword("default");
  if (isDefault) p.advance();
  if (!p.isName() && !p.startsKeywordRef()) {
    if (isDefault && p.isAnyKeyword()) {
      p.error(p.here(), `${p.token.text} keyword cannot be used for rule name`);
    }
    return undefined;
  }
  const parsed = parseHead(p, isDefault);
  if (parsed === undefined) return undefined;
  if (isDefault) return parseDefault(p, p.locationFrom(start), p.locationOf(start), parsed);
  const hasIf = p.isKeyword("if");
  const head = { ...settleHead(parsed, hasIf), hasIf };
  let body: Body | undefined;
  if (hasIf) body = parseIfBody(p);
  else if (p.is("{")) body = parseBraces(p);
  else if (head.hasContains) {
    const loc = p.locationFrom(start);
    return [rule(head, [termExpr(scalar(true, p.locationOf(start)))], loc, { generatedBody: true })];
  }
  if (body === undefined) return undefined;
  let elseRule: Rule | undefined;
  if (p.isKeyword("else")) {
    if (!head.ref.parts.slice(1).every(isGround)) {
      p.error(p.here(), "else keyword cannot be used on rules with variables in head");
      return undefined;
    }
    if (head.key !== undefined) {
      p.error(p.here(), "else keyword cannot be used on multi-value rules");
      return undefined;
    }
    elseRule = parseElse(p, head);
    if (elseRule === undefined) return undefined;
  }
  const rules: Rule[] = [rule(head, body, p.locationFrom(start), { elseRule })];
  while (p.is("{")) {
    if (elseRule !== undefined) {
      p.error(p.here(), "expected else keyword");
      return undefined;
    }
    const chainStart = p.token;
    const next = parseBraces(p);
    if (next === undefined) return undefined;
    rules.push(rule({ ...head, args: freshWildcards(p, head.args) }, next, p.locationFrom(chainStart), {}));
  }
  return rules;
}

/** A statement that is not a rule with a body may still define one: `p := 1`, `p.q`, `f(x) := x`. */
export function ruleFromBody(body: Body): Rule | string {
  const [expr] = body;
  if (expr === undefined || body.length !== 1) return "multiple expressions cannot be used for rule head";
  if (expr.withs.length > 0) return "expressions using with keyword cannot be used for rule head";
  if (expr.negated || expr.kind === "expr-not") return "negated expressions cannot be used for rule head";
  if (expr.kind === "expr-some") return "'some' declarations cannot be used for rule head";
  if (expr.kind === "expr-term") return ruleFromTerm(expr.term);
  if (expr.kind !== "expr-call") return "expression cannot be used for rule head";
  const name = operatorName(expr.operator);
  if (name === "eq" || name === "assign") return ruleFromEquality(expr, name === "assign");
  if (name !== undefined && builtinNames.has(name)) return "rule name conflicts with built-in function";
  if (expr.args.length === 0) return "rule argument list must take at least one argument";
  if (expr.operator.parts[0]?.kind !== "var") return `invalid rule head: ${printRef(expr.operator)}`;
  const head = plainHead(expr.operator, scalar(true, expr.loc), expr.loc);
  return generated({ ...head, args: expr.args, generatedValue: true }, expr.loc);
}

function ruleFromTerm(term: Term): Rule | string {
  if (term.kind !== "ref") return `${valueName(term)} cannot be used for rule name`;
  const [head, key] = term.parts;
  if (head?.kind !== "var") return `invalid rule head: ${printRef(term)}`;
  if (term.parts.length > 2) {
    return generated({ ...plainHead(term, scalar(true, term.loc), term.loc), generatedValue: true }, term.loc);
  }
  if (key === undefined) return "refs cannot be used for rule head";
  return generated({ ...plainHead(refOf([head], head.loc), undefined, term.loc), key }, term.loc);
}

function ruleFromEquality(expr: Expr & { readonly kind: "expr-call" }, assign: boolean): Rule | string {
  const [left, right] = expr.args;
  if (left === undefined || right === undefined) return "assignment requires two operands";
  if (left.kind === "call") {
    if (left.operator.parts[0]?.kind !== "var") return `invalid rule head: ${printRef(left.operator)}`;
    // `f() = 1` is read as the rule `f`, not as a function.
    const args = left.args.length > 0 ? left.args : undefined;
    return generated({ ...plainHead(left.operator, right, expr.loc), args, assign }, expr.loc, right.loc);
  }
  if (left.kind === "var")
    return generated({ ...plainHead(refOf([left], left.loc), right, expr.loc), assign }, expr.loc, right.loc);
  if (left.kind !== "ref") return `${valueName(left)} cannot be used for rule name`;
  if (left.parts[0]?.kind !== "var") return `invalid rule head: ${printRef(left)}`;
  return generated({ ...plainHead(left, right, expr.loc), assign }, expr.loc, right.loc);
}

/** The body that nobody wrote is where the value is. */
function generated(head: Head, loc: Location, bodyLoc = loc): Rule {
  return rule(head, [termExpr(scalar(true, bodyLoc))], loc, { generatedBody: true });
}

function plainHead(ref: RefTerm, value: Term | undefined, loc: Location): Head {
  return {
    ref,
    args: undefined,
    key: undefined,
    value,
    assign: false,
    generatedValue: false,
    hasContains: false,
    hasIf: false,
    loc,
  };
}

function rule(
  head: Head,
  body: Body,
  loc: Location,
  extra: { readonly elseRule?: Rule | undefined; readonly generatedBody?: boolean; readonly isDefault?: boolean },
): Rule {
  return {
    head,
    body,
    loc,
    elseRule: extra.elseRule,
    generatedBody: extra.generatedBody ?? false,
    isDefault: extra.isDefault ?? false,
  };
}

function parseHead(p: Cursor, isDefault: boolean): Head | undefined {
  const start = p.token;
  const name = parseVar(p);
  if (!p.token.spaceBefore && operatorsAfterName.has(p.token.kind)) return p.illegal();
  const term = parseHeadSuffix(p, start, name);
  if (term === undefined) return p.illegal("expected rule head name");
  const ref = term.kind === "call" ? term.operator : term.kind === "ref" ? term : refOf([term], term.loc);
  if (ref.parts[0]?.kind !== "var") return p.illegal(`rule head ref ${printRef(ref)} invalid`);
  const args = term.kind === "call" && term.args.length > 0 ? term.args : undefined;
  const label = printRef(ref);
  if (p.isKeyword("contains")) {
    if (args !== undefined) {
      return p.illegal(
        `the contains keyword can only be used with multi-value rule definitions (e.g., ${label} contains <VALUE> { ... })`,
      );
    }
    p.advance();
    const key = parseInfix(p);
    if (key === undefined) return p.illegal(`expected rule key term (e.g., ${label} contains <VALUE> { ... })`);
    return { ...plainHead(ref, undefined, p.locationFrom(start)), key, hasContains: true };
  }
  let value: Term | undefined;
  const assign = p.is(":=");
  if (p.is("=") || p.is(":=")) {
    const sign = p.advance().kind;
    value = parseInfix(p);
    if (value === undefined) {
      const kind = args !== undefined && args.length > 0 ? "function" : isDefault ? "default rule" : "rule";
      const call = args !== undefined && args.length > 0 ? "(...)" : "";
      const rest = isDefault ? "" : " { ... }";
      return p.illegal(
        `expected ${kind} value term (e.g., ${isDefault ? "default " : ""}${label}${call} ${sign} <VALUE>${rest})`,
      );
    }
  }
  const head = { ...plainHead(ref, value, p.locationFrom(start)), args, assign };
  if (value === undefined && (ref.parts.length !== 2 || (args !== undefined && args.length > 0))) {
    return { ...head, value: scalar(true, head.loc), generatedValue: true };
  }
  return head;
}

/** In a head, a space may stand before the first `(`, `.` or `[`. */
function parseHeadSuffix(p: Cursor, start: Token, name: Term): Term | undefined {
  return parseSuffix(p, start, name, true);
}

const operatorsAfterName = new Set(["+", "-", "*", "/", "%", "&", "|", "==", "!=", ">", ">=", "<", "<="]);

/** `p[x]` without a value is a set in v0 and, with `if`, an object of `true`s. */
function settleHead(head: Head, hasIf: boolean): Head {
  if (head.value !== undefined || head.key !== undefined) return head;
  const [name, key] = head.ref.parts;
  if (hasIf || name === undefined || key === undefined) {
    return { ...head, value: scalar(true, head.loc), generatedValue: true };
  }
  return { ...head, ref: refOf([name], name.loc), key };
}

function parseIfBody(p: Cursor): Body | undefined {
  p.advance();
  const mark = p.mark();
  const isBrace = p.is("{");
  const expr = parseLiteral(p);
  // A set literal is never false, so `p if { x }` can only mean a body.
  if (expr !== undefined && !(isBrace && expr.kind === "expr-term" && expr.term.kind === "set")) return [expr];
  if (!isBrace) return undefined;
  p.reset(mark);
  return parseBraces(p);
}

function parseBraces(p: Cursor): Body | undefined {
  p.advance();
  const body = parseBody(p, "}");
  if (body === undefined) return undefined;
  p.advance();
  return body;
}

/** One branch after another, so that no chain is too long. */
function parseElse(p: Cursor, head: Head): Rule | undefined {
  const branches: { readonly start: Token; readonly rule: Rule }[] = [];
  do {
    const start = p.token;
    const branch = parseElseBranch(p, head);
    if (branch === undefined) return undefined;
    branches.push({ start, rule: branch });
    if (branch.generatedBody) break;
  } while (p.isKeyword("else"));
  return branches.reduceRight<Rule | undefined>(
    (elseRule, { start, rule: branch }) =>
      branch.generatedBody ? branch : { ...branch, loc: p.locationFrom(start), elseRule },
    undefined,
  );
}

function parseElseBranch(p: Cursor, head: Head): Rule | undefined {
  const start = p.token;
  p.advance();
  let value: Term | undefined;
  let generatedValue = false;
  const assign = p.is(":=");
  if (p.is("{") || p.isKeyword("if")) {
    value = scalar(true, p.here());
    generatedValue = true;
  } else if (p.is("=") || p.is(":=")) {
    p.advance();
    value = parseInfix(p);
    if (value === undefined) return undefined;
  } else {
    return p.illegal("expected else value term or rule body");
  }
  const hasIf = p.isKeyword("if");
  const elseHead: Head = {
    ...head,
    args: freshWildcards(p, head.args),
    value,
    generatedValue,
    assign,
    hasIf,
    loc: p.locationFrom(start),
  };
  if (!hasIf && !p.is("{")) {
    const loc = p.locationFrom(start);
    return rule(elseHead, [termExpr(scalar(true, loc))], loc, { generatedBody: true });
  }
  if (hasIf) p.advance();
  let body: Body | undefined;
  if (p.is("{")) body = parseBraces(p);
  else if (p.is("eof")) return p.illegal("rule body expected");
  else {
    const expr = parseLiteral(p);
    body = expr === undefined ? undefined : [expr];
  }
  return body === undefined ? undefined : rule(elseHead, body, p.locationFrom(start), {});
}

/** Without a variable of its own: what a ref or a function starts with does not count. */
function isGround(term: Term): boolean {
  switch (term.kind) {
    case "scalar":
      return true;
    case "ref":
      return term.parts.slice(1).every(isGround);
    case "call":
      return term.args.every(isGround);
    case "array":
    case "set":
      return term.items.every(isGround);
    case "object":
      return term.entries.flat().every(isGround);
    default:
      return false;
  }
}

function freshWildcards(p: Cursor, args: readonly Term[] | undefined): readonly Term[] | undefined {
  return args?.map((arg) => (arg.kind === "var" && isWildcard(arg.name) ? { ...arg, name: p.wildcard() } : arg));
}

function parseDefault(p: Cursor, loc: Location, keyword: Location, head: Head): readonly Rule[] | undefined {
  if (head.value === undefined) {
    p.error(loc, "illegal default rule (must have a value)");
    return undefined;
  }
  const kind = dynamicKind(head.value);
  if (kind !== undefined) {
    p.error(loc, `illegal default rule (value cannot contain ${kind})`);
    return undefined;
  }
  const names = new Set<string>();
  for (const arg of head.args ?? []) {
    if (arg.kind !== "var") {
      p.error(loc, `illegal default rule (arguments cannot contain ${valueName(arg)})`);
      return undefined;
    }
    if (names.has(arg.name)) {
      p.error(loc, `illegal default rule (arguments cannot be repeated ${arg.name})`);
      return undefined;
    }
    names.add(arg.name);
  }
  return [rule(head, [termExpr(scalar(true, keyword))], loc, { isDefault: true })];
}

function dynamicKind(term: Term): string | undefined {
  switch (term.kind) {
    case "var":
    case "ref":
    case "call":
      return term.kind;
    case "array":
    case "set":
      return term.items.map(dynamicKind).find((kind) => kind !== undefined);
    case "object":
      return term.entries
        .flatMap(([key, value]) => [dynamicKind(key), dynamicKind(value)])
        .find((kind) => kind !== undefined);
    default:
      return undefined;
  }
}

/** Parsing of whole modules and of queries. */
import { attachAnnotations } from "./annotations.ts";
import type { Body, Import, Location, Module, RegoVersion, Rule, Term } from "./ast.ts";
import { noLocation, refOf } from "./ast.ts";
import { Cursor, futureV1Keywords, v1Keywords } from "./cursor.ts";
import { type RegoErrorItem, RegoErrors } from "./errors.ts";
import { lex } from "./lexer.ts";
import { parseQuery as parseStatement } from "./literals.ts";
import { printRef, valueName } from "./print.ts";
import { parseRules, ruleFromBody } from "./rules.ts";
import { isRootName, parseTerm, parseVar } from "./terms.ts";

export interface ParseOptions {
  readonly version?: RegoVersion;
  /** Keywords that count as imported. */
  readonly futureKeywords?: readonly string[];
}

type Statement =
  | { readonly kind: "package"; readonly path: readonly string[]; readonly loc: Location }
  | { readonly kind: "import"; readonly item: Import }
  | { readonly kind: "rules"; readonly rules: readonly Rule[] }
  | { readonly kind: "body"; readonly body: Body };

/** Throws `RegoErrors` when the text is not a module. */
export function parseModule(file: string, source: string, options: ParseOptions = {}): Module {
  const version = options.version ?? "v1";
  const p = new Cursor(lex(file, source), version, options.futureKeywords);
  const statements = readStatements(p);
  if (p.errors.length > 0) throw new RegoErrors(p.errors);
  return assemble(p, file, statements);
}

/** A query: expressions separated by semicolons or new lines. */
export function parseQuery(source: string, options: ParseOptions = {}): Body {
  const p = new Cursor(lex("", source), options.version ?? "v1", options.futureKeywords);
  const body = [];
  while (!p.is("eof") && p.errors.length === 0) {
    const statement = parseStatement(p, "eof", true);
    if (statement === undefined) break;
    body.push(...statement);
  }
  if (p.errors.length > 0) throw new RegoErrors(p.errors);
  return body;
}

/** One ground or non-ground term, as in `input_term` of a test case. */
export function parseTermText(source: string): Term {
  const p = new Cursor(lex("", source), "v1");
  const term = parseTerm(p);
  if (term !== undefined && !p.is("eof")) p.illegal();
  if (p.errors.length > 0 || term === undefined) throw new RegoErrors(p.errors);
  return term;
}

function readStatements(p: Cursor): readonly Statement[] {
  const statements: Statement[] = [];
  while (!p.is("eof")) {
    if (reportsKeywordName(p)) break;
    const mark = p.mark();
    if (p.isKeyword("package")) {
      const statement = parsePackage(p);
      if (statement === undefined || p.errors.length > 0) break;
      statements.push(statement);
      continue;
    }
    if (p.isKeyword("import")) {
      const item = parseImport(p);
      if (item === undefined || p.errors.length > 0) break;
      activateKeywords(p, item);
      if (p.errors.length > 0) break;
      statements.push({ kind: "import", item });
      continue;
    }
    const rules = parseRules(p);
    if (rules !== undefined) {
      statements.push({ kind: "rules", rules });
      continue;
    }
    if (p.errors.length > 0) break;
    p.reset(mark);
    const body = parseStatement(p, "eof", true);
    if (body === undefined) break;
    statements.push({ kind: "body", body });
  }
  return statements;
}

const nameFollowers: { readonly [keyword: string]: readonly string[] } = {
  every: [":=", "=", "if", "contains", "("],
  if: [":=", "=", "if", "contains", "("],
  in: [":=", "=", "if", "contains", "("],
  some: [":=", "=", "if", "contains", "("],
  as: [":=", "=", "if", "contains", "("],
  package: [":=", "=", "("],
  import: [":=", "=", "("],
  not: [":=", "=", "if", "contains"],
  and: [":=", "=", "if", "contains"],
  or: [":=", "=", "if", "contains"],
  contains: ["if", "contains"],
};

/** `every := 1` gets a message about the name instead of one about the sign after it. */
function reportsKeywordName(p: Cursor): boolean {
  if (!p.isAnyKeyword()) return false;
  const followers = nameFollowers[p.token.text];
  const next = p.at(p.position + 1);
  if (followers === undefined) return false;
  if (
    next.kind === "ident"
      ? !p.keywords.has(next.text) || !followers.includes(next.text)
      : !followers.includes(next.kind)
  ) {
    return false;
  }
  p.error(p.here(), `${p.token.text} keyword cannot be used for rule name`);
  return true;
}

function parsePackage(p: Cursor): Statement | undefined {
  const start = p.token;
  p.advance();
  const { token } = p;
  if (token.kind !== "ident") return p.illegal();
  const term = p.isAnyKeyword() ? parseKeywordPath(p) : parseTerm(p);
  if (term === undefined) return undefined;
  const parts = term.kind === "ref" ? term.parts : [term];
  const [head, ...rest] = parts;
  if (head?.kind !== "var") return p.illegal();
  const path = [head.name];
  for (const part of rest) {
    if (part.kind !== "scalar" || typeof part.value !== "string") {
      p.error(part.loc, `unexpected ${valueName(part)} token: expecting string`);
      return undefined;
    }
    path.push(part.value);
  }
  if (p.is("-")) return p.illegal();
  return { kind: "package", path, loc: p.locationFrom(start) };
}

/** A path may start with a keyword: `package if.foo`. */
function parseKeywordPath(p: Cursor): Term | undefined {
  p.keywordRefPosition = p.position;
  return p.startsKeywordRef() ? parseTerm(p) : parseVar(p);
}

function parseImport(p: Cursor): Import | undefined {
  const start = p.token;
  p.advance();
  if (!p.is("ident")) return p.illegal();
  const term = p.isAnyKeyword() ? parseKeywordPath(p) : parseTerm(p);
  if (term === undefined) return undefined;
  if (term.kind !== "var" && term.kind !== "ref") {
    p.error(p.here(), "expected path");
    return undefined;
  }
  const path = term.kind === "ref" ? term : refOf([term], term.loc);
  const [head, ...rest] = path.parts;
  for (const part of rest) {
    if (part.kind === "scalar" && typeof part.value === "string") continue;
    p.error(part.loc, `unexpected ${valueName(part)} token: expecting string`);
    return undefined;
  }
  const root = head?.kind === "var" ? head.name : "";
  if (!isRootName(root) && root !== "future" && root !== "rego") {
    p.hints.push("if this is unexpected, try updating OPA");
    p.error(
      path.loc,
      `unexpected import path, must begin with one of: {data, future, input, rego}, got: ${printRef(refOf(path.parts.slice(0, 1), path.loc))}`,
    );
    return undefined;
  }
  let alias: string | undefined;
  if (p.isKeyword("as")) {
    p.advance();
    if (!p.isName()) return p.illegal("expected var");
    const loc = p.here();
    alias = p.advance().text;
    if (isRootName(alias)) {
      p.error(loc, `unexpected import alias, must not be a reserved name, got: ${alias}`);
      return undefined;
    }
  } else if (root !== "future") {
    const last = path.parts.at(-1);
    const name = last?.kind === "scalar" ? last.value : last?.kind === "var" ? last.name : "";
    if (typeof name === "string" && p.keywords.has(name)) {
      p.hints.push("import a different path or use an alias");
      p.error(last?.loc ?? path.loc, `unexpected import path, must not end with a keyword, got: ${name}`);
      return undefined;
    }
  }
  if (p.is("-")) return p.illegal();
  return { path, alias, loc: p.locationFrom(start) };
}

function activateKeywords(p: Cursor, item: Import): void {
  const names = item.path.parts.map((part) =>
    part.kind === "var" ? part.name : part.kind === "scalar" && typeof part.value === "string" ? part.value : "",
  );
  const [root, second, third] = names;
  if (root !== "future" && root !== "rego") return;
  if (item.alias !== undefined) {
    p.error(item.loc, `\`${root}\` imports cannot be aliased`);
    return;
  }
  if (root === "rego") {
    if (names.length === 2 && second === "v1") {
      addKeywords(p, v1Keywords);
      return;
    }
    if (names.length === 2 && second === "v2") {
      addKeywords(p, [...v1Keywords, ...futureV1Keywords]);
      return;
    }
    p.error(item.path.loc, `invalid import \`${printRef(item.path)}\`, must be one of: \`rego.v1\`, \`rego.v2\``);
    return;
  }
  if (second !== "keywords") {
    p.error(item.path.loc, "invalid import, must be `future.keywords`");
    return;
  }
  const known: readonly string[] = [...v1Keywords, ...futureV1Keywords];
  if (third === undefined) {
    addKeywords(p, known);
    return;
  }
  if (!known.includes(third)) {
    p.error(item.path.loc, `unexpected keyword, must be one of [${[...known].sort().join(" ")}]`);
    return;
  }
  addKeywords(p, [third]);
}

function addKeywords(p: Cursor, words: readonly string[]): void {
  for (const word of words) {
    p.keywords.add(word);
    if (word === "every") p.keywords.add("in");
    if (word === "not") p.notBodies = true;
  }
  p.forget();
}

function assemble(p: Cursor, file: string, statements: readonly Statement[]): Module {
  const [first, ...rest] = statements;
  const parseError = (message: string, location: Location): RegoErrorItem => ({
    code: "rego_parse_error",
    message,
    location,
  });
  if (first === undefined) throw new RegoErrors([parseError("empty module", { ...noLocation, file, row: 0, col: 0 })]);
  const errors: RegoErrorItem[] = [];
  if (first.kind !== "package") errors.push(parseError("package expected", statementLocation(first)));
  const imports: Import[] = [];
  const rules: Rule[] = [];
  for (const statement of rest) {
    if (statement.kind === "import") imports.push(statement.item);
    else if (statement.kind === "rules") rules.push(...statement.rules);
    else if (statement.kind === "package") errors.push(parseError("unexpected package", statement.loc));
    else {
      const rule = ruleFromBody(statement.body);
      if (typeof rule === "string") errors.push(parseError(rule, statementLocation(statement)));
      else rules.push(rule);
    }
  }
  const importsRegoV1 = imports.some((item) => /^rego\.v[12]$/.test(printRef(item.path)));
  if (p.version === "v1" || importsRegoV1) {
    for (const rule of rules) {
      for (let each: Rule | undefined = rule; each !== undefined; each = each.elseRule) {
        errors.push(...checkV1(each).map((message) => parseError(message, rule.loc)));
      }
    }
  }
  if (errors.length > 0 || first.kind !== "package") throw new RegoErrors(errors);
  const module: Module = {
    file,
    packagePath: first.path,
    packageLoc: first.loc,
    imports,
    rules,
    comments: p.lexed.comments,
    annotations: [],
    version: p.version === "v1" || importsRegoV1 ? "v1" : "v0",
    importsRegoV1,
  };
  return attachAnnotations(module);
}

function statementLocation(statement: Statement): Location {
  switch (statement.kind) {
    case "package":
      return statement.loc;
    case "import":
      return statement.item.loc;
    case "rules":
      return statement.rules[0]?.loc ?? noLocation;
    case "body":
      return statement.body[0]?.loc ?? noLocation;
  }
}

/** What v1 demands of rules that v0 allowed. */
function checkV1(rule: Rule): readonly string[] {
  const { head } = rule;
  const kind = head.args === undefined ? "rule" : "function";
  const messages: string[] = [];
  const [name] = head.ref.parts;
  if (head.ref.parts.length < 2 && name?.kind === "var" && v1Names.has(name.name)) {
    messages.push(`${name.name} keyword cannot be used for rule name`);
  }
  if (rule.generatedBody && head.generatedValue) {
    messages.push(`${kind} must have value assignment and/or body declaration`);
  }
  if (!rule.generatedBody && !head.hasIf && !rule.isDefault) {
    messages.push(`\`if\` keyword is required before ${kind} body`);
  }
  if (head.key !== undefined && !head.hasContains)
    messages.push("`contains` keyword is required for partial set rules");
  return messages;
}

const v1Names = new Set<string>([
  ...v1Keywords,
  "not",
  "package",
  "import",
  "as",
  "default",
  "else",
  "with",
  "null",
  "true",
  "false",
  "some",
]);

/** Which variables occur where; bodies inside (comprehensions, `every`, `not {}`, `and`/`or`) count only if asked for. */
import type { Body, Expr, Term, VarTerm } from "../syntax/ast.ts";

/** Visits every variable of a term, but not those of bodies inside it. */
export function eachVar(term: Term, visit: (name: string) => void): void {
  switch (term.kind) {
    case "var":
      visit(term.name);
      return;
    case "ref":
      for (const part of term.parts) eachVar(part, visit);
      return;
    case "array":
    case "set":
      for (const item of term.items) eachVar(item, visit);
      return;
    case "object":
      for (const [key, value] of term.entries) {
        eachVar(key, visit);
        eachVar(value, visit);
      }
      return;
    case "call":
      for (const arg of term.args) eachVar(arg, visit);
      return;
    default:
      return;
  }
}

/** Visits the terms that are variables, as `eachVar` does. */
export function eachVarTerm(term: Term, visit: (term: VarTerm) => void): void {
  if (term.kind === "var") visit(term);
  else if (term.kind === "ref") for (const part of term.parts) eachVarTerm(part, visit);
  else if (term.kind === "array" || term.kind === "set") for (const item of term.items) eachVarTerm(item, visit);
  else if (term.kind === "object") for (const part of term.entries.flat()) eachVarTerm(part, visit);
  else if (term.kind === "call") for (const arg of term.args) eachVarTerm(arg, visit);
}

/** The variables of an expression, without those of bodies inside it. */
export function varsOfExpr(expr: Expr): Set<string> {
  const names = new Set<string>();
  const add = (name: string): void => {
    if (name !== "input" && name !== "data") names.add(name);
  };
  if (expr.kind === "expr-term") eachVar(expr.term, add);
  else if (expr.kind === "expr-call") for (const arg of expr.args) eachVar(arg, add);
  else if (expr.kind === "expr-every") eachVar(expr.domain, add);
  for (const modifier of expr.withs) eachVar(modifier.value, add);
  return names;
}

export function varsOfBody(body: Body): Set<string> {
  const names = new Set<string>();
  for (const expr of body) for (const name of varsOfExpr(expr)) names.add(name);
  return names;
}

/** Every variable that bodies inside the expression mention, without those that `every` declares. */
export function varsOfClosures(expr: Expr): Set<string> {
  const names = new Set<string>();
  const addBody = (body: Body, extra: readonly Term[] = []): void => {
    for (const inner of body) {
      for (const name of varsOfExpr(inner)) names.add(name);
      for (const name of varsOfClosures(inner)) names.add(name);
    }
    for (const term of extra) addTermDeep(term);
  };
  const addTermDeep = (term: Term): void => {
    eachVar(term, (name) => {
      if (name !== "input" && name !== "data") names.add(name);
    });
    addClosures(term);
  };
  const addClosures = (term: Term): void => {
    switch (term.kind) {
      case "array-comprehension":
      case "set-comprehension":
        addBody(term.body, [term.head]);
        return;
      case "object-comprehension":
        addBody(term.body, [term.key, term.value]);
        return;
      case "ref":
        term.parts.forEach(addClosures);
        return;
      case "array":
      case "set":
        term.items.forEach(addClosures);
        return;
      case "object":
        for (const [key, value] of term.entries) {
          addClosures(key);
          addClosures(value);
        }
        return;
      case "call":
        term.args.forEach(addClosures);
        return;
      default:
        return;
    }
  };
  switch (expr.kind) {
    case "expr-term":
      addClosures(expr.term);
      break;
    case "expr-call":
      expr.args.forEach(addClosures);
      break;
    case "expr-every":
      addClosures(expr.domain);
      addBody(expr.body);
      if (expr.key?.kind === "var") names.delete(expr.key.name);
      if (expr.value.kind === "var") names.delete(expr.value.name);
      break;
    case "expr-not":
      addBody(expr.body);
      break;
    case "expr-and":
    case "expr-or":
      addBody(expr.left);
      addBody(expr.right);
      break;
    default:
      break;
  }
  for (const modifier of expr.withs) addClosures(modifier.value);
  return names;
}

/** Visits every name inside a term as the author wrote it, also in bodies and template strings. */
export function eachMention(term: Term, visit: (name: string) => void): void {
  const inExpr = (expr: Expr): void => {
    for (const { value } of expr.withs) eachMention(value, visit);
    if (expr.kind === "expr-term") eachMention(expr.term, visit);
    else if (expr.kind === "expr-call") for (const arg of expr.args) eachMention(arg, visit);
    else if (expr.kind === "expr-some") for (const symbol of expr.symbols) eachMention(symbol, visit);
    else if (expr.kind === "expr-not") expr.body.forEach(inExpr);
    else if (expr.kind === "expr-every") {
      eachMention(expr.domain, visit);
      expr.body.forEach(inExpr);
    } else [...expr.left, ...expr.right].forEach(inExpr);
  };
  const inAll = (terms: readonly Term[]): void => {
    for (const part of terms) eachMention(part, visit);
  };
  switch (term.kind) {
    case "var":
      visit(term.name);
      return;
    case "ref":
      inAll(term.parts);
      return;
    case "array":
    case "set":
      inAll(term.items);
      return;
    case "object":
      inAll(term.entries.flat());
      return;
    case "call":
      inAll(term.args);
      return;
    case "array-comprehension":
    case "set-comprehension":
      eachMention(term.head, visit);
      term.body.forEach(inExpr);
      return;
    case "object-comprehension":
      inAll([term.key, term.value]);
      term.body.forEach(inExpr);
      return;
    case "template":
      for (const part of term.parts) {
        if ("withs" in part) inExpr(part);
        else eachMention(part, visit);
      }
      return;
    default:
      return;
  }
}

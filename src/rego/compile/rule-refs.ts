/**
 * The refs below `data` that a rule mentions. A variable part whose values are known (`some x in ["a", "b"]`) stands
 * only for those, so that such a rule does not depend on everything that has another name.
 */
import { lookup } from "../evaluate/lookup.ts";
import { constantValue } from "../evaluate/terms.ts";
import { type Body, operatorName, type Rule, scalar, type Term } from "../syntax/ast.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { eachExpr } from "./traverse.ts";

/** More refs than this are not worth telling apart. */
const maxExpansion = 64;

type Known = ReadonlyMap<string, readonly Value[]>;

/** The parts after `data` of every ref in one branch of a rule, operators and `with` included. */
export function refsOfRule(rule: Rule): readonly (readonly Term[])[] {
  const refs: (readonly Term[])[] = [];
  const known = new Map<string, readonly Value[]>();
  const add = (parts: readonly Term[]): void => {
    for (const expanded of expansions(parts, known)) refs.push(expanded);
  };
  for (const expr of rule.body) {
    eachRefOfBody([expr], add);
    if (expr.kind !== "expr-call" || expr.negated || expr.withs.length > 0) continue;
    const [left, right] = expr.args;
    if (operatorName(expr.operator) !== "eq" || left === undefined || right === undefined) continue;
    remember(left, right, known) || remember(right, left, known);
  }
  for (const term of [...(rule.head.args ?? []), rule.head.key, rule.head.value]) {
    if (term !== undefined) eachRef(term, add);
  }
  return refs;
}

/** `x = …` where the other side has constant values; the first such expression is as good as any. */
function remember(variable: Term, term: Term, known: Map<string, readonly Value[]>): boolean {
  const values = variable.kind === "var" ? valuesOf(term, known) : undefined;
  if (variable.kind !== "var" || values === undefined) return false;
  if (!known.has(variable.name)) known.set(variable.name, values);
  return true;
}

function expansions(parts: readonly Term[], known: Known): readonly (readonly Term[])[] {
  let expanded: readonly (readonly Term[])[] = [parts];
  if (known.size === 0) return expanded;
  parts.forEach((part, index) => {
    if (constantValue(part) !== undefined) return;
    const values = valuesOf(part, known);
    if (values === undefined || values.length === 0 || expanded.length * values.length > maxExpansion) return;
    expanded = expanded.flatMap((prefix) => values.map((value) => prefix.with(index, scalar(value, part.loc))));
  });
  return expanded;
}

/** The constant values that a term can have; undefined if they are not known. */
function valuesOf(term: Term, known: Known): readonly Value[] | undefined {
  if (term.kind === "var") return known.get(term.name);
  const constant = constantValue(term);
  if (constant !== undefined) return [constant];
  if (term.kind !== "ref") return undefined;
  const [head, ...parts] = term.parts;
  let values = head === undefined ? undefined : valuesOf(head, known);
  for (const part of parts) {
    if (values === undefined) return undefined;
    const key = constantValue(part);
    const next: Value[] = [];
    for (const value of values) {
      const members = key === undefined ? membersOf(value) : [lookup(value, key)];
      if (members === undefined) return undefined;
      for (const member of members) if (member !== undefined) next.push(member);
    }
    if (next.length > maxExpansion) return undefined;
    values = next;
  }
  return values;
}

function membersOf(value: Value): readonly Value[] | undefined {
  if (isArray(value)) return value;
  if (value instanceof RegoSet) return value.items();
  if (value instanceof RegoObject) return [...value.entries()].map(([, member]) => member);
  return undefined;
}

function eachRefOfBody(body: Body, visit: (parts: readonly Term[]) => void): void {
  eachExpr(body, (expr) => {
    if (expr.kind === "expr-term") eachRef(expr.term, visit);
    if (expr.kind === "expr-every") eachRef(expr.domain, visit);
    if (expr.kind === "expr-call") {
      eachRef(expr.operator, visit);
      for (const arg of expr.args) eachRef(arg, visit);
    }
    for (const { target, value, mock } of expr.withs) {
      eachRef(target, visit);
      eachRef(value, visit);
      if (!mock?.startsWith("data.")) continue;
      const [, ...names] = mock.split(".");
      visit(names.map((name) => scalar(name, expr.loc)));
    }
  });
}

/** Bodies inside are not part of it: `eachExpr` comes by there, too. */
function eachRef(term: Term, visit: (parts: readonly Term[]) => void): void {
  switch (term.kind) {
    case "ref": {
      const { parts } = term;
      const [head] = parts;
      if (head?.kind === "var" && head.name === "data") visit(parts.slice(1));
      for (let index = 1; index < parts.length; index++) {
        const part = parts[index];
        if (part !== undefined && part.kind !== "scalar") eachRef(part, visit);
      }
      return;
    }
    case "array":
    case "set":
      for (const item of term.items) eachRef(item, visit);
      return;
    case "object":
      for (const [key, value] of term.entries) {
        eachRef(key, visit);
        eachRef(value, visit);
      }
      return;
    case "array-comprehension":
    case "set-comprehension":
      eachRef(term.head, visit);
      return;
    case "object-comprehension":
      eachRef(term.key, visit);
      eachRef(term.value, visit);
      return;
    default:
      return;
  }
}

/** Syntax trees as text, for messages: one line, the author's operators, generated names as they are. */
import { formatValue } from "../values/format.ts";
import { type Body, type Expr, isWildcard, operatorName, type RefTerm, type Term, type With } from "./ast.ts";

export function printTerm(term: Term): string {
  switch (term.kind) {
    case "scalar":
      return formatValue(term.value);
    case "var":
      return isWildcard(term.name) ? "_" : term.name;
    case "ref":
      return printRef(term);
    case "array":
      return `[${term.items.map(printTerm).join(", ")}]`;
    case "set":
      return term.items.length === 0 ? "set()" : `{${term.items.map(printTerm).join(", ")}}`;
    case "object":
      return `{${term.entries.map(([key, value]) => `${printTerm(key)}: ${printTerm(value)}`).join(", ")}}`;
    case "array-comprehension":
      return `[${printTerm(term.head)} | ${printBody(term.body)}]`;
    case "set-comprehension":
      return `{${printTerm(term.head)} | ${printBody(term.body)}}`;
    case "object-comprehension":
      return `{${printTerm(term.key)}: ${printTerm(term.value)} | ${printBody(term.body)}}`;
    case "call":
      return printCall(term.operator, term.args);
    case "template":
      return term.loc.text;
  }
}

export function printRef(ref: RefTerm): string {
  const [head, ...rest] = ref.parts;
  if (head === undefined) return "";
  let text = printTerm(head);
  for (const part of rest) {
    const isName =
      part.kind === "scalar" && typeof part.value === "string" && /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(part.value);
    text += isName && typeof part.value === "string" ? `.${part.value}` : `[${printTerm(part)}]`;
  }
  return text;
}

export function printBody(body: Body): string {
  return body.map(printExpr).join("; ");
}

export function printExpr(expr: Expr): string {
  const text = printUnmodified(expr);
  return `${expr.negated ? "not " : ""}${text}${expr.withs.map(printWith).join("")}`;
}

/** What a term is called in messages: `var`, `ref`, `number`, … */
export function valueName(term: Term): string {
  switch (term.kind) {
    case "scalar":
      return term.value === null ? "null" : typeof term.value === "object" ? "number" : typeof term.value;
    case "array-comprehension":
      return "arraycomprehension";
    case "set-comprehension":
      return "setcomprehension";
    case "object-comprehension":
      return "objectcomprehension";
    case "template":
      return "templatestring";
    default:
      return term.kind;
  }
}

function printWith(modifier: With): string {
  return ` with ${printTerm(modifier.target)} as ${printTerm(modifier.value)}`;
}

function printUnmodified(expr: Expr): string {
  switch (expr.kind) {
    case "expr-term":
      return printTerm(expr.term);
    case "expr-call":
      return printCall(expr.operator, expr.args);
    case "expr-some": {
      const [only] = expr.symbols;
      if (only?.kind === "call") return `some ${printCall(only.operator, only.args)}`;
      return `some ${expr.symbols.map(printTerm).join(", ")}`;
    }
    case "expr-every": {
      const key = expr.key === undefined ? "" : `${printTerm(expr.key)}, `;
      return `every ${key}${printTerm(expr.value)} in ${printTerm(expr.domain)} { ${printBody(expr.body)} }`;
    }
    case "expr-not":
      return expr.explicit ? `not { ${printBody(expr.body)} }` : `not ${printBody(expr.body)}`;
    case "expr-and":
    case "expr-or": {
      const word = expr.kind === "expr-and" ? "and" : "or";
      const side = (body: Body, explicit: boolean): string => (explicit ? `{ ${printBody(body)} }` : printBody(body));
      return `${side(expr.left, expr.explicitLeft)} ${word} ${side(expr.right, expr.explicitRight)}`;
    }
  }
}

const infixOperators: { readonly [name: string]: string } = {
  eq: "=",
  assign: ":=",
  equal: "==",
  neq: "!=",
  lt: "<",
  gt: ">",
  lte: "<=",
  gte: ">=",
  plus: "+",
  minus: "-",
  mul: "*",
  div: "/",
  rem: "%",
  and: "&",
  or: "|",
  "internal.member_2": "in",
};

function printCall(operator: RefTerm, args: readonly Term[]): string {
  const name = operatorName(operator) ?? printRef(operator);
  const infix = infixOperators[name];
  const [first, second, third] = args;
  if (infix !== undefined && args.length === 2 && first !== undefined && second !== undefined) {
    return `${printTerm(first)} ${infix} ${printTerm(second)}`;
  }
  if (name === "internal.member_3" && first !== undefined && second !== undefined && third !== undefined) {
    return `${printTerm(first)}, ${printTerm(second)} in ${printTerm(third)}`;
  }
  return `${name}(${args.map(printTerm).join(", ")})`;
}

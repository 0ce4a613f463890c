/** `rego.parse_module`: a module's syntax tree in the JSON that OPA writes. */
import type { Body, Expr, Head, Module, Rule, Term, With } from "../syntax/ast.ts";
import { isNumber } from "../values/number.ts";
import { RegoObject, type Value } from "../values/value.ts";

export function moduleToValue(module: Module): Value {
  const fields: [string, Value][] = [
    ["package", object([["path", [typed("var", "data"), ...module.packagePath.map((name) => typed("string", name))]]])],
  ];
  if (module.imports.length > 0) {
    fields.push([
      "imports",
      module.imports.map((item) => object([["path", termToValue(item.path)], ...optional("alias", item.alias)])),
    ]);
  }
  if (module.rules.length > 0) fields.push(["rules", module.rules.map(ruleToValue)]);
  return object(fields);
}

function ruleToValue(rule: Rule): Value {
  return object([
    ...(rule.isDefault ? [["default", true] as const] : []),
    ["head", headToValue(rule.head)],
    ["body", bodyToValue(rule.body, rule.generatedBody || rule.isDefault)],
    ...(rule.elseRule === undefined ? [] : [["else", ruleToValue(rule.elseRule)] as const]),
  ]);
}

function headToValue(head: Head): Value {
  const [name, key] = head.ref.parts;
  const isPartial = head.key === undefined && head.ref.parts.length === 2 && key !== undefined && key.kind !== "scalar";
  const shownKey = head.key ?? (isPartial ? key : undefined);
  return object([
    ...(name?.kind === "var" && (head.ref.parts.length === 1 || isPartial) ? [["name", name.name] as const] : []),
    ...(head.args === undefined ? [] : [["args", head.args.map(termToValue)] as const]),
    ...(shownKey === undefined ? [] : [["key", termToValue(shownKey)] as const]),
    ...(head.value === undefined ? [] : [["value", termToValue(head.value)] as const]),
    ...(head.assign ? [["assign", true] as const] : []),
    ["ref", head.ref.parts.map(termToValue)],
  ]);
}

function bodyToValue(body: Body, isGenerated = false): Value {
  return body.map((expr, index) => exprToValue(expr, index, isGenerated));
}

function exprToValue(expr: Expr, index: number, isGenerated: boolean): Value {
  return object([
    ...(isGenerated ? [["generated", true] as const] : []),
    ["index", index],
    ...(expr.negated ? [["negated", true] as const] : []),
    ["terms", exprTerms(expr)],
    ...(expr.withs.length === 0 ? [] : [["with", expr.withs.map(withToValue)] as const]),
  ]);
}

function exprTerms(expr: Expr): Value {
  switch (expr.kind) {
    case "expr-term":
      return termToValue(expr.term);
    case "expr-call":
      return [termToValue(expr.operator), ...expr.args.map(termToValue)];
    case "expr-some":
      return object([["symbols", expr.symbols.map(termToValue)]]);
    case "expr-every":
      return object([
        ["key", expr.key === undefined ? null : termToValue(expr.key)],
        ["value", termToValue(expr.value)],
        ["domain", termToValue(expr.domain)],
        ["body", bodyToValue(expr.body)],
      ]);
    case "expr-not":
      return object([["body", bodyToValue(expr.body)]]);
    case "expr-and":
    case "expr-or":
      return object([
        ["lhs", bodyToValue(expr.left)],
        ["rhs", bodyToValue(expr.right)],
      ]);
  }
}

function withToValue(modifier: With): Value {
  return object([
    ["target", termToValue(modifier.target)],
    ["value", termToValue(modifier.value)],
  ]);
}

export function termToValue(term: Term): Value {
  switch (term.kind) {
    case "scalar":
      if (term.value === null) return typed("null", new RegoObject());
      return typed(isNumber(term.value) ? "number" : typeof term.value, term.value);
    case "var":
      return typed("var", term.name);
    case "ref":
      return typed("ref", term.parts.map(termToValue));
    case "array":
    case "set":
      return typed(term.kind, term.items.map(termToValue));
    case "object":
      return typed(
        "object",
        term.entries.map(([key, value]) => [termToValue(key), termToValue(value)]),
      );
    case "call":
      return typed("call", [termToValue(term.operator), ...term.args.map(termToValue)]);
    case "array-comprehension":
    case "set-comprehension":
      return typed(
        term.kind.replace("-", ""),
        object([
          ["term", termToValue(term.head)],
          ["body", bodyToValue(term.body)],
        ]),
      );
    case "object-comprehension":
      return typed(
        "objectcomprehension",
        object([
          ["key", termToValue(term.key)],
          ["value", termToValue(term.value)],
          ["body", bodyToValue(term.body)],
        ]),
      );
    case "template":
      return typed(
        "templatestring",
        object([
          [
            "parts",
            term.parts.map((part, index) => ("withs" in part ? exprToValue(part, index, false) : termToValue(part))),
          ],
          ["multi_line", term.multiLine],
        ]),
      );
  }
}

function typed(type: string, value: Value): Value {
  return object([
    ["type", type],
    ["value", value],
  ]);
}

function optional(name: string, value: string | undefined): readonly (readonly [string, Value])[] {
  return value === undefined ? [] : [[name, value]];
}

function object(entries: Iterable<readonly [string, Value]>): RegoObject {
  return RegoObject.fromEntries(entries);
}

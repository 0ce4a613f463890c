import { parseDuration } from "../duration.ts";
import { compilePattern } from "../schema/pattern.ts";
import type { CallExpr, Expr, ListExpr, MapExpr } from "./ast.ts";
import type { Checked } from "./check.ts";
import type { Issue } from "./issue.ts";
import { formatIssue } from "./library/format-check.ts";
import { parseTimestamp } from "./library/timestamp.ts";
import { type CelType, dynType, formatType, isExactType, unwrapOptional } from "./type.ts";

/** Mistakes in what is written out: durations, times, patterns, format texts, and lists and maps of mixed types. */
export function validateLiterals(expr: Expr, checked: Checked): readonly Issue[] {
  const issues: Issue[] = [];
  const typeOf = (node: Expr): CelType => checked.types.get(node) ?? dynType;
  const visit = (node: Expr, inFormat: boolean): void => {
    if (node.kind === "call") issues.push(...callIssues(node, typeOf));
    if (node.kind === "list" && !inFormat) issues.push(...listIssues(node, typeOf));
    if (node.kind === "map" && !inFormat) issues.push(...mapIssues(node, typeOf));
    const isFormat = inFormat || (node.kind === "call" && node.function === "format");
    for (const child of childrenOf(node)) visit(child, isFormat);
  };
  visit(expr, false);
  return issues;
}

function callIssues(call: CallExpr, typeOf: (expr: Expr) => CelType): readonly Issue[] {
  const [first] = call.args;
  if (call.function === "duration") return badArgument(first, "duration", (text) => parseDuration(text).ok);
  if (call.function === "timestamp") return badArgument(first, "timestamp", (text) => parseTimestamp(text).ok);
  // The text comes first, and the pattern is the first argument only where the text is the target.
  if (call.function === "matches" && call.target !== undefined) {
    return badArgument(first, "matches", (text) => compilePattern(text).ok);
  }
  const { target } = call;
  const isWritten = target?.kind === "literal" && typeof target.value === "string" && first?.kind === "list";
  if (call.function !== "format" || !isWritten) return [];
  const issue = formatIssue(
    target.value as string,
    first.elements.map((element) => ({ at: element.at, type: typeOf(element) })),
    call.at,
  );
  return issue ? [issue] : [];
}

function badArgument(arg: Expr | undefined, name: string, isValid: (text: string) => boolean): readonly Issue[] {
  if (arg?.kind !== "literal" || typeof arg.value !== "string" || isValid(arg.value)) return [];
  return [{ at: arg.at, message: `invalid ${name} argument` }];
}

function listIssues(list: ListExpr, typeOf: (expr: Expr) => CelType): readonly Issue[] {
  let first: CelType | undefined;
  for (const [index, element] of list.elements.entries()) {
    const type = list.optionals.has(index) ? unwrapOptional(typeOf(element)) : typeOf(element);
    if (first === undefined) first = type;
    else if (!isExactType(first, type)) return [mismatch(element.at, first, type)];
  }
  return [];
}

function mapIssues(map: MapExpr, typeOf: (expr: Expr) => CelType): readonly Issue[] {
  const [first, ...others] = map.entries;
  if (first === undefined) return [];
  const keyType = typeOf(first.key);
  const valueType = first.optional ? unwrapOptional(typeOf(first.value)) : typeOf(first.value);
  return others.flatMap(({ key, value, optional }) => {
    const type = optional ? unwrapOptional(typeOf(value)) : typeOf(value);
    return [
      ...(isExactType(keyType, typeOf(key)) ? [] : [mismatch(key.at, keyType, typeOf(key))]),
      ...(isExactType(valueType, type) ? [] : [mismatch(value.at, valueType, type)]),
    ];
  });
}

const mismatch = (at: number, expected: CelType, actual: CelType): Issue => ({
  at,
  message: `expected type '${formatType(expected)}' but found '${formatType(actual)}'`,
});

function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "select":
      return [expr.operand];
    case "call":
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case "list":
      return expr.elements;
    case "map":
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case "comprehension":
      return [expr.range, expr.init, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}

import { goJson, goNumber } from "./go-text.ts";
import { type Parsed, parsed, refused } from "./parsed.ts";

/**
 * The JSONPath of printer columns, selectable fields and `kubectl -o jsonpath`, as far as paths go:
 * `.spec.x`, `['a.b/c']`, `[0]`, `[-1:]`, `[*]`, `..name`, `[?(@.type=="Ready")].status`.
 */
export interface JsonPath {
  readonly steps: readonly Step[];
}

export type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "wildcard" }
  | { readonly kind: "recursive" }
  | {
      readonly kind: "slice";
      readonly from?: number;
      readonly to?: number;
      readonly step?: number;
      readonly one: boolean;
    }
  | { readonly kind: "union"; readonly members: readonly JsonPath[] }
  | { readonly kind: "filter"; readonly left: Operand; readonly operator: FilterOperator; readonly right?: Operand };

export type FilterOperator = "exists" | "==" | "!=" | "<" | "<=" | ">" | ">=";
export type Operand =
  | { readonly kind: "path"; readonly path: JsonPath }
  | { readonly kind: "literal"; readonly value: Scalar };
type Scalar = string | number | boolean;

/** Longer paths could only serve to keep a server busy. */
export const jsonPathMaxLength = 4096;

export function parseJsonPath(text: string): Parsed<JsonPath> {
  if (text.length > jsonPathMaxLength) return refused(`a path is at most ${jsonPathMaxLength} characters long`);
  const braces = /^\s*\{([\s\S]*)\}\s*$/.exec(text);
  return parseSteps(braces?.[1] ?? text);
}

/** Every value that the path leads to. Missing fields lead nowhere; an index out of bounds or a filter on a non-list fails. */
export function findAll(path: JsonPath, document: unknown): Parsed<readonly unknown[]> {
  let values: readonly unknown[] = [document];
  for (const step of path.steps) {
    const next = follow(step, values);
    if (!next.ok) return next;
    values = next.value;
  }
  return parsed(values);
}

/** The first value that the path leads to, as a printer column shows it; undefined when there is none. */
export function findFirst(path: JsonPath, document: unknown): unknown {
  const found = findAll(path, document);
  return found.ok ? found.value[0] : undefined;
}

/** A found value as text: strings and numbers as they are, the rest as JSON. */
export function printValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return goNumber(value);
  return goJson(value);
}

function parseSteps(text: string): Parsed<JsonPath> {
  const steps: Step[] = [];
  let rest = text.replace(/^[\s$@]+/, "");
  while (rest !== "") {
    const taken = takeStep(rest);
    if (!taken.ok) return taken;
    if (taken.value.step !== undefined) steps.push(taken.value.step);
    rest = rest.slice(taken.value.length);
  }
  return parsed({ steps });
}

interface Taken {
  readonly step?: Step;
  readonly length: number;
}

function takeStep(text: string): Parsed<Taken> {
  if (text.startsWith("..")) return parsed({ step: { kind: "recursive" }, length: /^\.\.[\w\\]/.test(text) ? 1 : 2 });
  if (text.startsWith("[?(")) return takeFilter(text);
  if (text.startsWith("[")) return takeBracket(text);
  const blank = /^[\s$@]+/.exec(text)?.[0];
  if (blank !== undefined) return parsed({ length: blank.length });
  const field = /^\.((?:\\[\s\S]|[^\s.,[\]$@{}\\])*)/.exec(text);
  if (field === null) return refused(`unrecognized character in action: ${text[0]}`);
  const name = (field[1] ?? "").replaceAll("\\", "");
  if (name === "*") return parsed({ step: { kind: "wildcard" }, length: field[0].length });
  return parsed({ ...(name !== "" && { step: { kind: "field" as const, name } }), length: field[0].length });
}

function takeBracket(text: string): Parsed<Taken> {
  const quoted = /^\['([^']*)'\]/.exec(text);
  if (quoted !== null)
    return parsed({ step: { kind: "field", name: withoutBackslash(quoted[1] ?? "") }, length: quoted[0].length });
  const end = text.indexOf("]");
  if (end < 0) return refused("unterminated array");
  const inner = text.slice(1, end);
  const length = end + 1;
  if (inner === "*") return parsed({ step: { kind: "slice", one: false }, length });
  const members = inner.split(",");
  if (members.length > 1) {
    const paths: JsonPath[] = [];
    for (const member of members) {
      const path = parseSteps(`[${member.trim()}]`);
      if (!path.ok) return path;
      paths.push(path.value);
    }
    return parsed({ step: { kind: "union", members: paths }, length });
  }
  const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(inner);
  if (slice === null || inner === "") return refused(`invalid array index ${inner}`);
  const [, from = "", to, step] = slice;
  const numberOf = (part: string | undefined): number | undefined => {
    const digits = part?.replace(/^:/, "") ?? "";
    return digits === "" ? undefined : Number(digits);
  };
  if ([from, to, step].some((part) => part?.replace(/^:/, "") === "-"))
    return refused(`array index ${inner} is not a number`);
  const bounds = { from: numberOf(from), to: numberOf(to), step: numberOf(step) };
  return parsed({
    step: {
      kind: "slice",
      one: to === undefined,
      ...(bounds.from !== undefined && { from: bounds.from }),
      ...(bounds.to !== undefined && { to: bounds.to }),
      ...(bounds.step !== undefined && { step: bounds.step }),
    },
    length,
  });
}

const withoutBackslash = (name: string): string => name.replaceAll("\\", "");

function takeFilter(text: string): Parsed<Taken> {
  const end = filterEnd(text);
  if (end === undefined) return refused("unterminated filter");
  if (text[end + 1] !== "]") return refused("unclosed array expect ]");
  const inner = text.slice(3, end);
  const length = end + 2;
  const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(inner);
  if (comparison === null) {
    const path = parseSteps(inner);
    if (!path.ok) return path;
    return parsed({ step: { kind: "filter", left: { kind: "path", path: path.value }, operator: "exists" }, length });
  }
  const [, leftText = "", operator = "", rightText = ""] = comparison;
  if (!isFilterOperator(operator)) return refused(`unrecognized filter operator ${operator}`);
  const left = parseOperand(leftText.trim());
  if (!left.ok) return left;
  const right = parseOperand(rightText.trim());
  if (!right.ok) return right;
  return parsed({ step: { kind: "filter", left: left.value, operator, right: right.value }, length });
}

/** Where the filter's closing parenthesis is; one inside quotes does not count. */
function filterEnd(text: string): number | undefined {
  let quote: string | undefined;
  for (let index = 3; index < text.length; index += 1) {
    const character = text[index];
    if (quote !== undefined) {
      if (character === "\\") index += 1;
      else if (character === quote) quote = undefined;
    } else if (character === '"' || character === "'") quote = character;
    else if (character === ")") return index;
  }
  return undefined;
}

const isFilterOperator = (text: string): text is FilterOperator => /^(?:[=!]=|[<>]=?)$/.test(text);

function parseOperand(text: string): Parsed<Operand> {
  const quoted = /^(["'])([\s\S]*)\1$/.exec(text);
  if (quoted !== null) return parsed({ kind: "literal", value: (quoted[2] ?? "").replace(/\\(.)/gs, "$1") });
  if (text === "true" || text === "false") return parsed({ kind: "literal", value: text === "true" });
  if (/^[+-]?\d+(?:\.\d*)?$/.test(text)) return parsed({ kind: "literal", value: Number(text) });
  const path = parseSteps(text);
  return path.ok ? parsed({ kind: "path", path: path.value }) : path;
}

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function follow(step: Step, values: readonly unknown[]): Parsed<readonly unknown[]> {
  switch (step.kind) {
    case "field":
      return parsed(
        values.flatMap((value) => (isMembers(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [])),
      );
    case "wildcard":
      return parsed(values.flatMap(childrenOf));
    case "recursive":
      return parsed(values.flatMap(descendantsOf));
    case "slice":
      return eachValue(values, (value) => slice(step, value));
    case "union":
      return eachValue(step.members, (member) => eachValue(values, (value) => findAll(member, value)));
    case "filter":
      return eachValue(values, (value) => filter(step, value));
  }
}

function eachValue<T>(
  values: readonly T[],
  find: (value: T) => Parsed<readonly unknown[]>,
): Parsed<readonly unknown[]> {
  const all: unknown[] = [];
  for (const value of values) {
    const found = find(value);
    if (!found.ok) return found;
    all.push(...found.value);
  }
  return parsed(all);
}

const childrenOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value)
    ? value
    : isMembers(value)
      ? Object.keys(value)
          .sort()
          .map((key) => value[key])
      : [];

const descendantsOf = (value: unknown): readonly unknown[] => {
  const children = childrenOf(value);
  return children.length === 0 ? [] : [value, ...children.flatMap(descendantsOf)];
};

function slice(step: Extract<Step, { kind: "slice" }>, value: unknown): Parsed<readonly unknown[]> {
  if (value === null || value === undefined) return parsed([]);
  if (!Array.isArray(value)) return refused("the value is not a list");
  const { length } = value;
  const from = normalize(step.from ?? 0, length);
  if (step.one) {
    if (from < 0 || from >= length) return refused(`array index out of bounds: index ${from}, length ${length}`);
    return parsed([value[from]]);
  }
  const to = step.to === undefined ? length : normalize(step.to, length);
  if (from === to) return parsed([]);
  if (from < 0 || from >= length) return refused(`array index out of bounds: index ${from}, length ${length}`);
  if (to < 0 || to > length) return refused(`array index out of bounds: index ${to - 1}, length ${length}`);
  if (from > to) return refused(`starting index ${from} is greater than ending index ${to}`);
  const stride = step.step ?? 1;
  if (stride <= 0) return refused("step must be > 0");
  return parsed(value.slice(from, to).filter((_, index) => index % stride === 0));
}

const normalize = (index: number, length: number): number => (index < 0 ? index + length : index);

function filter(step: Extract<Step, { kind: "filter" }>, value: unknown): Parsed<readonly unknown[]> {
  if (!Array.isArray(value)) return refused("the value is not a list and cannot be filtered");
  const kept: unknown[] = [];
  for (const item of value) {
    const lefts = operandValues(step.left, item);
    if (step.operator === "exists") {
      if (lefts.ok && lefts.value.length > 0) kept.push(item);
      continue;
    }
    if (!lefts.ok) return lefts;
    const rights = step.right === undefined ? parsed<readonly unknown[]>([]) : operandValues(step.right, item);
    if (!rights.ok) return rights;
    if (lefts.value.length > 1 || rights.value.length > 1) return refused("can only compare one element at a time");
    if (lefts.value.length === 0 || rights.value.length === 0) continue;
    const passes = compare(step.operator, lefts.value[0], rights.value[0]);
    if (!passes.ok) return passes;
    if (passes.value) kept.push(item);
  }
  return parsed(kept);
}

const operandValues = (operand: Operand, item: unknown): Parsed<readonly unknown[]> =>
  operand.kind === "literal" ? parsed([operand.value]) : findAll(operand.path, item);

function compare(operator: FilterOperator, left: unknown, right: unknown): Parsed<boolean> {
  const type = typeof left;
  const comparable = type === "string" || type === "number" || type === "boolean";
  if (!comparable || type !== typeof right) return refused("incompatible types for comparison");
  if (operator === "==") return parsed(left === right);
  if (operator === "!=") return parsed(left !== right);
  if (type === "boolean") return refused("invalid type for comparison");
  const order = (left as string | number) < (right as string | number) ? -1 : left === right ? 0 : 1;
  if (operator === "<") return parsed(order < 0);
  if (operator === "<=") return parsed(order <= 0);
  return parsed(operator === ">" ? order > 0 : order >= 0);
}

/** The syntax tree of Rego modules and queries. Passes of the compiler make new nodes; nothing changes a node in place. */
import type { Value } from "../values/value.ts";

export interface Location {
  readonly file: string;
  readonly row: number;
  readonly col: number;
  readonly offset: number;
  readonly text: string;
}

export type ScalarTerm = { readonly kind: "scalar"; readonly value: Value; readonly loc: Location };
export type VarTerm = { readonly kind: "var"; readonly name: string; readonly loc: Location };
export type RefTerm = { readonly kind: "ref"; readonly parts: readonly Term[]; readonly loc: Location };
export type ArrayTerm = { readonly kind: "array"; readonly items: readonly Term[]; readonly loc: Location };
export type SetTerm = { readonly kind: "set"; readonly items: readonly Term[]; readonly loc: Location };
export type ObjectTerm = {
  readonly kind: "object";
  readonly entries: readonly (readonly [Term, Term])[];
  readonly loc: Location;
};
export type ArrayComprehension = {
  readonly kind: "array-comprehension";
  readonly head: Term;
  readonly body: Body;
  readonly loc: Location;
};
export type SetComprehension = {
  readonly kind: "set-comprehension";
  readonly head: Term;
  readonly body: Body;
  readonly loc: Location;
};
export type ObjectComprehension = {
  readonly kind: "object-comprehension";
  readonly key: Term;
  readonly value: Term;
  readonly body: Body;
  readonly loc: Location;
};
export type CallTerm = {
  readonly kind: "call";
  /** A ref; infix operators are refs to their built-in (`plus`, `equal`, …). */
  readonly operator: RefTerm;
  readonly args: readonly Term[];
  readonly loc: Location;
};
/** `$"… {expr} …"`: strings and expressions in order. */
export type TemplateTerm = {
  readonly kind: "template";
  readonly multiLine: boolean;
  readonly parts: readonly (Term | Expr)[];
  readonly loc: Location;
};

export type Comprehension = ArrayComprehension | SetComprehension | ObjectComprehension;
export type Term =
  | ScalarTerm
  | VarTerm
  | RefTerm
  | ArrayTerm
  | SetTerm
  | ObjectTerm
  | Comprehension
  | CallTerm
  | TemplateTerm;

export type Body = readonly Expr[];

export interface With {
  /** The function that takes the place of another; then `value` is not used. */
  readonly mock?: string;
  readonly target: RefTerm;
  readonly value: Term;
  readonly loc: Location;
}

interface ExprCommon {
  readonly loc: Location;
  readonly negated: boolean;
  readonly withs: readonly With[];
  /** Made by the compiler, not written by the author: not counted by coverage, not shown in traces. */
  readonly generated?: boolean;
}

export type TermExpr = ExprCommon & { readonly kind: "expr-term"; readonly term: Term };
export type CallExpr = ExprCommon & {
  readonly kind: "expr-call";
  readonly operator: RefTerm;
  readonly args: readonly Term[];
  /** Was written as `:=`: its left side can only take values, not give any. */
  readonly isAssignment?: boolean;
};
export type SomeExpr = ExprCommon & { readonly kind: "expr-some"; readonly symbols: readonly Term[] };
export type EveryExpr = ExprCommon & {
  readonly kind: "expr-every";
  readonly key: Term | undefined;
  readonly value: Term;
  readonly domain: Term;
  readonly body: Body;
};
/** `not { … }` and, with `future.keywords.not`, every `not`. */
export type NotExpr = ExprCommon & { readonly kind: "expr-not"; readonly body: Body; readonly explicit: boolean };
export type LogicalExpr = ExprCommon & {
  readonly kind: "expr-and" | "expr-or";
  readonly left: Body;
  readonly right: Body;
  readonly explicitLeft: boolean;
  readonly explicitRight: boolean;
};

export type Expr = TermExpr | CallExpr | SomeExpr | EveryExpr | NotExpr | LogicalExpr;

export interface Head {
  /** The name and what follows it: `p`, `p.q`, `p[x]`. For `contains` rules without the member. */
  readonly ref: RefTerm;
  readonly args: readonly Term[] | undefined;
  /** The member of a `contains` rule. */
  readonly key: Term | undefined;
  readonly value: Term | undefined;
  readonly assign: boolean;
  /** No value was written; it is `true`. */
  readonly generatedValue: boolean;
  readonly hasContains: boolean;
  readonly hasIf: boolean;
  readonly loc: Location;
}

export interface Rule {
  readonly head: Head;
  readonly body: Body;
  readonly isDefault: boolean;
  readonly generatedBody: boolean;
  readonly elseRule: Rule | undefined;
  readonly loc: Location;
}

export interface Import {
  readonly path: RefTerm;
  readonly alias: string | undefined;
  readonly loc: Location;
}

export interface Comment {
  readonly text: string;
  readonly loc: Location;
}

export type RegoVersion = "v0" | "v1";

export interface Module {
  readonly file: string;
  /** Without `data`: the strings of the path. */
  readonly packagePath: readonly string[];
  readonly packageLoc: Location;
  readonly imports: readonly Import[];
  readonly rules: readonly Rule[];
  readonly comments: readonly Comment[];
  readonly annotations: readonly Annotations[];
  readonly version: RegoVersion;
  readonly importsRegoV1: boolean;
}

export type AnnotationScope = "rule" | "document" | "package" | "subpackages";

/** A `# METADATA` block and what it belongs to. */
export interface Annotations {
  readonly scope: AnnotationScope;
  /** The block's content, ready to be shown by `rego.metadata.rule()`. */
  readonly fields: Value;
  readonly loc: Location;
  readonly endRow: number;
  /** The rule that follows, or undefined for the package. */
  readonly target: Rule | undefined;
}

/** The strings that start a `data` ref: `data.foo.bar` is `["foo", "bar"]`. */
export function stringPath(parts: readonly Term[]): readonly string[] {
  const path: string[] = [];
  for (const part of parts) {
    if (part.kind !== "scalar" || typeof part.value !== "string") break;
    path.push(part.value);
  }
  return path;
}

export function scalar(value: Value, loc: Location): ScalarTerm {
  return { kind: "scalar", value, loc };
}

export function variable(name: string, loc: Location): VarTerm {
  return { kind: "var", name, loc };
}

export function refOf(parts: readonly Term[], loc: Location): RefTerm {
  return { kind: "ref", parts, loc };
}

/** The dotted name of an operator or function ref, or undefined if a part is not a plain name. */
export function operatorName(operator: RefTerm): string | undefined {
  const { parts } = operator;
  const [head] = parts;
  if (head?.kind !== "var") return undefined;
  let name = head.name;
  for (let index = 1; index < parts.length; index++) {
    const part = parts[index];
    if (part?.kind !== "scalar" || typeof part.value !== "string") return undefined;
    name += `.${part.value}`;
  }
  return name;
}

/** The ref of a built-in: `net.cidr_contains` has one variable and one string. */
export function builtinRef(name: string, loc: Location): RefTerm {
  if (!name.includes(".")) return refOf([variable(name, loc)], loc);
  const [head, ...rest] = name.split(".");
  return refOf([variable(head ?? name, loc), ...rest.map((part) => scalar(part, loc))], loc);
}

export function callExpr(name: string, args: readonly Term[], loc: Location, withs: readonly With[] = []): CallExpr {
  return { kind: "expr-call", operator: builtinRef(name, loc), args, loc, negated: false, withs };
}

export function termExpr(term: Term, loc: Location = term.loc): TermExpr {
  return { kind: "expr-term", term, loc, negated: false, withs: [] };
}

export const noLocation: Location = { file: "", row: 1, col: 1, offset: 0, text: "" };

export function isExpr(node: Term | Expr): node is Expr {
  return node.kind.startsWith("expr-");
}

export function isWildcard(name: string): boolean {
  return name.startsWith("$");
}

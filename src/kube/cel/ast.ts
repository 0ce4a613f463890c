/** The tree of a CEL expression, macros already expanded. `at` is the offset in the source that errors point to. */
export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr;

export type LiteralValue = null | boolean | bigint | number | string | Uint8Array | { readonly uint: bigint };

export interface LiteralExpr {
  readonly kind: "literal";
  readonly at: number;
  readonly value: LiteralValue;
}
export interface IdentExpr {
  readonly kind: "ident";
  readonly at: number;
  readonly name: string;
}
export interface SelectExpr {
  readonly kind: "select";
  readonly at: number;
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)`: asks for presence only. */
  readonly testOnly: boolean;
}
export interface CallExpr {
  readonly kind: "call";
  readonly at: number;
  /** Operators are functions with names such as `_+_` and `_[_]`. */
  readonly function: string;
  readonly target?: Expr;
  readonly args: readonly Expr[];
}
export interface ListExpr {
  readonly kind: "list";
  readonly at: number;
  readonly elements: readonly Expr[];
  /** Which elements are written `[?x]`: an empty optional leaves them out. */
  readonly optionals: ReadonlySet<number>;
}
export interface MapExpr {
  readonly kind: "map";
  readonly at: number;
  readonly entries: readonly { readonly key: Expr; readonly value: Expr; readonly optional: boolean }[];
}
export interface StructExpr {
  readonly kind: "struct";
  readonly at: number;
  readonly name: string;
}

/**
 * What all loop macros become: for every item of the range, while the condition holds, the accumulator takes the value of
 * the step. With an empty range and a false condition it only binds a name (`optMap`, `sortBy`).
 */
export interface ComprehensionExpr {
  readonly kind: "comprehension";
  readonly at: number;
  readonly range: Expr;
  readonly variable: string;
  readonly variable2?: string;
  readonly accumulator: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** The accumulator of the macros; no expression can name it. */
export const hiddenAccumulator = "@result";

/** `a.b.c` when the expression is nothing but names. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select" || expr.testOnly) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}

/** Whether a comprehension only gives a value a name. */
export const isBinding = (expr: ComprehensionExpr): boolean =>
  expr.range.kind === "list" &&
  expr.range.elements.length === 0 &&
  expr.condition.kind === "literal" &&
  expr.condition.value === false &&
  expr.accumulator !== "__result__";

import type { Expr } from "./ast.ts";
import { type Checked, checkCel } from "./check.ts";
import type { Range } from "./cost.ts";
import type { Library } from "./declaration.ts";
import { type DeclaredType, isDeclared } from "./declared-type.ts";
import { estimateCost } from "./estimate.ts";
import { ConstantError, compileSteps } from "./evaluate.ts";
import { formatIssues, type Issue } from "./issue.ts";
import { kubernetesLibrary, kubernetesTypes } from "./library/kubernetes.ts";
import { validateLiterals } from "./literals.ts";
import { parseCel } from "./parse.ts";
import { CostExceeded, Run } from "./run.ts";
import type { CelType } from "./type.ts";
import { CelError, type CelValue } from "./value.ts";

/**
 * CEL as Kubernetes uses it: for validation rules, admission policies, match conditions and message expressions.
 *
 *     const rule = compileCel("self.replicas <= 10", { self: declaredType(schema, {}, true) });
 *     if (rule.ok) rule.program.evaluate({ self: dataToCel(object, schema, {}) });
 */
export type CompiledCel =
  | { readonly ok: true; readonly program: CelProgram }
  /**
   * `message` shows every issue with its line and a mark under the place. At the stage "program" there is no place: a
   * part that is written out, such as `int("x")`, has no value.
   */
  | {
      readonly ok: false;
      readonly stage: "compile" | "program";
      readonly message: string;
      readonly issues: readonly Issue[];
    };

export interface CelProgram {
  readonly source: string;
  readonly type: CelType;
  /** The variables that the expression uses. */
  readonly variables: ReadonlySet<string>;
  /** What it may cost, judged by the sizes that the variables' types allow. */
  estimateCost(): Range;
  evaluate(values: CelVariables, options?: EvaluateOptions): CelResult;
}

/** A missing variable is an error only where the expression uses it. */
export type CelVariables = Readonly<Record<string, CelValue>> | ((name: string) => CelValue | undefined);

export interface EvaluateOptions {
  readonly costLimit?: number;
}

export type CelResult =
  | { readonly ok: true; readonly value: Exclude<CelValue, CelError>; readonly cost: number }
  | { readonly ok: false; readonly reason: "Error" | "CostExceeded"; readonly message: string; readonly cost: number };

export interface CompileOptions {
  /** Instead of all functions of Kubernetes. */
  readonly functions?: Library;
}

/** What one evaluation may cost on a real server: about a tenth of a second. */
export const celCallLimit = 1_000_000;

export function compileCel(
  expression: string,
  variables: Readonly<Record<string, CelType | DeclaredType>>,
  options: CompileOptions = {},
): CompiledCel {
  const { expr: parsed, issues: syntax } = parseCel(expression);
  if (parsed === undefined) return failed(expression, syntax);
  const entries = Object.entries(variables);
  const checked = checkCel(parsed, {
    variables: new Map(entries.map(([name, type]) => [name, isDeclared(type) ? type.type : type])),
    functions: options.functions ?? kubernetesLibrary,
    typeNames: kubernetesTypes,
  });
  const issues = checked.issues.length > 0 ? checked.issues : validateLiterals(parsed, checked);
  if (issues.length > 0) return failed(expression, issues);
  const roots = new Map(entries.flatMap(([name, type]) => (isDeclared(type) ? [[name, type] as const] : [])));
  try {
    return { ok: true, program: programOf(expression, parsed, checked, roots) };
  } catch (error) {
    if (error instanceof ConstantError) return { ok: false, stage: "program", message: error.message, issues: [] };
    throw error;
  }
}

const failed = (source: string, issues: readonly Issue[]): CompiledCel => ({
  ok: false,
  stage: "compile",
  message: formatIssues(source, issues),
  issues,
});

function programOf(source: string, expr: Expr, checked: Checked, roots: ReadonlyMap<string, DeclaredType>): CelProgram {
  const step = compileSteps(expr, checked);
  const used = [...checked.references.values()].flatMap((reference) =>
    reference.kind === "variable" ? [reference.name] : [],
  );
  return {
    source,
    type: checked.types.get(expr) as CelType,
    variables: new Set(used),
    estimateCost: () => estimateCost(expr, checked, roots),
    evaluate(values, { costLimit = celCallLimit } = {}) {
      const lookup =
        typeof values === "function"
          ? values
          : (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
      const run = new Run(lookup, costLimit);
      try {
        const value = step(run);
        if (value instanceof CelError) return { ok: false, reason: "Error", message: value.message, cost: run.cost };
        return { ok: true, value, cost: run.cost };
      } catch (error) {
        if (!(error instanceof CostExceeded)) throw error;
        return { ok: false, reason: "CostExceeded", message: error.message, cost: run.cost };
      }
    },
  };
}

import type { CelProgram } from "../../kube/cel/compile.ts";
import { jsonToCel } from "../../kube/cel/data.ts";
import { CelError, type CelValue } from "../../kube/cel/value.ts";
import {
  type Compiled,
  compileExpression,
  type ExpressionValues,
  evaluate,
  LazyVariables,
} from "./policy-expressions.ts";
import type { Policy, Validation } from "./policy-objects.ts";

/** What one policy says about one request. */
export type Verdict =
  | { readonly kind: "Passed" }
  | { readonly kind: "Failed"; readonly message: string; readonly reason: string };

/** A policy with its expressions compiled. */
export class PolicyProgram {
  readonly policy: Policy;
  readonly #conditions: readonly { readonly name: string; readonly compiled: Compiled }[];
  readonly #variables: readonly { readonly name: string; readonly compiled: Compiled }[];
  readonly #validations: readonly CompiledValidation[];

  constructor(policy: Policy) {
    this.policy = policy;
    const { matchConditions = [], variables = [], validations = [], paramKind } = policy.spec;
    const names = { params: paramKind !== undefined, authorizer: true };
    this.#conditions = matchConditions.map(({ name, expression }) => ({
      name,
      compiled: compileExpression(expression, names),
    }));
    this.#variables = variables.map(({ name, expression }) => ({
      name,
      compiled: compileExpression(expression, { ...names, variables: true }),
    }));
    this.#validations = validations.map((validation) => compileValidation(validation, names));
  }

  /** Every validation that does not hold, in order; none when a match condition says that the policy does not apply. */
  judge(values: ExpressionValues, params: unknown): readonly Verdict[] {
    const lookup = this.#lookup(values, params);
    const { failurePolicy = "Fail" } = this.policy.spec;
    const errors: string[] = [];
    for (const { name, compiled } of this.#conditions) {
      const result = run(compiled, lookup);
      if (result === false) return [];
      if (result !== true) errors.push(`expression '${name}' resulted in error: ${describe(result)}`);
    }
    if (errors.length > 0) return failurePolicy === "Ignore" ? [] : [failed(`${errors.join(", ")}`, "Invalid")];
    return this.#validations
      .map((validation) => judgeOne(validation, lookup, failurePolicy))
      .filter(({ kind }) => kind === "Failed");
  }

  #lookup(values: ExpressionValues, params: unknown): (name: string) => CelValue | undefined {
    const extra: Record<string, CelValue> = { params: jsonToCel(params ?? null) };
    const lookup = values.with(extra);
    extra["variables"] = new LazyVariables(
      new Map(
        this.#variables.map(({ name, compiled }) => [
          name,
          () => {
            const value = run(compiled, lookup);
            return value instanceof CelError
              ? new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${value.message}`)
              : value;
          },
        ]),
      ),
    );
    return lookup;
  }
}

interface CompiledValidation {
  readonly validation: Validation;
  readonly compiled: Compiled;
  readonly message: CelProgram | undefined;
}

function compileValidation(
  validation: Validation,
  names: { readonly params: boolean; readonly authorizer: boolean },
): CompiledValidation {
  const compiled = compileExpression(validation.expression, { ...names, variables: true });
  const message =
    validation.messageExpression === undefined
      ? undefined
      : compileExpression(validation.messageExpression, { params: names.params, variables: true });
  return { validation, compiled, message: message?.ok ? message.program : undefined };
}

function judgeOne(
  { validation, compiled, message }: CompiledValidation,
  lookup: (name: string) => CelValue | undefined,
  failurePolicy: "Fail" | "Ignore",
): Verdict {
  const result = run(compiled, lookup);
  if (result === true) return { kind: "Passed" };
  const expression = validation.expression.trim();
  if (result !== false) {
    if (failurePolicy === "Ignore") return { kind: "Passed" };
    return failed(`expression '${expression}' resulted in error: ${describe(result)}`, "Invalid");
  }
  return failed(
    messageOf(validation, message, lookup) ?? `failed expression: ${expression}`,
    validation.reason ?? "Invalid",
  );
}

/** A message expression that fails, or gives nothing that can be shown, leaves the word to the plain message. */
function messageOf(
  { message }: Validation,
  program: CelProgram | undefined,
  lookup: (name: string) => CelValue | undefined,
): string | undefined {
  const text = program && evaluate(program, lookup);
  const isShown = typeof text === "string" && text.trim() !== "" && !text.includes("\n");
  if (isShown) return text.trim();
  return message === undefined || message === "" ? undefined : message.trim();
}

const run = (compiled: Compiled, lookup: (name: string) => CelValue | undefined): CelValue =>
  compiled.ok ? evaluate(compiled.program, lookup) : new CelError(`compilation error: ${compiled.message}`);

const describe = (value: CelValue): string =>
  value instanceof CelError ? value.message : "the result is not a boolean";

const failed = (message: string, reason: string): Verdict => ({ kind: "Failed", message, reason });

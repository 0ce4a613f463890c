import type { ActionCondition } from "../../../api/action-condition.ts";
import type { Env } from "../../../env/env.ts";
import { RegoError } from "../../../rego/evaluate/errors.ts";
import { type PreparedQuery, policyOf } from "../../../rego/prepare.ts";
import { RegoErrors } from "../../../rego/syntax/errors.ts";
import { parseEither } from "./parse-either.ts";
import { regoEnv } from "./rego-env.ts";

export type ConditionKind = "precondition" | "postcondition";

export type ConditionVerdict =
  | { readonly kind: "Met" }
  | { readonly kind: "NotMet"; readonly message: string }
  /** It says nothing about the cluster: it is wrong itself. */
  | { readonly kind: "Broken"; readonly message: string };

export type EvaluateCondition = (kind: ConditionKind, condition: ActionCondition, input: unknown) => ConditionVerdict;

/** Evaluates conditions; a text that was compiled once is kept for its next evaluation. */
export function createConditions(env: Env): EvaluateCondition {
  const compiled = new Map<string, PreparedQuery | string>();
  const prepare = (kind: ConditionKind, source: string): PreparedQuery | string => {
    const key = `${kind}\0${source}`;
    const known = compiled.get(key);
    if (known !== undefined) return known;
    if (compiled.size >= maxCompiled) compiled.clear();
    const made = compileCondition(kind, source, env);
    compiled.set(key, made);
    return made;
  };
  return (kind, { type, rego, description }, input) => {
    const query = prepare(kind, rego);
    if (typeof query === "string") return { kind: "Broken", message: `${kind} ${type}: ${query}` };
    try {
      const [result] = query.evaluate({
        input,
        strictBuiltinErrors: true,
        limits: { maxDurationMs: conditionLimitMs },
      });
      const value = result?.expressions[0]?.value;
      if (value === true) return { kind: "Met" };
      return { kind: "NotMet", message: `${kind} ${type} does not hold${description ? `: ${description}` : ""}` };
    } catch (error) {
      if (error instanceof RegoError) return { kind: "Broken", message: `${kind} ${type}: ${error.message}` };
      throw error;
    }
  };
}

/** The query, or what is wrong with the text. */
export function compileCondition(kind: ConditionKind, source: string, env: Env): PreparedQuery | string {
  try {
    const module = parseEither(kind, source);
    if (module.packagePath[0] !== kind) return `its package must be ${kind}, or below it`;
    const path = [...module.packagePath, "allow"].map((part) => `[${JSON.stringify(part)}]`).join("");
    return policyOf([module], { env: regoEnv(env) }).query(`data${path}`);
  } catch (error) {
    if (error instanceof RegoErrors) return error.message;
    throw error;
  }
}

const maxCompiled = 512;
const conditionLimitMs = 1_000;

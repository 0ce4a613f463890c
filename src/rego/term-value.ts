/** The value of a ground term that was written as Rego text. */
import type { RegoEnv } from "./evaluate/machine.ts";
import { constantValue } from "./evaluate/terms.ts";
import { policyOf } from "./prepare.ts";
import { callExpr, noLocation, type Term, variable } from "./syntax/ast.ts";
import type { Value } from "./values/value.ts";

export function termValue(term: Term, env: RegoEnv): Value {
  const constant = constantValue(term);
  if (constant !== undefined) return constant;
  const query = policyOf([], { env }).query([callExpr("eq", [variable("x", noLocation), term], noLocation)]);
  const value = query.evaluate()[0]?.values.get("x");
  if (value === undefined) throw new TypeError("the term has no value");
  return value;
}

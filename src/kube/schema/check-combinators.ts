import { goQuote } from "../go-text.ts";
import type { Check } from "./check.ts";
import type { Correlation } from "./correlation.ts";
import type { Schema } from "./schema.ts";
import type { Walk } from "./walk.ts";

/** `anyOf`, `oneOf`, `allOf` and `not`, reported in this order. */
export function compileCombinators(schema: Schema, compile: (schema: Schema) => Check): Check {
  const anyOf = schema.anyOf?.map(compile) ?? [];
  const oneOf = schema.oneOf?.map(compile) ?? [];
  const allOf = schema.allOf?.map(compile) ?? [];
  const not = schema.not && compile(schema.not);
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) {
    return (_value, walk) => {
      walk.matches += 2;
    };
  }
  return (value, walk, correlation) => {
    if (anyOf.length > 0) checkAnyOf(anyOf, value, walk, correlation);
    if (oneOf.length > 0) checkOneOf(oneOf, value, walk, correlation);
    if (allOf.length > 0) checkAllOf(allOf, value, walk, correlation);
    if (not !== undefined && walk.apart(() => not(value, walk, correlation)).problems.length === 0) {
      walk.addUnplaced(`${goQuote(walk.path())} must not validate the schema (not)`);
    }
    walk.matches += 2;
  };
}

type Outcome = ReturnType<Walk["apart"]>;

function checkAnyOf(checks: readonly Check[], value: unknown, walk: Walk, correlation: Correlation | undefined): void {
  let best: Outcome | undefined;
  for (const check of checks) {
    const outcome = walk.apart(() => check(value, walk, correlation));
    if (outcome.problems.length === 0) {
      walk.take(outcome);
      return;
    }
    // The errors of the alternative that came closest are shown.
    if (best === undefined || outcome.matches > best.matches) best = outcome;
  }
  walk.addUnplaced(`${goQuote(walk.path())} must validate at least one schema (anyOf)`);
  if (best !== undefined) walk.take(best);
}

function checkOneOf(checks: readonly Check[], value: unknown, walk: Walk, correlation: Correlation | undefined): void {
  let best: Outcome | undefined;
  let first: Outcome | undefined;
  let valid = 0;
  for (const check of checks) {
    const outcome = walk.apart(() => check(value, walk, correlation));
    if (outcome.problems.length === 0) {
      valid += 1;
      first ??= outcome;
    } else if (best === undefined || outcome.matches > best.matches) best = outcome;
  }
  if (valid === 1 && first !== undefined) {
    walk.take(first);
    return;
  }
  const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
  walk.addUnplaced(`${goQuote(walk.path())} must validate one and only one schema (oneOf). ${found}`);
  if (valid === 0 && best !== undefined) walk.take(best);
}

function checkAllOf(checks: readonly Check[], value: unknown, walk: Walk, correlation: Correlation | undefined): void {
  let valid = 0;
  for (const check of checks) {
    const outcome = walk.apart(() => check(value, walk, correlation));
    if (outcome.problems.length === 0) valid += 1;
    walk.take(outcome);
  }
  if (valid === checks.length) return;
  walk.addUnplaced(
    `${goQuote(walk.path())} must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`,
  );
}

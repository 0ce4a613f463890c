import { type CompiledPattern, compilePattern } from "../../schema/pattern.ts";
import { declare, type FunctionDeclaration, method } from "../declaration.ts";
import { intType, listType, stringType } from "../type.ts";
import { ArrayList, CelError, type CelValue } from "../value.ts";
import { matchCost, patternEstimate } from "./text-cost.ts";

/** Patterns in texts: the first match and all of them. */
export const regexLibrary: readonly FunctionDeclaration[] = [
  declare("find", method("string_find_string", [stringType, stringType], stringType, find, findCost())),
  declare(
    "findAll",
    method("string_find_all_string", [stringType, stringType], listType(stringType), findAll, findCost()),
    method("string_find_all_string_int", [stringType, stringType, intType], listType(stringType), findAll, findCost()),
  ),
];

export const findPattern = (source: string): CompiledPattern => {
  const compiled = compilePattern(source);
  return compiled.ok ? compiled : { ok: false, message: compiled.message };
};

function findCost(): Pick<typeof matchCost, "cost" | "estimate"> {
  return {
    ...matchCost,
    estimate: (sizes) => {
      const estimate = patternEstimate(sizes);
      return estimate && sizes.target && { ...estimate, size: { min: 0, max: sizes.target.size.max } };
    },
  };
}

function find(text: CelValue, pattern: CelValue): CelValue {
  const compiled = compilePattern(pattern as string);
  if (!compiled.ok) return new CelError(`Illegal regex: ${compiled.message}`);
  const matcher = compiled.expression.matcher(text as string);
  return matcher.find() ? (matcher.group() ?? "") : "";
}

/** A negative limit, or none, means all; zero means none. */
function findAll(text: CelValue, pattern: CelValue, limit: CelValue = -1n): CelValue {
  const compiled = compilePattern(pattern as string);
  if (!compiled.ok) return new CelError(`Illegal regex: ${compiled.message}`);
  const matcher = compiled.expression.matcher(text as string);
  const found: CelValue[] = [];
  while ((limit as bigint) < 0n || BigInt(found.length) < (limit as bigint)) {
    if (!matcher.find()) break;
    found.push(matcher.group() ?? "");
  }
  return new ArrayList(found);
}

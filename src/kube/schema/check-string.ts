import { tooLong, typeInvalid } from "../field-error.ts";
import { goQuote } from "../go-text.ts";
import { checkedFormat } from "./check-type.ts";
import { formatCheck } from "./format.ts";
import { compilePattern } from "./pattern.ts";
import type { Schema } from "./schema.ts";
import type { Walk } from "./walk.ts";

/** Length, pattern and format of a text; of length and pattern only the first failure is reported. */
export function compileString(schema: Schema): (value: string, walk: Walk) => void {
  const { minLength, maxLength, pattern } = schema;
  const format = checkedFormat(schema);
  const hasFormat = format === "" ? undefined : formatCheck(format);
  const compiled = pattern === undefined || pattern === "" ? undefined : compilePattern(pattern);
  return (value, walk) => {
    walk.matches += 1;
    if (maxLength !== undefined && isLongerThan(value, maxLength)) walk.add(tooLong(walk.field(), maxLength));
    else if (minLength !== undefined && !isLongerThan(value, minLength - 1)) {
      walk.addInvalid(value, `should be at least ${minLength} chars long`);
    } else if (compiled !== undefined) {
      if (!compiled.ok)
        walk.addInvalid(value, `should match '${pattern}, but pattern is invalid: ${compiled.message}'`);
      else if (!compiled.pattern.matches(value)) walk.addInvalid(value, `should match '${pattern}'`);
    }
    if (hasFormat === undefined) return;
    walk.matches += 1;
    if (hasFormat(value)) return;
    walk.add(typeInvalid(walk.field(), value, `${walk.path()} in body must be of type ${format}: ${goQuote(value)}`));
  };
}

/** Counts code points, and only as many as needed. */
function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > limit * 2) return limit >= 0;
  let count = 0;
  for (const _character of text) {
    count += 1;
    if (count > limit) return true;
  }
  return false;
}

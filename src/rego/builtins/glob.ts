/** Globs with separators: `*` stops at a separator, `**` does not. */
import { RE2JS } from "re2js";
import { BuiltinFault } from "../evaluate/errors.ts";
import type { Machine } from "../evaluate/machine.ts";
import type { Value } from "../values/value.ts";
import { isArray } from "../values/value.ts";
import { type Args, type Builtins, elementFault, operand, operandFault, stringAt, typeFault } from "./operands.ts";

export const globBuiltins: Builtins = {
  "glob.match": matchGlob,
  "glob.quote_meta": (args) => stringAt(args, 0).replace(/[*?\\[\]{}]/g, "\\$&"),
};

function matchGlob(args: Args, machine: Machine): Value {
  const pattern = stringAt(args, 0);
  const delimiters = operand(args, 1);
  let separators: readonly string[];
  if (delimiters === null) separators = [];
  else if (isArray(delimiters)) {
    for (const item of delimiters) {
      if (typeof item !== "string") throw elementFault(1, delimiters, item, "string");
      if ([...item].length !== 1) throw operandFault(1, "must be array of runes but got array containing string");
    }
    separators =
      delimiters.length === 0
        ? ["."]
        : delimiters.map((item) => (typeof item === "string" ? ([...item][0] ?? "") : ""));
  } else throw typeFault(1, delimiters, "array", "null");
  const text = stringAt(args, 2);
  const key = `glob ${separators.join("")} ${pattern}`;
  let compiled = machine.compiledCache.get(key);
  if (!(compiled instanceof RE2JS)) {
    compiled = RE2JS.compile(globToRegex(pattern, separators.join("")), RE2JS.DOTALL);
    machine.compiledCache.set(key, compiled);
  }
  return compiled instanceof RE2JS && compiled.matcher(text).matches();
}

/** Throws `BuiltinFault` for a pattern that is not valid. */
function globToRegex(pattern: string, separators: string): string {
  const chars = [...pattern];
  const notSeparator = separators === "" ? "." : `[^${escapeClass(separators)}]`;
  let regex = "";
  let depth = 0;
  for (let index = 0; index < chars.length; index++) {
    const char = chars[index] ?? "";
    switch (char) {
      case "\\": {
        const escaped = chars[++index];
        regex += escaped === undefined ? "\\\\" : RE2JS.quote(escaped);
        break;
      }
      case "*":
        if (chars[index + 1] === "*") {
          while (chars[index + 1] === "*") index++;
          regex += ".*";
        } else regex += `${notSeparator}*`;
        break;
      case "?":
        regex += notSeparator;
        break;
      case "[": {
        const { source, end } = readClass(chars, index, pattern);
        regex += source;
        index = end;
        break;
      }
      case "{":
        depth++;
        regex += "(?:";
        break;
      case "}":
        if (depth === 0) regex += "\\}";
        else {
          depth--;
          regex += ")";
        }
        break;
      case ",":
        regex += depth > 0 ? "|" : ",";
        break;
      default:
        regex += RE2JS.quote(char);
    }
  }
  if (depth > 0) throw new BuiltinFault("unexpected end of input");
  return regex;
}

function readClass(
  chars: readonly string[],
  start: number,
  pattern: string,
): { readonly source: string; readonly end: number } {
  let index = start + 1;
  const isNegated = chars[index] === "!" || chars[index] === "^";
  if (isNegated) index++;
  let content = "";
  for (; index < chars.length && chars[index] !== "]"; index++) {
    let char = chars[index] ?? "";
    if (char === "\\") char = chars[++index] ?? "";
    const isRange = chars[index + 1] === "-" && chars[index + 2] !== undefined && chars[index + 2] !== "]";
    if (isRange) {
      const high = chars[index + 2] ?? "";
      if (high < char) throw new BuiltinFault(`hi character '${high}' should be greater than lo '${char}'`);
      content += `${escapeClass(char)}-${escapeClass(high)}`;
      index += 2;
    } else content += escapeClass(char);
  }
  if (chars[index] !== "]") throw new BuiltinFault("unexpected end of input");
  if (content === "") throw new BuiltinFault(`range has no content in ${JSON.stringify(pattern)}`);
  return { source: `[${isNegated ? "^" : ""}${content}]`, end: index };
}

function escapeClass(text: string): string {
  return text.replace(/[\]\\^[-]/g, "\\$&");
}

import type { Issue } from "../issue.ts";
import type { CelType } from "../type.ts";

/** What is wrong with a format text that is written out, judged by the types of its arguments. */
export function formatIssue(
  format: string,
  args: readonly { readonly at: number; readonly type: CelType }[],
  at: number,
): Issue | undefined {
  let used = 0;
  for (const [clause, , letter] of format.matchAll(/%(?:%|(\.\d+)?(.?))/gs)) {
    if (clause === "%%") continue;
    const arg = args[used];
    if (letter === "" || letter === undefined) return { at, message: "unexpected end of string" };
    if (arg === undefined) return { at, message: `index ${used} out of range` };
    const rule = rules[letter];
    if (rule === undefined) {
      return { at, message: `could not parse formatting clause: unrecognized formatting clause "${letter}"` };
    }
    if (arg.type.kind !== "dyn" && !rule.kinds.includes(arg.type.kind)) {
      return { at: arg.at, message: `error during formatting: ${rule.complaint}, was given ${arg.type.name}` };
    }
    used += 1;
  }
  if (args.length <= used) return undefined;
  return { at, message: `too many arguments supplied to string.format (expected ${used}, got ${args.length})` };
}

interface Rule {
  readonly kinds: readonly CelType["kind"][];
  readonly complaint: string;
}

const integers: readonly CelType["kind"][] = ["int", "uint"];
const hexadecimal: Rule = {
  kinds: [...integers, "string", "bytes"],
  complaint: "only integers, byte buffers, and strings can be formatted as hex",
};

const rules: Readonly<Record<string, Rule>> = {
  s: {
    kinds: ["list", "map", ...integers, "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"],
    complaint:
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  },
  d: { kinds: integers, complaint: "decimal clause can only be used on integers" },
  f: { kinds: ["double", "string"], complaint: "fixed-point clause can only be used on doubles" },
  e: { kinds: ["double", "string"], complaint: "scientific clause can only be used on doubles" },
  b: { kinds: [...integers, "bool"], complaint: "only integers and bools can be formatted as binary" },
  x: hexadecimal,
  X: hexadecimal,
  o: { kinds: integers, complaint: "octal clause can only be used on integers" },
};

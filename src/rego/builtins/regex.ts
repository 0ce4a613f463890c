/** Regular expressions with RE2's syntax and linear time. */
import { RE2JS } from "re2js";
import { BuiltinFault } from "../evaluate/errors.ts";
import type { Machine } from "../evaluate/machine.ts";
import type { Value } from "../values/value.ts";
import { globsIntersect } from "./glob-intersection.ts";
import { type Args, type Builtins, smallIntegerAt, stringAt } from "./operands.ts";

export const regexBuiltins: Builtins = {
  "regex.match": match,
  re_match: match,
  "regex.is_valid": (args) => {
    const [pattern] = args;
    return typeof pattern === "string" && tryCompile(pattern) !== undefined;
  },
  "regex.find_n": (args, machine) => {
    const [source, text, limit] = [stringAt(args, 0), stringAt(args, 1), smallIntegerAt(args, 2)];
    const found = findAll(compileCached(source, machine), text, limit);
    machine.grow(found.length);
    return found.map((groups) => groups.text[0] ?? "");
  },
  "regex.find_all_string_submatch_n": (args, machine) => {
    const [source, text, limit] = [stringAt(args, 0), stringAt(args, 1), smallIntegerAt(args, 2)];
    const found = findAll(compileCached(source, machine), text, limit);
    machine.grow(found.length);
    return found.map((groups) => groups.text);
  },
  "regex.split": (args, machine) => split(compileCached(stringAt(args, 0), machine), stringAt(args, 1)),
  "regex.replace": (args, machine) => {
    const [text, pattern, template] = [stringAt(args, 0), stringAt(args, 1), stringAt(args, 2)];
    const replaced = replaceAll(compileCached(pattern, machine), text, template);
    machine.grow(replaced.length);
    return replaced;
  },
  "regex.globs_match": (args) => {
    const result = globsIntersect(stringAt(args, 0), stringAt(args, 1));
    if (typeof result === "string") throw new BuiltinFault(result);
    return result;
  },
  "regex.template_match": templateMatch,
};

/** Bounds the memory of compiled patterns that come from data. */
const maxCachedPatterns = 500;

export function compileCached(pattern: string, machine: Machine): RE2JS {
  const key = `regex ${pattern}`;
  const known = machine.compiledCache.get(key);
  if (known instanceof RE2JS) return known;
  const compiled = tryCompile(pattern);
  if (compiled === undefined) throw new BuiltinFault(`error parsing regexp: ${syntaxMessage(pattern)}`);
  if (machine.compiledCache.size >= maxCachedPatterns) machine.compiledCache.clear();
  machine.compiledCache.set(key, compiled);
  return compiled;
}

function tryCompile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}

function syntaxMessage(pattern: string): string {
  try {
    RE2JS.compile(pattern);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : String(error);
  }
}

function match(args: Args, machine: Machine): Value {
  const [pattern, text] = [stringAt(args, 0), stringAt(args, 1)];
  return compileCached(pattern, machine).matcher(text).find();
}

interface Found {
  readonly start: number;
  readonly end: number;
  readonly text: readonly string[];
}

/** All matches as Go finds them: an empty match right after another match does not count. */
function findAll(pattern: RE2JS, text: string, limit: number): readonly Found[] {
  const matcher = pattern.matcher(text);
  const found: Found[] = [];
  let previousEnd = -1;
  for (let position = 0; position <= text.length && (limit < 0 || found.length < limit); ) {
    if (!matcher.find(position)) break;
    const start = matcher.start();
    const end = matcher.end();
    const isEmpty = start === end;
    if (!isEmpty || start !== previousEnd) {
      const groups: string[] = [];
      for (let index = 0; index <= matcher.groupCount(); index++) groups.push(matcher.group(index) ?? "");
      found.push({ start, end, text: groups });
    }
    previousEnd = end;
    position = isEmpty && end >= position ? end + runeLength(text, end) : end;
  }
  return found;
}

function runeLength(text: string, index: number): number {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}

function split(pattern: RE2JS, text: string): Value {
  if (pattern.pattern().length > 0 && text === "") return [""];
  const parts: string[] = [];
  let start = 0;
  let end = 0;
  for (const found of findAll(pattern, text, -1)) {
    end = found.start;
    if (found.end !== 0) parts.push(text.slice(start, end));
    start = found.end;
  }
  if (end !== text.length) parts.push(text.slice(start));
  return parts;
}

function replaceAll(pattern: RE2JS, text: string, template: string): string {
  const names = pattern.namedGroups() as { readonly [name: string]: number };
  let result = "";
  let last = 0;
  for (const found of findAll(pattern, text, -1)) {
    result += text.slice(last, found.start) + expand(template, found.text, names);
    last = found.end;
  }
  return result + text.slice(last);
}

/** Go's templates: `$1`, `${name}`, and `$$` for a dollar. */
function expand(template: string, groups: readonly string[], names: { readonly [name: string]: number }): string {
  return template.replace(/\$(?:\$|\{(\w+)\}|(\w+))|\$/g, (whole, braced?: string, plain?: string) => {
    if (whole === "$$") return "$";
    const name = braced ?? plain;
    if (name === undefined) return "$";
    const index = /^\d+$/.test(name) ? Number(name) : Object.hasOwn(names, name) ? names[name] : undefined;
    return index === undefined ? "" : (groups[index] ?? "");
  });
}

/** A template is literal text with patterns between delimiters: `urn:foo:{.*}`. */
function templateMatch(args: Args, machine: Machine): Value {
  const template = stringAt(args, 0);
  const text = stringAt(args, 1);
  const open = stringAt(args, 2);
  const close = stringAt(args, 3);
  for (const [which, delimiter] of [
    ["start", open],
    ["end", close],
  ] as const) {
    if (delimiter.length !== 1) {
      throw new BuiltinFault(`${which} delimiter has to be exactly one character long but is ${open.length} long`);
    }
  }
  let pattern = "^";
  let depth = 0;
  let literalStart = 0;
  let patternStart = 0;
  for (let index = 0; index < template.length; index++) {
    if (template[index] === open) {
      if (++depth === 1) {
        pattern += RE2JS.quote(template.slice(literalStart, index));
        patternStart = index + 1;
      }
    } else if (template[index] === close) {
      if (--depth === 0) {
        pattern += `(${template.slice(patternStart, index)})`;
        literalStart = index + 1;
      } else if (depth < 0) throw unbalanced(template);
    }
  }
  if (depth !== 0) throw unbalanced(template);
  pattern += `${RE2JS.quote(template.slice(literalStart))}$`;
  return compileCached(pattern, machine).matcher(text).find();
}

function unbalanced(template: string): BuiltinFault {
  return new BuiltinFault(`mux: unbalanced braces in ${JSON.stringify(template)}`);
}

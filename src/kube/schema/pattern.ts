import { RE2JS } from "re2js";

/** Regular expressions as Go reads them (RE2): always linear in the text, whatever the pattern. */
export interface Pattern {
  /** Whether the pattern is found anywhere in the text. */
  matches(text: string): boolean;
}

export type CompiledPattern =
  | { readonly ok: true; readonly pattern: Pattern; readonly expression: RE2JS }
  | { readonly ok: false; readonly message: string };

/** Longer patterns could compile into programs of any size. */
export const patternMaxLength = 64 * 1024;

export function compilePattern(source: string): CompiledPattern {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const result = compile(source);
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(source, result);
  return result;
}

// The same few patterns come up with every schema, but a rule may also compute one from data.
const maxCompiled = 1000;
const compiled = new Map<string, CompiledPattern>();

function compile(source: string): CompiledPattern {
  if (source.length > patternMaxLength) return { ok: false, message: "expression nests too deeply" };
  try {
    const expression = RE2JS.compile(source);
    return { ok: true, expression, pattern: { matches: (text) => expression.matcher(text).find() } };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ok: false, message: error.message };
  }
}

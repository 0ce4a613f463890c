import { valuesOf } from "./resolve.ts";
import type { Schema } from "./schema.ts";

/**
 * The `fieldPath` of a rule, `.spec.ports['a.b']`, held against the schema: the path as errors show it and the schema that
 * it leads to, or why it leads nowhere.
 */
export interface RuleFieldPath {
  readonly path?: string;
  readonly schema?: Schema;
  readonly error?: string;
}

export function normalizeFieldPath(jsonPath: string, root: Schema): RuleFieldPath {
  let schema = root;
  let path = "";
  let rest = jsonPath;
  while (rest !== "") {
    const step = takeStep(rest);
    if (step.error !== undefined || step.name === undefined)
      return { error: step.error ?? "unexpected end of JSON path" };
    const { properties } = schema;
    const values = valuesOf(schema);
    if (properties !== undefined) {
      const next = Object.hasOwn(properties, step.name) ? properties[step.name] : undefined;
      if (next === undefined) return { error: "does not refer to a valid field" };
      schema = next;
      path = path === "" ? step.name : `${path}.${step.name}`;
    } else if (values !== undefined) {
      schema = values;
      path = `${path}[${step.name}]`;
    } else return { error: "does not refer to a valid field" };
    rest = rest.slice(step.length);
  }
  return { path, schema };
}

interface Taken {
  readonly name?: string;
  readonly length: number;
  readonly error?: string;
}

function takeStep(text: string): Taken {
  if (text.startsWith(".")) {
    const name = /^\.([^.[\]]+)/.exec(text)?.[1];
    return name === undefined ? fail("unexpected end of JSON path") : { name, length: name.length + 1 };
  }
  if (!text.startsWith("[")) return fail(`expected [ or . but got: ${/^[^.[\]]*/.exec(text)?.[0] ?? ""}`);
  const quoted = /^\['((?:[^'\\]|\\.)*)'/.exec(text);
  if (quoted === null) {
    const got = /^\[([^.[\]]*)/.exec(text)?.[1] ?? "";
    return fail(got === "" ? "unexpected end of JSON path" : `expected single quoted string but got ${got}`);
  }
  const [matched, body = ""] = quoted;
  const wrong = /\\[^abfnrtv'\\]/.exec(body);
  if (wrong !== null) return fail(`invalid string literal: invalid escape char ${wrong[0]}`);
  if (text[matched.length] !== "]") return fail("unexpected end of JSON path");
  return { name: body.replace(/\\(.)/g, (_whole, sign: string) => escapes[sign] ?? sign), length: matched.length + 1 };
}

const escapes: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

const fail = (error: string): Taken => ({ error, length: 0 });

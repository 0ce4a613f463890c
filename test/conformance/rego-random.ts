/** Random questions for two Rego engines: calls of built-ins, policies from a grammar, and mutations of given policies. */
import { signatures, splitTopLevel } from "../../src/rego/builtins/signatures.ts";

/** Uniform in [0, 1), the same sequence for the same seed. */
export type Chance = () => number;

export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function pick<T>(chance: Chance, items: readonly T[]): T {
  const item = items[Math.floor(chance() * items.length)];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
}

/** Built-ins that do not answer the same twice, or only inside rules, or need secrets to be interesting. */
const notCompared =
  /^(http\.send|opa\.runtime|rand\.intn|uuid\.rfc4122|time\.now_ns|net\.lookup_ip_addr|print|internal\.|trace|rego\.|io\.jwt\.|crypto\.|eq|assign|walk|strings\.render_template|bits\.lsh)$/;

export const comparedBuiltins: readonly string[] = [...signatures.keys()].filter(
  (name) => !notCompared.test(name) && !/^(internal|rego|io\.jwt|crypto)\./.test(name),
);

/** A module whose `data.t.p` calls a built-in with values that mostly have the right types. */
export function randomCall(chance: Chance): { readonly name: string; readonly module: string } {
  const name = pick(chance, comparedBuiltins);
  const operands = (signatures.get(name)?.operands ?? []).map((type) => randomTerm(type, chance, 0));
  const names = operands.map((_, index) => `x${index}`);
  // Arguments of functions have no known types, so that the built-in itself has to refuse them.
  const module = `package t

same(x) := x

f(${names.join(", ") || "_"}) := ${name}(${names.join(", ")})

p := f(${operands.map((operand) => `same(${operand})`).join(", ") || "1"})
`;
  return { name, module };
}

const strings = [
  "",
  "a",
  "ab",
  "foo bar",
  "a.b.c",
  "/a/b",
  "  x\t",
  "Hello",
  "ÄÖü",
  "😀a",
  "10.0.0.0/8",
  "10.1.2.3",
  "2001:db8::/32",
  "2020-01-02T03:04:05Z",
  "2021-03-04T05:06:07.5+02:00",
  "1h30m",
  "2d",
  "10Ki",
  "1.5M",
  "100",
  "1e3",
  "1.2.3",
  "v1.2.3-a.1",
  "[a-z]+",
  "^a(b*)c$",
  "(",
  '{"a":1}',
  "[1,2]",
  "a: b",
  "YWJj",
  "616263",
  "a=b&c=d%20e",
  "%zz",
  "a*",
  "*.b.*",
  "{a,b}",
  "%d %v",
  "%5.2f|",
  "%[2]v",
  "http://u:p@h:80/a%20b?q#f",
  "America/New_York",
  "RFC1123",
  "2006-01-02",
  "true",
  "-0",
  ".5",
  "f47ac10b-58cc-4372-a567-0e02b2c3d479",
  "/foo/0",
  "x,y",
  '"q"',
  "<&>",
] as const;
const numbers = [
  "0",
  "1",
  "-1",
  "2",
  "10",
  "16",
  "1.5",
  "-2.5",
  "0.1",
  "1e3",
  "2.0",
  "12345678901234567890",
  "1577836800000000000",
  "1e40",
];

function randomTerm(type: string, chance: Chance, depth: number): string {
  const text =
    chance() < 0.06 ? pick(chance, ["string", "number", "boolean", "null", "array[any]", "set[any]"]) : type.trim();
  const list = (item: string): readonly string[] =>
    Array.from({ length: Math.floor(chance() * 4) }, () => randomTerm(item, chance, depth + 1));
  if (text === "string") return JSON.stringify(pick(chance, strings));
  if (text === "number") return pick(chance, numbers);
  if (text === "boolean") return pick(chance, ["true", "false"]);
  if (text === "null") return "null";
  if (text.startsWith("any<")) return randomTerm(pick(chance, splitTopLevel(text.slice(4, -1))), chance, depth);
  if (text.startsWith("array<")) {
    return `[${splitTopLevel(text.slice(6, -1))
      .map((item) => randomTerm(item, chance, depth + 1))
      .join(", ")}]`;
  }
  if (text.startsWith("array[")) return `[${list(text.slice(6, -1)).join(", ")}]`;
  if (text.startsWith("set[")) {
    const items = list(text.slice(4, -1));
    return items.length === 0 ? "set()" : `{${items.join(", ")}}`;
  }
  if (text.startsWith("object")) {
    const value = /: ([^:]*)\]$/.exec(text)?.[1] ?? "any";
    const keys = ["a", "b", "foo", "0", "op", "path", "value", "type"];
    const fields = list(value).map((item) => `${JSON.stringify(pick(chance, keys))}: ${item}`);
    return `{${fields.join(", ")}}`;
  }
  const simple = ["string", "number", "boolean", "null"];
  return randomTerm(
    pick(chance, depth > 2 ? simple : [...simple, "array[any]", "object[string: any]", "set[any]"]),
    chance,
    depth + 1,
  );
}

export const randomInput = { a: 1, b: "x", xs: [1, 2, 3], o: { k: [{ n: 1 }, { n: 2 }] }, t: true, z: null };
export const randomData = { base: { a: [1, 2], b: { c: "d" } }, names: ["x", "y"] };

/** A policy in which most rules make sense, and some do not. */
export function randomPolicy(chance: Chance): string {
  const rules = ["p", "q", "r", "s"];
  const written: string[] = [];
  rules.forEach((name, index) => {
    const writer = new PolicyWriter(chance, rules.slice(0, index));
    written.push(writer.rule(name));
  });
  return `package test\n\nf(x) := y if y := [x, input.a]\n\ng("a") := 1\n\ng(x) := 2 if x != "a"\n\n${written.join("\n\n")}\n`;
}

class PolicyWriter {
  readonly #chance: Chance;
  readonly #earlier: readonly string[];
  #count = 0;

  constructor(chance: Chance, earlier: readonly string[]) {
    this.#chance = chance;
    this.#earlier = earlier;
  }

  rule(name: string): string {
    const scope: string[] = [];
    const body = this.#body(scope, 0);
    const value = (): string => this.#term(scope, 1);
    return pick(this.#chance, [
      () => `${name} if {\n${body}\n}`,
      () => `${name} := ${value()} if {\n${body}\n}`,
      () => `default ${name} := 1\n\n${name} := ${value()} if {\n${body}\n}`,
      () => `${name} contains ${value()} if {\n${body}\n}`,
      () => `${name}[${value()}] := ${value()} if {\n${body}\n}`,
      () => `${name}.a[${value()}] contains ${value()} if {\n${body}\n}`,
      () => `${name} := ${value()} if {\n${body}\n} else := ${this.#term([], 1)} if {\n${this.#body([], 0)}\n}`,
      () => `${name}.a.b := ${value()} if {\n${body}\n}\n\n${name}.a.c := ${this.#term([], 1)}`,
    ])();
  }

  #body(scope: string[], depth: number): string {
    const length = 1 + Math.floor(this.#chance() * (depth === 0 ? 4 : 2));
    return Array.from({ length }, () => `\t${this.#expression(scope, depth)}`).join("\n");
  }

  #fresh(scope: string[]): string {
    const name = `v${this.#count++}`;
    scope.push(name);
    return name;
  }

  #expression(scope: string[], depth: number): string {
    const term = (): string => this.#term(scope, depth + 1);
    const options: (() => string)[] = [
      () => {
        const value = term();
        return `${this.#fresh(scope)} := ${value}`;
      },
      () => {
        const value = this.#collection(scope);
        return `some ${this.#fresh(scope)} in ${value}`;
      },
      () => `${term()} ${pick(this.#chance, ["==", "!=", "<", ">="])} ${term()}`,
      () => `${term()} in ${this.#collection(scope)}`,
      () => `not ${term()} == ${term()}`,
      () => {
        const value = this.#collection(scope);
        const key = this.#fresh(scope);
        return `${this.#fresh(scope)} = ${value}[${key}]`;
      },
      () => `[${this.#fresh(scope)}, _] = [${this.#term(scope.slice(0, -1), depth + 1)}, 1]`,
    ];
    if (depth < 2) {
      options.push(
        () => {
          const inner = [...scope];
          const name = this.#fresh(inner);
          return `every ${name} in ${this.#collection(scope)} { ${name} != 7; ${this.#expression(inner, depth + 1)} }`;
        },
        () => `${term()} == ${term()} with input as {"a": ${term()}, "xs": [1, 2]}`,
        () => `f(${term()}) == ${term()} with data.names as [${term()}]`,
      );
    }
    return pick(this.#chance, options)();
  }

  #collection(scope: string[]): string {
    const options = ["input.xs", "data.names", "input.o", "data.base", "input.o.k", "[1, 2]", '{"x", "y"}', '{"k": 1}'];
    if (scope.length > 0) options.push(pick(this.#chance, scope));
    if (this.#earlier.length > 0) options.push(`data.test.${pick(this.#chance, this.#earlier)}`);
    return pick(this.#chance, options);
  }

  #term(scope: string[], depth: number): string {
    const leaves = [
      "input.a",
      "input.b",
      "input.xs[_]",
      "data.base.b",
      "input.t",
      "input.missing",
      "1",
      '"x"',
      "input.o.k[_].n",
    ];
    if (scope.length > 0) leaves.push(...scope, ...scope);
    if (this.#earlier.length > 0) leaves.push(`data.test.${pick(this.#chance, this.#earlier)}`);
    if (depth > 2 || this.#chance() < 0.6) return pick(this.#chance, leaves);
    const term = (): string => this.#term(scope, depth + 1);
    return pick(this.#chance, [
      () => `[${term()}, ${term()}]`,
      () => `{${term()}}`,
      () => `{"k": ${term()}}`,
      () => `f(${term()})`,
      () => `g(${term()})`,
      () => `count(${this.#collection(scope)})`,
      () => `object.get(input, ${term()}, ${term()})`,
      () => {
        const inner = [...scope];
        const body = this.#expression(inner, depth + 1);
        return `[${this.#term(inner, depth + 1)} | ${body}]`;
      },
      () => {
        const inner = [...scope];
        const name = this.#fresh(inner);
        return `{${name} | some ${name} in ${this.#collection(scope)}; ${this.#expression(inner, depth + 1)}}`;
      },
      () => {
        const inner = [...scope];
        const key = this.#fresh(inner);
        const value = this.#fresh(inner);
        return `{${key}: ${value} | some ${key}, ${value} in ${this.#collection(scope)}}`;
      },
    ])();
  }
}

/** The text with a few tokens changed, removed or swapped. */
export function mutate(source: string, chance: Chance): string {
  const tokens = source.match(/[A-Za-z_]\w*|"(?:[^"\\\n]|\\.)*"|\d+(?:\.\d+)?|:=|==|!=|<=|>=|\s+|./g) ?? [];
  const places = tokens.flatMap((token, index) => (/^\s/.test(token) ? [] : [index]));
  if (places.length === 0) return source;
  for (let count = 1 + Math.floor(chance() * 2); count > 0; count--) {
    const place = pick(chance, places);
    const token = tokens[place] ?? "";
    if (/^\d/.test(token)) tokens[place] = pick(chance, numbers);
    else if (token.startsWith('"'))
      tokens[place] = pick(chance, ['"a"', '""', "1", "null", "[1]", '{"a": 1}', "{1, 2}", "input"]);
    else if (/^(==|!=|<|>|<=|>=|=|:=)$/.test(token)) tokens[place] = pick(chance, ["==", "!=", "<", ">", "=", ":="]);
    else if (/^[A-Za-z_]/.test(token))
      tokens[place] = pick(chance, [...tokens.filter((other) => /^[A-Za-z_]/.test(other)), "_", "x"]);
    else if (chance() < 0.5) tokens[place] = "";
    else tokens[place] = pick(chance, ["(", ")", "[", "]", "{", "}", ",", ";", ".", ":", "|"]);
  }
  return tokens.join("");
}

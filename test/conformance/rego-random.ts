/** Chance for random questions to two Rego engines; calls of built-ins, and mutations of given policies. */
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

/** The text with something changed: half of the time whole lines, so that it often still compiles. */
export function mutate(source: string, chance: Chance): string {
  return chance() < 0.5 ? mutateLines(source, chance) : mutateTokens(source, chance);
}

function mutateLines(source: string, chance: Chance): string {
  const lines = source.split("\n");
  const places = lines.flatMap((line, index) => (line.startsWith("\t") ? [index] : []));
  if (places.length === 0) return source;
  const [from, to] = [pick(chance, places), pick(chance, places)];
  const [line = "", other = ""] = [lines[from], lines[to]];
  return pick(chance, [
    () => lines.toSpliced(from, 1),
    () => lines.toSpliced(to, 0, line),
    () => lines.with(from, other).with(to, line),
    () => lines.with(from, `\tnot ${line.trim()}`),
    () =>
      lines.with(
        from,
        line.replace(/\d+(\.\d+)?/, () => pick(chance, numbers)),
      ),
    () =>
      lines.with(
        from,
        line.replace(/ (==|!=|<|>=|=|:=) /, () => ` ${pick(chance, ["==", "!=", "<", ">=", "=", ":="])} `),
      ),
    () =>
      lines.with(
        from,
        line.replace(/\bv\d+\b/, () => `v${Math.floor(chance() * 10)}`),
      ),
    () =>
      lines.with(
        from,
        line.replace(/"[^"]*"/, () => JSON.stringify(pick(chance, strings))),
      ),
  ])().join("\n");
}

/** The text with a few tokens changed, removed or swapped. */
function mutateTokens(source: string, chance: Chance): string {
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

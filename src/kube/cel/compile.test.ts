import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatDuration } from "../duration.ts";
import { goFloat, goQuote } from "../go-text.ts";
import type { Schema } from "../schema/schema.ts";
import recorded from "./cel-go.generated.json" with { type: "json" };
import { compileCel } from "./compile.ts";
import { dataToCel, jsonToCel } from "./data.ts";
import { declaredType } from "./declared-type.ts";
import { formatTimestamp } from "./library/timestamp.ts";
import { dynType, formatType, intType, listType, stringType } from "./type.ts";
import { CelList, CelMap, type CelValue, Duration, Optional, Timestamp, TypeValue, Uint } from "./value.ts";

interface Recorded {
  readonly expr: string;
  readonly self?: boolean;
  /** The compiler's message, with line and mark. */
  readonly error?: string;
  /** What is wrong with a part that is written out. */
  readonly program?: string;
  readonly type?: string;
  readonly least?: number;
  readonly most?: number;
  readonly result?: string;
  readonly fail?: string;
}

const schema = recorded.schema as unknown as Schema;
const self = declaredType(schema, {}, false);
assert.ok(self);

// What cel-go 0.26 with the libraries of Kubernetes 1.36.3 made of each expression: type, estimated cost and result.
for (const wanted of recorded.cases as readonly Recorded[]) {
  test(`as in Kubernetes: ${wanted.expr}`, () => {
    const compiled = compileCel(wanted.expr, wanted.self ? { self } : {});
    if (!compiled.ok) {
      assert.equal(compiled.message, compiled.stage === "compile" ? wanted.error : wanted.program);
      return;
    }
    const { program } = compiled;
    assert.equal(formatType(program.type), wanted.type);
    if (wanted.most !== undefined) {
      assert.deepEqual(program.estimateCost(), { min: wanted.least, max: wanted.most });
    }
    const result = program.evaluate(wanted.self ? { self: dataToCel(recorded.value, schema, {}) } : {});
    if (result.ok) assert.equal(show(result.value), wanted.result);
    else assert.equal(result.message, wanted.fail);
  });
}

test("variables may be of any type, and a missing one is an error only where it is used", () => {
  const compiled = compileCel("has(object.a) && object.a > 1 || name == 'x'", { object: dynType, name: stringType });
  assert.ok(compiled.ok);
  assert.deepEqual([...compiled.program.variables].sort(), ["name", "object"]);
  const ran = compiled.program.evaluate({ object: jsonToCel({ a: 2 }) });
  assert.ok(ran.ok);
  assert.equal(ran.value, true);
  const missing = compiled.program.evaluate({ object: jsonToCel({}) });
  assert.ok(!missing.ok);
  assert.equal(missing.message, "no such attribute(s): name");
});

test("several issues are shown in order, each with its line and a mark", () => {
  const compiled = compileCel("a +\n  b", {});
  assert.ok(!compiled.ok);
  assert.equal(
    compiled.message,
    "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a +\n | ^\n" +
      "ERROR: <input>:2:3: undeclared reference to 'b' (in container '')\n |   b\n | ..^",
  );
});

const tooExpensive = "operation cancelled: actual cost limit exceeded";
const tooLong = "the text becomes too long";
const expensive: readonly (readonly [string, string, string])[] = [
  ["nested loops", "l.all(a, l.all(b, l.all(c, a + b + c >= 0)))", tooExpensive],
  ["a list without end", "lists.range(9223372036854775807).size() > 0", tooExpensive],
  ["texts that multiply", "l.map(i, s.replace('x', s)).join('-') == ''", tooLong],
  ["texts that add up", "l.map(i, s).join(s) == ''", tooLong],
  ["comparing everything with everything", "l.map(i, [i]).distinct().size() > 0", tooExpensive],
  ["many patterns", "l.all(i, !s.matches('(x+x+)+y'))", tooExpensive],
  ["many searches", "l.all(i, s.lastIndexOf('y' + string(i)) < 0)", tooExpensive],
  ["counting characters again and again", "l.all(i, s.size() > 0)", tooExpensive],
  ["lists of lists", "l.map(i, l).flatten().size() > 0", "the list becomes too long"],
  ["copies", "l.all(i, (l + l).size() > 0)", tooExpensive],
  ["deep comparisons", "l.all(i, [l] == [l])", tooExpensive],
];
const numbers = jsonToCel(Array.from({ length: 5000 }, (_, index) => index));
for (const [name, expression, message] of expensive) {
  test(`no expression runs for long: ${name}`, () => {
    const started = performance.now();
    const compiled = compileCel(expression, { l: listType(intType), s: stringType });
    assert.ok(compiled.ok);
    const result = compiled.program.evaluate({ l: numbers, s: "x".repeat(100_000) });
    assert.ok(!result.ok);
    assert.equal(result.message, message);
    assert.ok(performance.now() - started < 10_000);
  });
}

test("the cost limit ends an expression", () => {
  const compiled = compileCel("[1, 2, 3].all(x, x > 0)", {});
  assert.ok(compiled.ok);
  const result = compiled.program.evaluate({}, { costLimit: 5 });
  assert.ok(!result.ok);
  assert.equal(result.reason, "CostExceeded");
});

const hostile: readonly (readonly [string, string])[] = [
  ["parentheses", "(".repeat(50_000)],
  ["negations", "!".repeat(50_000)],
  ["minuses", "-".repeat(50_000)],
  ["lists", "[".repeat(50_000)],
  ["calls", "f(".repeat(20_000)],
  ["fields", `a${".b".repeat(20_000)}`],
  ["sums", `1${"+1".repeat(20_000)}`],
  ["conditions", "true?".repeat(20_000)],
  ["a long text", `'${"x".repeat(90_000)}`],
  ["signs", "@#$".repeat(20_000)],
  ["more than fits", "1".repeat(200_000)],
];
for (const [name, text] of hostile) {
  test(`a hostile expression is refused quickly: ${name}`, () => {
    const started = performance.now();
    assert.equal(compileCel(text, {}).ok, false);
    assert.ok(performance.now() - started < 5000);
  });
}

test("a thousand terms are read without nesting", () => {
  const compiled = compileCel(Array.from({ length: 1000 }, (_, index) => `x != ${index}`).join(" && "), { x: intType });
  assert.ok(compiled.ok);
  const result = compiled.program.evaluate({ x: -1n });
  assert.ok(result.ok && result.value === true);
});

test("no text makes the compiler throw, and no value the program", () => {
  const word = fc.constantFrom(
    ..."self . ( ) [ ] { } , : ? + - * / % ! && || == != < <= in true null 1 2.5 'a' b'x' x size all map filter has int string matches".split(
      " ",
    ),
  );
  const wild: Readonly<Record<string, typeof dynType>> = { self: dynType };
  fc.assert(
    fc.property(fc.array(word, { maxLength: 14 }), fc.jsonValue(), (words, value) => {
      const compiled = compileCel(words.join(" "), wild);
      if (compiled.ok) compiled.program.evaluate({ self: jsonToCel(value) });
    }),
    { numRuns: 3000 },
  );
});

/** Values as the recording writes them. */
function show(value: CelValue): string {
  if (value === null) return "null";
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return `${goFloat(value)}d`;
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString("hex")}`;
  if (value instanceof Duration) return `duration:${formatDuration(value.nanoseconds)}`;
  if (value instanceof Timestamp) return `timestamp:${formatTimestamp(value)}`;
  if (value instanceof Optional) return value.value === undefined ? "none" : `optional(${show(value.value)})`;
  if (value instanceof CelList) return `[${[...value].map(show).join(",")}]`;
  if (value instanceof CelMap) {
    const pairs = [...value.keys()].map((key) => `${show(key)}:${show(value.find(key) ?? null)}`);
    return `{${pairs.sort().join(",")}}`;
  }
  return value instanceof TypeValue ? `type:${value.type.name}` : "type" in value ? value.type.name : "";
}

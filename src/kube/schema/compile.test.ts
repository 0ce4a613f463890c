import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatFieldErrors } from "../field-error.ts";
import type { StatusCause } from "../object.ts";
import { compileSchema } from "./compile.ts";
import formats from "./real-server-formats.generated.json" with { type: "json" };
import rules from "./real-server-rules.generated.json" with { type: "json" };
import values from "./real-server-values.generated.json" with { type: "json" };
import type { Schema } from "./schema.ts";

interface Answer {
  readonly message?: string;
  readonly causes?: readonly StatusCause[];
}
interface RecordedValue extends Answer {
  readonly schema: Schema;
  readonly value: unknown;
  readonly stored?: unknown;
}
interface RecordedRule extends Answer {
  readonly name: string;
  readonly schema: Schema;
  /** A new object, or an old one and what it is changed into. */
  readonly values: readonly unknown[];
}

const objectWith = (spec: Schema): Schema => ({ type: "object", properties: { spec } });

// What kube-apiserver 1.36.3 answered to an object with this value in a field of this schema.
for (const { schema, value, stored, message, causes } of values as unknown as readonly RecordedValue[]) {
  const name = `${JSON.stringify(schema)} ${message === undefined ? "accepts" : "refuses"} ${JSON.stringify(value)}`;
  test(`as on the real server, ${name}`, () => {
    const compiled = compileSchema(objectWith({ type: "object", properties: { x: schema } }));
    const object = compiled.default(compiled.prune({ spec: { x: value } }).value);
    const formatted = formatFieldErrors(compiled.validate(object));
    if (message === undefined) {
      assert.deepEqual(formatted.messages, []);
      assert.deepEqual((object as { spec: { x?: unknown } }).spec.x, stored);
      return;
    }
    assert.equal(formatted.message, message);
    assert.deepEqual(formatted.causes, causes);
  });
}

for (const [
  index,
  {
    name,
    schema,
    values: [first, second],
    message,
    causes,
  },
] of (rules as unknown as readonly RecordedRule[]).entries()) {
  const change = second === undefined ? JSON.stringify(first) : `${JSON.stringify(first)} → ${JSON.stringify(second)}`;
  test(`rule ${index}, as on the real server: ${name}, ${change}`, () => {
    const compiled = compileSchema(objectWith(schema));
    const stored = compiled.default(compiled.prune({ spec: first }).value);
    const next = compiled.default(compiled.prune({ spec: second }).value);
    const errors = second === undefined ? compiled.validate(stored) : compiled.validateUpdate(next, stored);
    const formatted = formatFieldErrors(errors);
    if (message === undefined) return assert.deepEqual(formatted.messages, []);
    assert.equal(formatted.message, message);
    assert.deepEqual(formatted.causes, causes);
  });
}

for (const [format, text, accepted] of formats as unknown as readonly (readonly [string, string, boolean])[]) {
  test(`as on the real server, the format ${format} ${accepted ? "accepts" : "refuses"} ${JSON.stringify(text)}`, () => {
    const errors = compileSchema(objectWith({ type: "string", format })).validate({ spec: text });
    assert.equal(errors.length === 0, accepted);
  });
}

test("unknown fields are dropped and named, in embedded metadata too", () => {
  const compiled = compileSchema(
    objectWith({
      type: "object",
      properties: {
        list: { type: "array", items: { type: "object", properties: { a: { type: "string" } } } },
        open: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "object" } } },
        pod: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      },
    }),
  );
  const { value, unknown } = compiled.prune({
    apiVersion: "v1",
    metadata: { name: "a", colour: "red" },
    extra: 1,
    spec: {
      list: [{ a: "x", b: 1 }],
      open: { a: { gone: 1 }, kept: { deep: 1 } },
      pod: { kind: "Pod", metadata: { name: "p", bad: 1 }, spec: { any: 1 } },
    },
  });
  assert.deepEqual(unknown, [
    "extra",
    "metadata.colour",
    "spec.list[0].b",
    "spec.open.a.gone",
    "spec.pod.metadata.bad",
  ]);
  assert.deepEqual(value, {
    apiVersion: "v1",
    metadata: { name: "a" },
    spec: {
      list: [{ a: "x" }],
      open: { a: {}, kept: { deep: 1 } },
      pod: { kind: "Pod", metadata: { name: "p" }, spec: { any: 1 } },
    },
  });
});

test("defaults apply inside defaults, to forbidden nulls, and without what the schema does not know", () => {
  const compiled = compileSchema(
    objectWith({
      type: "object",
      default: { a: {}, unknown: 1 },
      properties: {
        a: {
          type: "object",
          properties: { n: { type: "integer", default: 3 }, maybe: { type: "string", nullable: true, default: "x" } },
        },
        list: { type: "array", items: { type: "string", default: "item" } },
        map: {
          type: "object",
          additionalProperties: { type: "object", properties: { v: { type: "string", default: "v" } } },
        },
      },
    }),
  );
  assert.deepEqual(compiled.default({}), { spec: { a: { n: 3, maybe: "x" } } });
  assert.deepEqual(
    compiled.default({ spec: { a: { n: null, maybe: null }, list: [null], map: { k: {}, gone: null } } }),
    {
      spec: { a: { n: 3, maybe: null }, list: ["item"], map: { k: { v: "v" } } },
    },
  );
});

test("what needs no change comes back as the same object", () => {
  const compiled = compileSchema(objectWith({ type: "object", properties: { a: { type: "integer", default: 1 } } }));
  const object = { spec: { a: 5 } };
  assert.equal(compiled.default(object), object);
  assert.equal(compiled.prune(object).value, object);
});

test("a member called __proto__ is an ordinary member", () => {
  const compiled = compileSchema(
    objectWith({
      type: "object",
      additionalProperties: { type: "object", properties: { a: { type: "string", default: "x" } } },
    }),
  );
  const object: unknown = JSON.parse('{"spec":{"__proto__":{"b":1}}}');
  const pruned = compiled.prune(object);
  assert.deepEqual(pruned.unknown, ["spec.__proto__.b"]);
  assert.equal(JSON.stringify(compiled.default(pruned.value)), '{"spec":{"__proto__":{"a":"x"}}}');
  assert.equal(({} as { a?: string }).a, undefined);
});

test("a schema may refer to itself", () => {
  const definitions = {
    Tree: {
      type: "object",
      properties: {
        name: { type: "string", default: "leaf" },
        children: { type: "array", items: { $ref: "#/definitions/Tree" } },
      },
    },
  } as const;
  const compiled = compileSchema({ $ref: "#/definitions/Tree" }, definitions);
  assert.deepEqual(compiled.default({ children: [{}, { children: [{}] }] }), {
    name: "leaf",
    children: [{ name: "leaf" }, { name: "leaf", children: [{ name: "leaf" }] }],
  });
  assert.deepEqual(compiled.prune({ children: [{ x: 1 }] }).unknown, ["children[0].x"]);
  assert.deepEqual(formatFieldErrors(compiled.validate({ children: [{ children: [{ name: 1 }] }] })).messages, [
    'children[0].children[0].name: Invalid value: "integer": children[0].children[0].name in body must be of type string: "integer"',
  ]);
});

test("a write to the status is held against the status only, and names fields below it", () => {
  const compiled = compileSchema({
    type: "object",
    required: ["spec"],
    properties: {
      spec: { type: "object", required: ["a"], properties: { a: { type: "string" } } },
      status: { type: "object", properties: { phase: { type: "string", enum: ["Ready"] } } },
    },
  });
  const errors = compiled.validateStatusUpdate({ status: { phase: "x" } }, { status: {} });
  assert.deepEqual(formatFieldErrors(errors).messages, [
    'status.phase: Unsupported value: "x": supported values: "Ready"',
  ]);
});

test("what was wrong before and has not changed may stay, and is told as a warning where a rule says so", () => {
  const loose = { spec: { a: "TOO LONG", b: 1, n: -5 } };
  const compiled = compileSchema(
    objectWith({
      type: "object",
      properties: {
        a: { type: "string", maxLength: 3 },
        b: { type: "integer" },
        n: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= 0", message: "n may not be negative" }] },
      },
    }),
  );
  const warnings: string[] = [];
  const update = { spec: { ...loose.spec, b: 2 } };
  assert.deepEqual(compiled.validateUpdate(update, loose, { onWarning: (warning) => warnings.push(warning) }), []);
  assert.deepEqual(warnings, ["spec.n: Invalid value: -5: n may not be negative"]);
  assert.equal(compiled.validateUpdate({ spec: { ...loose.spec, a: "LONGER" } }, loose).length, 2);
});

test("errors that were found before come first and may make rules moot", () => {
  const compiled = compileSchema({ type: "object", "x-kubernetes-validations": [{ rule: "false" }] });
  const before = [{ type: "Required", field: "metadata.name", detail: "" }] as const;
  assert.deepEqual(formatFieldErrors(compiled.validate({}, { before })).messages, [
    "metadata.name: Required value",
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
  ]);
});

const scalar: fc.Arbitrary<Schema> = fc.oneof(
  fc.record(
    { type: fc.constant("string" as const), default: fc.constantFrom("a", "b"), nullable: fc.boolean() },
    { requiredKeys: ["type"] },
  ),
  fc.record(
    { type: fc.constant("integer" as const), default: fc.constant(1), minimum: fc.constant(0) },
    { requiredKeys: ["type"] },
  ),
  fc.constant<Schema>({ "x-kubernetes-int-or-string": true }),
  fc.constant<Schema>({ "x-kubernetes-preserve-unknown-fields": true }),
);
const anySchema: fc.Arbitrary<Schema> = fc.letrec<{ node: Schema }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.record({ type: fc.constant("array" as const), items: tie("node") }),
    fc.record({ type: fc.constant("object" as const), additionalProperties: tie("node") }),
    fc.record(
      {
        type: fc.constant("object" as const),
        properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("node"), { maxKeys: 3 }),
        default: fc.constant({}),
      },
      { requiredKeys: ["type", "properties"] },
    ),
  ),
})).node;
const anyObject = fc.dictionary(fc.constantFrom("a", "b", "c", "spec"), fc.jsonValue({ maxDepth: 4 }));

test("defaulting and pruning twice is the same as once, and validating never throws", () => {
  fc.assert(
    fc.property(anySchema, anyObject, anyObject, (schema, object, old) => {
      const compiled = compileSchema(objectWith(schema));
      const given = { spec: object };
      const defaulted = compiled.default(given);
      assert.deepEqual(compiled.default(defaulted), defaulted);
      const pruned = compiled.prune(given).value;
      assert.deepEqual(compiled.prune(pruned), { value: pruned, unknown: [] });
      compiled.validate(given);
      compiled.validateUpdate(given, { spec: old });
    }),
    { numRuns: 500 },
  );
});

test("large and hostile objects take linear time", () => {
  const started = performance.now();
  const compiled = compileSchema(
    objectWith({
      type: "object",
      properties: {
        set: {
          type: "array",
          "x-kubernetes-list-type": "set",
          uniqueItems: true,
          items: { type: "string", pattern: "^(a+)+$" },
        },
        map: { type: "object", additionalProperties: { type: "string", format: "hostname" } },
      },
    }),
  );
  const spec = {
    set: Array.from({ length: 20_000 }, (_, index) => `item-${index}`),
    map: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, `${"a".repeat(40)}!`])),
    text: `${"a".repeat(100_000)}!`,
  };
  assert.equal(compiled.validate({ spec }).length, 40_000);
  compiled.validateUpdate({ spec }, { spec: { ...spec } });
  assert.ok(performance.now() - started < 10_000);
});

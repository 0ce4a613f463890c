import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSchema } from "./compile.ts";
import { commonTypes, type TypeReference } from "./type-schema.ts";
import { typeErrorText, validateTyped } from "./validate.ts";

const problem = (reference: TypeReference, value: unknown, duplicates: "allowed" | "refused" = "refused"): string => {
  const schema = compileSchema({
    types: [...commonTypes, { name: "root", map: { fields: [{ name: "x", type: reference }] } }],
  });
  return typeErrorText(validateTyped({ type: schema.type("root"), value: { x: value } }, duplicates));
};

const set: TypeReference = { list: { elementType: { scalar: "string" }, elementRelationship: "associative" } };
const keyed: TypeReference = {
  list: {
    elementType: { map: { fields: [{ name: "a", type: { scalar: "string" } }] } },
    elementRelationship: "associative",
    keys: ["a", "b"],
  },
};

const cases: readonly (readonly [TypeReference, unknown, string])[] = [
  [{ scalar: "numeric" }, "x", ".x: expected numeric (int or float), got string"],
  [{ scalar: "numeric" }, true, ".x: expected numeric (int or float), got bool"],
  [{ scalar: "numeric" }, [1], ".x: expected numeric (int or float), got []interface {}"],
  [{ scalar: "string" }, 1.5, ".x: expected string, got &value.valueUnstructured{Value:1.5}"],
  [
    { scalar: "string" },
    { b: ["c", null, true], a: {} },
    '.x: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":map[string]interface {}{}, "b":[]interface {}{"c", interface {}(nil), true}}}',
  ],
  [{ scalar: "boolean" }, "x", ".x: expected boolean, got &{x}"],
  [{ scalar: "untyped" }, { b: 1, a: [null] }, ".x: expected any scalar, got &{map[a:[<nil>] b:1]}"],
  [{ map: { elementType: { scalar: "string" } } }, ["a"], ".x: expected map, got &{[a]}"],
  [set, "a", ".x: expected list, got &{a}"],
  [set, ["a", "a"], '.x: duplicate entries for key [="a"]'],
  [set, [null], ".x: element 0: associative list without keys has an element that's an explicit null"],
  [set, [{}], ".x: element 0: associative list without keys has an element that's a map type"],
  [set, [[]], ".x: element 0: not supported: associative list with lists as elements"],
  [keyed, [null], ".x: element 0: associative list with keys may not have a null element"],
  [keyed, ["a"], ".x: element 0: associative list with keys may not have non-map elements"],
  [
    keyed,
    [{ a: "1" }, {}],
    '.x: element 1: associative list with keys has an element that omits all key fields ["a" "b"] (and doesn\'t have default values for any key fields)',
  ],
  [keyed, [{ a: 1 }], ".x[a=1].a: expected string, got &value.valueUnstructured{Value:1}"],
  [keyed, [{ a: "1", c: 1 }], '.x[a="1"].c: field not declared in schema'],
  [{ namedType: "none" }, 1, ".x: schema error: no type found matching: none"],
  [{}, 1, ".x: schema error: invalid atom: inlined"],
  [{ scalar: "string" }, null, ""],
];

for (const [reference, value, expected] of cases) {
  test(`${JSON.stringify(value)} as ${JSON.stringify(reference).slice(0, 60)}`, () => {
    assert.equal(problem(reference, value), expected);
  });
}

test("stored lists may repeat a key", () => {
  assert.equal(problem(set, ["a", "a"], "allowed"), "");
});

test("a value that would exhaust the stack is refused", () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) value = { a: value };
  assert.match(problem({ namedType: "__untyped_deduced_" }, value), /: nested more than 1000 levels deep$/);
});

test("several errors are told in one text", () => {
  const schema = compileSchema({ types: [{ name: "root", map: { elementType: { scalar: "string" } } }] });
  const errors = validateTyped({ type: schema.type("root"), value: { a: 1, b: "x", c: true } }, "refused");
  assert.equal(
    typeErrorText(errors),
    "errors:\n  .a: expected string, got &value.valueUnstructured{Value:1}\n  .c: expected string, got &value.valueUnstructured{Value:true}",
  );
});

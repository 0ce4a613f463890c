import assert from "node:assert/strict";
import { test } from "node:test";
import type { Definitions, Schema } from "../schema/schema.ts";
import { writeFieldsV1 } from "./fields-v1.ts";
import { typeOfObjects } from "./openapi-types.ts";
import { toFieldSet } from "./to-field-set.ts";
import { validateTyped } from "./validate.ts";

const owned = (schema: Schema, value: unknown, definitions?: Definitions): unknown => {
  const typed = { type: typeOfObjects(schema, definitions), value };
  assert.deepEqual(validateTyped(typed, "refused"), []);
  return writeFieldsV1(toFieldSet(typed));
};

const withSpec = (spec: Schema): Schema => ({ type: "object", properties: { spec } });

const cases: readonly (readonly [string, Schema, unknown, unknown])[] = [
  ["a list is atomic unless it says otherwise", { type: "array", items: { type: "string" } }, ["a"], {}],
  [
    "a list of type set is owned value by value",
    { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" },
    [10, 9],
    { "v:9": {}, "v:10": {} },
  ],
  [
    "a list of type map is owned by its keys",
    {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["b", "a"],
      items: { type: "object", properties: { a: { type: "string", default: "d" }, b: { type: "integer" } } },
    },
    [{ b: 1 }],
    { 'k:{"a":"d","b":1}': { ".": {}, "f:b": {} } },
  ],
  [
    "a merge key of strategic merge patch counts where no list type is given",
    {
      type: "array",
      "x-kubernetes-patch-strategy": "merge,retainKeys",
      "x-kubernetes-patch-merge-key": "name",
      items: { type: "object", properties: { name: { type: "string" } } },
    },
    [{ name: "a" }],
    { 'k:{"name":"a"}': { ".": {}, "f:name": {} } },
  ],
  [
    "a merge strategy without a key makes a set",
    { type: "array", "x-kubernetes-patch-strategy": "merge", items: { type: "string" } },
    ["a"],
    { 'v:"a"': {} },
  ],
  [
    "retainKeys alone leaves a list atomic",
    { type: "array", "x-kubernetes-patch-strategy": "retainKeys", items: { type: "string" } },
    ["a"],
    {},
  ],
  [
    "an atomic map is owned as a whole",
    { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: { type: "string" } },
    { a: "1" },
    {},
  ],
  [
    "a map is owned name by name",
    { type: "object", additionalProperties: { type: "string" } },
    { a: "1" },
    { "f:a": {} },
  ],
  [
    "an object without any properties is deduced",
    { type: "object" },
    { a: { b: [1] } },
    { "f:a": { ".": {}, "f:b": {} } },
  ],
  [
    "preserved unknown fields are deduced, also in what is inlined below",
    {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { known: { type: "object", properties: { x: { type: "string" } } } },
    },
    { known: { x: "1", y: { z: 1 } }, other: 1 },
    { "f:known": { "f:x": {}, "f:y": { ".": {}, "f:z": {} } }, "f:other": {} },
  ],
  ["an int-or-string may be either", { "x-kubernetes-int-or-string": true }, "80%", {}],
  ["a value of any type is deduced", { "x-kubernetes-preserve-unknown-fields": true }, { a: 1 }, { "f:a": {} }],
  ["a string with a format may be another scalar", { type: "string", format: "date-time" }, 5, {}],
  [
    "an embedded object has metadata",
    {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      properties: { spec: { type: "object", properties: { a: { type: "string" } } } },
    },
    {
      apiVersion: "v1",
      kind: "K",
      metadata: { name: "n", finalizers: ["f"], ownerReferences: [{ uid: "u" }] },
      spec: { a: "1" },
    },
    {
      "f:apiVersion": {},
      "f:kind": {},
      "f:metadata": { "f:finalizers": { 'v:"f"': {} }, "f:name": {}, "f:ownerReferences": { 'k:{"uid":"u"}': {} } },
      "f:spec": { "f:a": {} },
    },
  ],
];

for (const [name, schema, value, expected] of cases) {
  test(name, () => assert.deepEqual(owned(withSpec(schema), { spec: value }), { "f:spec": expected }));
}

test("a custom kind's metadata is typed whatever its schema says", () => {
  const schema: Schema = { type: "object", properties: { metadata: { type: "object" } } };
  const metadata = { labels: { a: "b" }, ownerReferences: [{ uid: "u", name: "n" }] };
  assert.deepEqual(owned(schema, { apiVersion: "a/v1", kind: "K", metadata }), {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": { "f:labels": { "f:a": {} }, "f:ownerReferences": { 'k:{"uid":"u"}': {} } },
  });
});

const definitions: Definitions = {
  "x.Kind": {
    type: "object",
    properties: {
      metadata: { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" },
      tree: { $ref: "#/definitions/x.Tree" },
      whole: { $ref: "#/definitions/x.Tree", "x-kubernetes-map-type": "atomic" },
      quantity: { $ref: "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity" },
      raw: { $ref: "#/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension" },
      all: { allOf: [{ $ref: "#/definitions/x.Tree" }] },
    },
  },
  "x.Tree": { type: "object", properties: { name: { type: "string" }, child: { $ref: "#/definitions/x.Tree" } } },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: "string" },
  "io.k8s.apimachinery.pkg.runtime.RawExtension": { type: "object" },
};

test("definitions may contain themselves, be overridden where they are used, and have kinds of their own", () => {
  const value = {
    metadata: { labels: { a: "b" } },
    tree: { child: { child: { name: "n" } } },
    whole: { child: { name: "n" } },
    quantity: 0.5,
    raw: { kind: "X" },
    all: { name: "n" },
  };
  assert.deepEqual(owned({ $ref: "#/definitions/x.Kind" }, value, definitions), {
    "f:all": { "f:name": {} },
    "f:metadata": { "f:labels": { "f:a": {} } },
    "f:quantity": {},
    "f:raw": {},
    "f:tree": { "f:child": { "f:child": { "f:name": {} } } },
    "f:whole": {},
  });
});

test("a reference to nothing is told as an error, not thrown", () => {
  const type = typeOfObjects(withSpec({ $ref: "#/definitions/none" }));
  assert.deepEqual(validateTyped({ type, value: { spec: 1 } }, "refused"), [
    { path: ".spec", message: "schema error: no type found matching: none" },
  ]);
});

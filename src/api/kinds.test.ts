import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Kind } from "../kube/kind.ts";
import type { Schema } from "../kube/schema/schema.ts";
import { customResourceDefinitions } from "./crds.ts";
import { findKind, kinds } from "./kinds.ts";

/** etcd takes 1.5 MB, but client-side apply keeps a copy in an annotation of at most 256 KB. */
const maxDefinitionBytes = 250_000;

describe("all kinds", () => {
  test("have names that no other kind has", () => {
    assertUnique(kinds.map((kind) => `${kind.plural}.${kind.group}`));
    assertUnique(kinds.map((kind) => kind.kind));
    assertUnique(kinds.flatMap((kind) => [kind.plural, kind.singular, ...kind.shortNames]));
  });

  test("are found by group and kind", () => {
    for (const kind of kinds) assert.equal(findKind(kind.group, kind.kind), kind);
    assert.equal(findKind("game.platform", "Plugin"), undefined);
  });

  test("answer to `kubectl get capstan`", () => {
    for (const kind of kinds) assert.deepEqual(kind.categories, ["capstan"], kind.kind);
  });

  test("show their age, and nothing that their schema does not have", () => {
    for (const kind of kinds) {
      assert.ok(
        kind.columns.some(({ name }) => name === "Age"),
        `${kind.kind} has no Age column`,
      );
      for (const { jsonPath } of kind.columns) assertPath(kind, jsonPath);
      for (const path of kind.selectableFields) assertPath(kind, path);
    }
  });
});

for (const kind of kinds) {
  describe(kind.kind, () => {
    test("has a description on every field, one whole sentence or more", () => {
      const bare = fieldsOf(kind.schema, "").filter(({ schema }) => !/[.:)]$/.test(schema.description ?? ""));
      assert.deepEqual(
        bare.map(({ path }) => path),
        [],
      );
    });

    test("gives every refusal a message and a field that exists", () => {
      for (const { path, schema } of [{ path: "", schema: kind.schema }, ...fieldsOf(kind.schema, "")]) {
        for (const rule of schema["x-kubernetes-validations"] ?? []) {
          assert.ok(rule.message, `${path}: ${rule.rule}`);
          if (rule.fieldPath) assert.ok(find(inner(schema), rule.fieldPath), `${path}${rule.fieldPath} does not exist`);
        }
      }
    });

    test("has condition types and reasons in CamelCase, each reason once per type", () => {
      for (const [type, reasons] of Object.entries(kind.conditions)) {
        assertUnique(reasons);
        for (const word of [type, ...reasons]) assert.match(word, /^[A-Z][A-Za-z]*$/);
      }
      const carriesConditions = Object.keys(kind.conditions).length === 0 || find(kind.schema, ".status.conditions");
      assert.ok(carriesConditions, "conditions are declared, but the status has no place for them");
    });

    test("makes a definition that can be applied from the client side", () => {
      const definition = customResourceDefinitions.find(({ spec }) => spec.names.kind === kind.kind);
      assert.ok(definition);
      const bytes = Buffer.byteLength(JSON.stringify(definition));
      assert.ok(bytes < maxDefinitionBytes, `${bytes} bytes`);
    });
  });
}

interface NamedField {
  readonly path: string;
  readonly schema: Schema;
}

function fieldsOf(schema: Schema, path: string): readonly NamedField[] {
  return Object.entries(inner(schema).properties ?? {}).flatMap(([name, field]) => {
    const here = `${path}.${name}`;
    if (/^\.(apiVersion|kind|metadata)$/.test(here)) return [];
    return [{ path: here, schema: field }, ...fieldsOf(field, here)];
  });
}

function inner(schema: Schema): Schema {
  if (schema.items) return inner(schema.items);
  return typeof schema.additionalProperties === "object" ? inner(schema.additionalProperties) : schema;
}

/** Follows a path such as `.spec.steps`, also through lists and filters: `.status.conditions[?(@.type=="A")].status`. */
function find(schema: Schema, path: string): Schema | undefined {
  const names = path
    .replace(/\[[^\]]*\]/g, "")
    .split(".")
    .slice(1);
  return names.reduce<Schema | undefined>((at, name) => (at ? inner(at).properties?.[name] : undefined), schema);
}

function assertPath(kind: Kind, path: string): void {
  if (path === ".metadata.creationTimestamp") return;
  assert.ok(find(kind.schema, path), `${kind.kind} has no ${path}`);
}

function assertUnique(values: readonly string[]): void {
  assert.deepEqual(
    values.filter((value, index) => values.indexOf(value) !== index),
    [],
  );
}

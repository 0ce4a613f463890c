import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { compileSchema } from "./compile.ts";
import { equalSets } from "./field-set.ts";
import { writeFieldsV1 } from "./fields-v1.ts";
import { equalJson } from "./json-value.ts";
import { commonTypes } from "./type-schema.ts";
import { type ApplyOutcome, applyConfiguration, type Managers, type Updater, updateOwnership } from "./updater.ts";

const item = {
  map: {
    fields: [
      { name: "name", type: { scalar: "string" } as const },
      { name: "value", type: { scalar: "numeric" } as const },
    ],
  },
};
const schema = compileSchema({
  types: [
    ...commonTypes,
    {
      name: "root",
      map: {
        fields: [
          { name: "number", type: { scalar: "numeric" } },
          { name: "text", type: { scalar: "string" } },
          {
            name: "struct",
            type: {
              map: {
                fields: [
                  { name: "a", type: { scalar: "string" } },
                  { name: "b", type: { scalar: "string" } },
                ],
              },
            },
          },
          { name: "map", type: { map: { elementType: { scalar: "string" } } } },
          { name: "atomic", type: { list: { elementType: { scalar: "string" }, elementRelationship: "atomic" } } },
          { name: "set", type: { list: { elementType: { scalar: "string" }, elementRelationship: "associative" } } },
          { name: "items", type: { list: { elementType: item, elementRelationship: "associative", keys: ["name"] } } },
          { name: "free", type: { namedType: "__untyped_deduced_" } },
        ],
      },
    },
  ],
});
const type = schema.type("root");
const updater: Updater = { convert: (value) => value };

interface State {
  readonly value: unknown;
  readonly managers: Managers;
}

const start: State = { value: {}, managers: new Map() };

function apply(state: State, manager: string, config: unknown, force: boolean): ApplyOutcome {
  const { value, managers } = state;
  const request = { live: { type, value }, applied: { type, value: config }, version: "v1", managers, manager, force };
  return applyConfiguration(updater, request);
}

function applied(state: State, manager: string, config: unknown): State {
  const outcome = apply(state, manager, config, true);
  assert.ok(outcome.kind === "Applied");
  return { value: outcome.value ? outcome.value.value : state.value, managers: outcome.managers };
}

const updated = (state: State, manager: string, value: unknown): State => ({
  value,
  managers: updateOwnership(updater, {
    live: { type, value: state.value },
    updated: { type, value },
    version: "v1",
    managers: state.managers,
    manager,
  }),
});

const sameManagers = (left: Managers, right: Managers): boolean =>
  left.size === right.size &&
  [...left].every(([name, { set, applied: isApplied }]) => {
    const other = right.get(name);
    return other !== undefined && other.applied === isApplied && equalSets(set, other.set);
  });

const text = fc.constantFrom("x", "y", "z");
const number = fc.integer({ min: 0, max: 3 });
const optional = { requiredKeys: [] };
/** Objects without empty containers: an empty container is owned itself, which most laws do not speak of. */
const config = fc.record(
  {
    number,
    text,
    struct: fc.record({ a: text, b: text }, { requiredKeys: ["a"] }),
    map: fc.dictionary(fc.constantFrom("k", "l", "constructor"), text, { minKeys: 1 }),
    atomic: fc.array(text, { minLength: 1, maxLength: 3 }),
    set: fc.uniqueArray(text, { minLength: 1 }),
    items: fc.uniqueArray(fc.record({ name: text, value: number }, { requiredKeys: ["name"] }), {
      minLength: 1,
      selector: ({ name }) => name,
    }),
    free: fc.record({ p: number, q: fc.record({ r: text }) }, { requiredKeys: ["p"] }),
  },
  optional,
);

describe("laws of applying", () => {
  test("applying again changes nothing", () => {
    fc.assert(
      fc.property(config, config, config, (live, other, wanted) => {
        const before = applied(updated(start, "writer", live), "other", other);
        const once = applied(before, "me", wanted);
        const again = apply(once, "me", wanted, false);
        assert.ok(again.kind === "Applied" && again.value === undefined);
        assert.ok(sameManagers(again.managers, once.managers));
      }),
    );
  });

  test("forcing always succeeds, and what was applied is then in the object", () => {
    fc.assert(
      fc.property(config, config, (live, wanted) => {
        const { value } = applied(updated(start, "writer", live), "me", wanted);
        assert.ok(includes(value, wanted), JSON.stringify({ value, wanted }));
      }),
    );
  });

  test("an applier alone gets exactly what it applied last, whatever it applied before", () => {
    fc.assert(
      fc.property(config, config, (first, second) => {
        const { value, managers } = applied(applied(start, "me", first), "me", second);
        const fresh = applied(start, "me", second);
        // Items may stand in another order: the live list keeps its own where the applied one says nothing.
        assert.ok(equalJson(sorted(value), sorted(fresh.value)), JSON.stringify({ value, fresh: fresh.value }));
        assert.ok(sameManagers(managers, fresh.managers));
      }),
    );
  });

  test("taking everything back and applying it again leads to the same object", () => {
    fc.assert(
      fc.property(config, config, (other, wanted) => {
        const once = applied(applied(start, "other", other), "me", wanted);
        const again = applied(applied(once, "me", {}), "me", wanted);
        assert.ok(
          equalJson(sorted(again.value), sorted(once.value)),
          JSON.stringify({ once: once.value, again: again.value }),
        );
      }),
    );
  });

  test("appliers that want different fields may come in any order", () => {
    const mine = config.map(({ number: n, struct, map, items }) => defined({ number: n, struct, map, items }));
    const theirs = config.map(({ text: t, atomic, set, free }) => defined({ text: t, atomic, set, free }));
    fc.assert(
      fc.property(mine, theirs, (left, right) => {
        const one = applied(applied(start, "left", left), "right", right);
        const two = applied(applied(start, "right", right), "left", left);
        assert.ok(equalJson(one.value, two.value));
        assert.ok(sameManagers(one.managers, two.managers));
        assert.equal(apply(applied(start, "left", left), "right", right, false).kind, "Applied");
      }),
    );
  });

  test("an apply that meets a conflict and an update own each changed field once", () => {
    fc.assert(
      fc.property(config, config, (first, second) => {
        const state = updated(applied(start, "me", first), "writer", second);
        for (const [name, { set }] of state.managers) {
          assert.notEqual(JSON.stringify(writeFieldsV1(set)), "{}", `${name} owns nothing and is still listed`);
        }
        const same = updated(state, "third", second);
        assert.equal(same.managers.has("third"), false);
      }),
    );
  });
});

const defined = (object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** Lists of items and sets without their order, and without the nulls that a removal leaves behind. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(sorted).sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

function includes(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && wanted.every((part) => value.some((candidate) => includes(candidate, part)));
  }
  if (typeof wanted !== "object" || wanted === null) return value === wanted;
  return Object.entries(wanted).every(
    ([name, part]) =>
      typeof value === "object" &&
      value !== null &&
      Object.hasOwn(value, name) &&
      includes((value as Record<string, unknown>)[name], part),
  );
}

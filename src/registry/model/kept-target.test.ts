import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { KeptTarget } from "./kept-target.ts";
import type { ServiceTarget } from "./service.ts";

const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom('"', "\\", "}", ',"id":"x"', "é", "\u2028"));
const maybe = fc.oneof(fc.constant(null), fc.constantFrom("tool-invoker", "java"), text);
const anyTarget: fc.Arbitrary<ServiceTarget> = fc.record({
  id: text,
  serviceName: text,
  host: text,
  port: fc.integer({ min: 0, max: 65_535 }),
  serviceType: maybe,
  serviceSubType: maybe,
  languageName: maybe,
  languageType: maybe,
  languageSubType: maybe,
});

const fields = Object.keys({
  id: 0,
  serviceName: 0,
  host: 0,
  port: 0,
  serviceType: 0,
  serviceSubType: 0,
  languageName: 0,
  languageType: 0,
  languageSubType: 0,
} satisfies Record<keyof ServiceTarget, 0>) as (keyof ServiceTarget)[];

describe("a kept target", () => {
  test("says what it was made of, as fields, as an object and as JSON in the order of the specification", () => {
    fc.assert(
      fc.property(anyTarget, (target) => {
        const kept = KeptTarget.of(target);
        for (const field of fields) assert.equal(kept[field], target[field]);
        assert.equal(kept.json, JSON.stringify(Object.fromEntries(fields.map((field) => [field, target[field]]))));
        assert.equal(JSON.stringify(kept), kept.json);
        assert.deepEqual(kept.toJSON(), { ...target });
      }),
    );
  });

  test("equals another one exactly when every field does", () => {
    fc.assert(
      fc.property(anyTarget, fc.constantFrom(...fields), anyTarget, (target, field, other) => {
        const changed = { ...target, [field]: other[field] };
        assert.equal(KeptTarget.of(target).equals(changed), target[field] === other[field]);
      }),
    );
  });

  test("is the same wherever its head is kept", () => {
    fc.assert(
      fc.property(anyTarget, text, (target, before) => {
        const kept = KeptTarget.of({ ...target });
        kept.moveHead(before + kept.json, before.length);
        assert.deepEqual(kept.toJSON(), { ...target });
        kept.moveHead();
        assert.deepEqual(kept.toJSON(), { ...target });
      }),
    );
  });

  test("is of one kind with those that differ only in who and where they are", () => {
    fc.assert(
      fc.property(anyTarget, text, (target, host) => {
        assert.equal(KeptTarget.of({ ...target, host }).kind, KeptTarget.of(target).kind);
      }),
    );
  });
});

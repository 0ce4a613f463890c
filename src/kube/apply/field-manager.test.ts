import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject, ManagedFieldsEntry } from "../object.ts";
import { applyMergePatch } from "../patch/merge-patch.ts";
import type { Schema } from "../schema/schema.ts";
import { createFieldManager, type FieldManager } from "./field-manager.ts";
import { keepTimesIfUnchanged } from "./managed-times.ts";
import recording from "./recorded-writes.generated.json" with { type: "json" };

/** What a real kube-apiserver 1.36.3 answered to these writes, one after the other. */
interface Step {
  readonly by: string;
  readonly apply?: KubeObject;
  readonly create?: KubeObject;
  readonly patch?: unknown;
  readonly force?: boolean;
  readonly sub?: string;
  readonly version?: string;
  readonly code?: number;
  readonly message?: string;
  readonly managers?: readonly unknown[];
  readonly spec?: unknown;
  readonly annotation?: string;
}

const schema = recording.schema as unknown as Schema;
const now = new Date("2026-01-01T00:00:00Z");
const resetFields = { "": ["status"], status: ["metadata", "spec"] };
const gadget = (apiVersion: string, other: string): FieldManager =>
  createFieldManager({
    schema,
    apiVersion,
    kind: "Gadget",
    resetFields,
    otherVersions: [{ apiVersion: other, schema }],
  });
const managers: Readonly<Record<string, FieldManager>> = {
  "test.example/v1": gadget("test.example/v1", "test.example/v2"),
  "test.example/v2": gadget("test.example/v2", "test.example/v1"),
  v1: createFieldManager({
    schema: {
      type: "object",
      properties: {
        data: { type: "object", additionalProperties: { type: "string" } },
        immutable: { type: "boolean" },
      },
    },
    apiVersion: "v1",
    kind: "ConfigMap",
    builtIn: { emptyObject: { metadata: {} } },
  }),
};

describe("the field manager writes what a real server wrote", () => {
  for (const [name, steps] of Object.entries(recording.sequences as Readonly<Record<string, readonly Step[]>>)) {
    test(name, () => {
      let live: KubeObject | undefined;
      for (const [index, step] of steps.entries()) {
        const at = `step ${index + 1}, by ${step.by}`;
        const answer = perform(live, step);
        if (typeof answer === "string") {
          assert.equal(answer, step.message, at);
          continue;
        }
        assert.ok(step.managers, `${at}: the real server answered ${step.message}`);
        assert.equal(JSON.stringify(tell(answer)), JSON.stringify(step.managers), at);
        // The recorded server also filled in a default here, which is not this module's work.
        if (!JSON.stringify(step.spec ?? {}).includes("ports")) assert.deepEqual(withSpec(answer), step.spec, at);
        if (step.annotation) {
          const annotation = answer.metadata.annotations?.["kubectl.kubernetes.io/last-applied-configuration"];
          assert.equal(annotation, step.annotation, at);
        }
        live = answer;
      }
    });
  }
});

const withSpec = (object: KubeObject): unknown => (object as KubeObject & { spec?: unknown }).spec;

const tell = (object: KubeObject): readonly unknown[] =>
  (object.metadata.managedFields ?? []).map((entry) => ({
    manager: entry.manager,
    operation: entry.operation,
    apiVersion: entry.apiVersion,
    ...(entry.subresource && { subresource: entry.subresource }),
    timed: entry.time !== undefined,
    fieldsV1: entry.fieldsV1,
  }));

/** Just enough of a server around the field manager: it stores objects in the first version and guards the status. */
function perform(stored: KubeObject | undefined, step: Step): KubeObject | string {
  const version = step.version ?? (step.apply ?? step.create ?? stored)?.apiVersion ?? "";
  const manager = managers[version];
  assert.ok(manager);
  const storedVersion = version === "v1" ? "v1" : "test.example/v1";
  const live = stored && { ...stored, apiVersion: version };
  const sub = step.sub && { subresource: step.sub };
  if (step.apply) {
    const request = { applied: step.apply, manager: step.by, force: step.force ?? false, now, ...sub };
    const result = manager.apply(live ? { ...request, live } : request);
    if (result.kind !== "Applied") return result.message;
    return { ...guarded(live, result.object, step.sub), apiVersion: storedVersion };
  }
  const updated = (step.create ?? applyMergePatch(live, step.patch)) as KubeObject;
  const request = { updated, manager: step.by, now, ...sub };
  const written = manager.update(live ? { ...request, live } : request);
  const next = guarded(live, written, step.sub);
  return { ...(live ? keepTimesIfUnchanged(live, next) : next), apiVersion: storedVersion };
}

function guarded(live: KubeObject | undefined, next: KubeObject, sub: string | undefined): KubeObject {
  const { managedFields } = next.metadata;
  const managed = managedFields && { managedFields };
  const identity = { uid: "uid", namespace: "default" };
  if (sub === "status" && live) {
    const { managedFields: _old, ...metadata } = live.metadata;
    const { status } = next as KubeObject & { status?: unknown };
    return { ...live, status, metadata: { ...metadata, ...managed } } as KubeObject;
  }
  const { status: _status, ...rest } = next as KubeObject & { status?: unknown };
  const { status } = (live ?? {}) as { status?: unknown };
  return {
    ...rest,
    ...(status !== undefined && { status }),
    metadata: { ...rest.metadata, ...identity },
  } as KubeObject;
}

const widget = (spec: unknown, managedFields?: readonly ManagedFieldsEntry[]): KubeObject =>
  ({
    apiVersion: "test.example/v1",
    kind: "Gadget",
    metadata: { name: "x", uid: "u", ...(managedFields && { managedFields }) },
    spec,
  }) as unknown as KubeObject;

const manager = managers["test.example/v1"] as FieldManager;

test("inputs are never changed", () => {
  const freeze = <T>(value: T): T => {
    if (typeof value === "object" && value !== null) {
      Object.freeze(value);
      Object.values(value).forEach(freeze);
    }
    return value;
  };
  const applied = freeze(widget({ size: 1, map: { a: "1" }, items: [{ name: "a" }] }));
  const first = manager.apply({ applied, manager: "one", force: false, now });
  assert.equal(first.kind, "Applied");
  const live = freeze((first as { object: KubeObject }).object);
  const dropped = freeze(widget({ size: 2 }));
  assert.equal(manager.apply({ live, applied: dropped, manager: "one", force: false, now }).kind, "Applied");
  manager.update({ live, updated: freeze(widget({ size: 3 })), manager: "two", now });
});

test("an applied object of another kind or version is refused", () => {
  const applied = { ...widget({}), kind: "Other" };
  assert.deepEqual(manager.apply({ applied, manager: "one", force: false, now }), {
    kind: "Invalid",
    reason: "BadRequest",
    message: "invalid object type: test.example/v1, Kind=Other",
  });
  const configMap = { apiVersion: "v1", kind: "Secret", metadata: { name: "x" } };
  const result = managers["v1"]?.apply({ applied: configMap, manager: "one", force: false, now });
  assert.deepEqual(result, { kind: "Invalid", reason: "BadRequest", message: "invalid object type: /v1, Kind=Secret" });
});

test("a conflict tells field, manager and words", () => {
  const live = manager.update({ updated: widget({ size: 1 }), manager: "writer", now });
  const result = manager.apply({ live, applied: widget({ size: 2 }), manager: "one", force: false, now });
  assert.deepEqual(result, {
    kind: "Conflict",
    message: 'Apply failed with 1 conflict: conflict with "writer" using test.example/v1: .spec.size',
    conflicts: [
      {
        reason: "FieldManagerConflict",
        manager: "writer",
        message: 'conflict with "writer" using test.example/v1',
        field: ".spec.size",
      },
    ],
  });
});

test("a live object with unreadable managers cannot be applied to, and an update starts them anew", () => {
  const broken = [{ manager: "m", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { zz: {} } }];
  const live = widget({ size: 1 }, broken as unknown as readonly ManagedFieldsEntry[]);
  const result = manager.apply({ live, applied: widget({ size: 2 }), manager: "one", force: false, now });
  assert.equal(result.kind, "Invalid");
  assert.match((result as { message: string }).message, /^failed to decode managed fields: /);
  assert.equal(
    manager.update({ live, updated: widget({ size: 2 }), manager: "two", now }).metadata.managedFields,
    undefined,
  );
});

test("an update that does not fit the schema loses its managers instead of failing", () => {
  const updated = manager.update({ updated: widget({ size: "x" }), manager: "one", now });
  assert.equal(updated.metadata.managedFields, undefined);
});

test("a manager without a name is called unknown", () => {
  const object = manager.update({ updated: widget({ size: 1 }), manager: "", now });
  assert.equal(object.metadata.managedFields?.[0]?.manager, "unknown");
});

test("times move only with a change, and a write that changes only a time is no write", () => {
  const later = new Date("2026-01-01T01:00:00Z");
  const first = manager.apply({ applied: widget({ size: 1 }), manager: "one", force: false, now });
  const live = (first as { object: KubeObject }).object;
  const again = manager.apply({ live, applied: widget({ size: 1 }), manager: "one", force: false, now: later });
  assert.equal((again as { object: KubeObject }).object.metadata.managedFields?.[0]?.time, "2026-01-01T00:00:00Z");
  const changed = manager.apply({ live, applied: widget({ size: 2 }), manager: "one", force: false, now: later });
  assert.equal((changed as { object: KubeObject }).object.metadata.managedFields?.[0]?.time, "2026-01-01T01:00:00Z");

  const [entry] = live.metadata.managedFields ?? [];
  const touched = widget({ size: 1 }, [{ ...entry, time: "2026-01-01T02:00:00Z" } as ManagedFieldsEntry]);
  assert.deepEqual(keepTimesIfUnchanged(live, touched), live);
  const other = widget({ size: 2 }, [{ ...entry, time: "2026-01-01T02:00:00Z" } as ManagedFieldsEntry]);
  assert.equal(keepTimesIfUnchanged(live, other), other);
});

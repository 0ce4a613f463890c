import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ManagedFieldsEntry } from "../object.ts";
import type { Schema } from "../schema/schema.ts";
import { createFieldManager } from "./field-manager.ts";
import { parentManagedFields, scaleManagedFields } from "./scale-fields.ts";

const paths = { "apps/v1": "spec.replicas" };
const replicas = { "f:spec": { "f:replicas": {} } };
const applier: ManagedFieldsEntry = {
  manager: "ap",
  operation: "Apply",
  apiVersion: "apps/v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:spec": { "f:replicas": {}, "f:selector": {} } },
};
const other: ManagedFieldsEntry = { ...applier, manager: "other", fieldsV1: { "f:spec": { "f:paused": {} } } };

const scaleSchema: Schema = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { replicas: { type: "integer" } } },
    status: { type: "object", properties: { replicas: { type: "integer" } } },
  },
};
const scaleManager = createFieldManager({
  schema: scaleSchema,
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  builtIn: { emptyObject: { metadata: {}, spec: {}, status: {} } },
});
const scale = (count: number, managedFields: readonly ManagedFieldsEntry[] | undefined): KubeObject =>
  ({
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "x", uid: "u", ...(managedFields && { managedFields }) },
    spec: { replicas: count },
  }) as unknown as KubeObject;

const now = new Date("2026-01-01T01:00:00Z");

test("a Scale shows those who own the replicas", () => {
  assert.deepEqual(scaleManagedFields([applier, other], paths), [
    { ...applier, apiVersion: "autoscaling/v1", fieldsV1: replicas },
  ]);
});

test("scaling takes the replicas from their owner; the new entry has no time, as on the real server", () => {
  const live = scale(2, scaleManagedFields([applier, other], paths));
  const written = scaleManager.update({
    live,
    updated: { ...live, ...{ spec: { replicas: 4 } } },
    manager: "scaler",
    subresource: "scale",
    now,
  });
  assert.deepEqual(parentManagedFields([applier, other], written.metadata.managedFields, "apps/v1", paths), [
    { ...applier, fieldsV1: { "f:spec": { "f:selector": {} } } },
    other,
    {
      manager: "scaler",
      operation: "Update",
      apiVersion: "apps/v1",
      fieldsType: "FieldsV1",
      fieldsV1: replicas,
      subresource: "scale",
    },
  ]);
});

test("scaling to the same number changes no entry", () => {
  const live = scale(2, scaleManagedFields([applier, other], paths));
  const written = scaleManager.update({ live, updated: live, manager: "scaler", subresource: "scale", now });
  assert.deepEqual(parentManagedFields([applier, other], written.metadata.managedFields, "apps/v1", paths), [
    applier,
    other,
  ]);
});

test("an owner of nothing but the replicas is gone after they were taken", () => {
  const only = { ...applier, fieldsV1: replicas };
  const live = scale(2, scaleManagedFields([only], paths));
  const written = scaleManager.update({
    live,
    updated: scale(3, live.metadata.managedFields),
    manager: "scaler",
    subresource: "scale",
    now,
  });
  const entries = parentManagedFields([only], written.metadata.managedFields, "apps/v1", paths);
  assert.deepEqual(
    entries?.map(({ manager }) => manager),
    ["scaler"],
  );
});

test("an apply through scale conflicts with the owner of the replicas", () => {
  const live = scale(2, scaleManagedFields([applier], paths));
  const result = scaleManager.apply({
    live,
    applied: scale(5, undefined),
    manager: "x",
    force: false,
    subresource: "scale",
    now,
  });
  assert.equal(
    result.kind === "Conflict" && result.message,
    'Apply failed with 1 conflict: conflict with "ap": .spec.replicas',
  );
});

test("entries of versions that are not served are left out", () => {
  assert.equal(parentManagedFields([{ ...applier, apiVersion: "apps/v0" }], undefined, "apps/v1", paths), undefined);
});

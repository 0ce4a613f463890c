import type { Schema } from "./schema.ts";

/** The metadata that every object may carry, as a schema; embedded resources are pruned against it. */
const text: Schema = { type: "string" };
const integer: Schema = { type: "integer" };
const flag: Schema = { type: "boolean" };
const textMap: Schema = { type: "object", additionalProperties: text };

export const objectMetaSchema: Schema = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: integer,
    creationTimestamp: text,
    deletionTimestamp: text,
    deletionGracePeriodSeconds: integer,
    labels: textMap,
    annotations: textMap,
    finalizers: { type: "array", items: text },
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: flag,
          blockOwnerDeletion: flag,
        },
      },
    },
    managedFields: {
      type: "array",
      items: {
        type: "object",
        properties: {
          manager: text,
          operation: text,
          apiVersion: text,
          time: text,
          fieldsType: text,
          fieldsV1: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          subresource: text,
        },
      },
    },
  },
};

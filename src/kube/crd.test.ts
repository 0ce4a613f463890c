import assert from "node:assert/strict";
import { test } from "node:test";
import { customResourceDefinition } from "./crd.ts";
import { defineKind } from "./kind.ts";
import { integer, object, optional, string } from "./schema/build.ts";

const widget = (version: string) =>
  defineKind({
    group: "example.com",
    version,
    kind: "Widget",
    plural: "widgets",
    description: "A widget.",
    shortNames: ["wd"],
    categories: ["all"],
    spec: object({ replicas: integer({ minimum: 0 }), colour: optional(string()) }),
    status: object({ replicas: optional(integer()) }),
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
    columns: [{ name: "Replicas", type: "integer", jsonPath: ".spec.replicas" }],
    selectableFields: ["spec.colour"],
  });

test("one kind gives a whole CustomResourceDefinition", () => {
  assert.deepEqual(JSON.parse(JSON.stringify(customResourceDefinition(widget("v1")))), {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      names: {
        plural: "widgets",
        singular: "widget",
        kind: "Widget",
        listKind: "WidgetList",
        shortNames: ["wd"],
        categories: ["all"],
      },
      scope: "Namespaced",
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              description: "A widget.",
              required: ["spec"],
              properties: {
                apiVersion: { type: "string" },
                kind: { type: "string" },
                metadata: { type: "object" },
                spec: {
                  type: "object",
                  required: ["replicas"],
                  properties: { replicas: { type: "integer", minimum: 0 }, colour: { type: "string" } },
                },
                status: { type: "object", properties: { replicas: { type: "integer" } } },
              },
            },
          },
          additionalPrinterColumns: [{ name: "Replicas", type: "integer", jsonPath: ".spec.replicas" }],
          selectableFields: [{ jsonPath: ".spec.colour" }],
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
        },
      ],
    },
  });
});

test("several kinds are versions of one, and the last one is stored", () => {
  const { versions } = customResourceDefinition([widget("v1alpha1"), widget("v1")]).spec;
  assert.deepEqual(
    versions.map(({ name, served, storage }) => ({ name, served, storage })),
    [
      { name: "v1alpha1", served: true, storage: false },
      { name: "v1", served: true, storage: true },
    ],
  );
});

test("kinds that are not versions of one another are refused", () => {
  const other = defineKind({
    group: "example.com",
    version: "v1",
    kind: "Gadget",
    plural: "gadgets",
    description: "A gadget.",
  });
  assert.throws(() => customResourceDefinition([other, widget("v1")]), /not versions of one kind/);
});

test("the same kind gives the same bytes", () => {
  assert.equal(
    JSON.stringify(customResourceDefinition(widget("v1"))),
    JSON.stringify(customResourceDefinition(widget("v1"))),
  );
});

/** The kinds that a cluster learns at run time. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { anyObject, array, boolean, type Field, integer, oneOf, optional, string } from "../../kube/schema/build.ts";
import type { Schema } from "../../kube/schema/schema.ts";
import { looseConditions } from "./metadata.ts";
import { openObject } from "./open-object.ts";

const names = openObject({
  plural: string(),
  kind: string(),
  singular: optional(string()),
  listKind: optional(string()),
  shortNames: optional(array(string())),
  categories: optional(array(string())),
});

const version = openObject({
  name: string(),
  served: boolean(),
  storage: boolean(),
  deprecated: optional(boolean()),
  deprecationWarning: optional(string()),
  schema: optional(openObject({ openAPIV3Schema: optional(anyObject() as Field<Schema>) })),
  subresources: optional(
    openObject({
      status: optional(openObject({})),
      scale: optional(
        openObject({
          specReplicasPath: string(),
          statusReplicasPath: string(),
          labelSelectorPath: optional(string()),
        }),
      ),
    }),
  ),
  additionalPrinterColumns: optional(
    array(
      openObject({
        name: string(),
        type: string(),
        jsonPath: string(),
        description: optional(string()),
        format: optional(string()),
        priority: optional(integer()),
      }),
    ),
  ),
  selectableFields: optional(array(openObject({ jsonPath: string() }))),
});

export const CustomResourceDefinition = defineKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
  shortNames: ["crd", "crds"],
  description: "A kind that the cluster learns at run time.",
  spec: openObject({
    group: string(),
    names,
    scope: oneOf(["Namespaced", "Cluster"]),
    versions: array(version),
    conversion: optional(openObject({ strategy: string() })),
    preserveUnknownFields: optional(boolean()),
  }),
  status: openObject({
    acceptedNames: optional(names),
    conditions: optional(looseConditions),
    storedVersions: optional(array(string())),
  }),
});
export type CustomResourceDefinition = ResourceOf<typeof CustomResourceDefinition>;

/** Parts of metadata and status that many built-in kinds share. */
import type { Condition } from "../../kube/condition.ts";
import type { OwnerReference } from "../../kube/object.ts";
import {
  array,
  boolean,
  dateTime,
  type Field,
  integer,
  map,
  oneOf,
  optional,
  string,
} from "../../kube/schema/build.ts";
import { openObject } from "./open-object.ts";

export interface TemplateMetadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

/** The metadata of an object inside another one: a pod template, a volume claim template. */
export const templateMetadata: Field<TemplateMetadata> = openObject({
  name: optional(string()),
  generateName: optional(string()),
  namespace: optional(string()),
  labels: optional(map(string())),
  annotations: optional(map(string())),
  ownerReferences: optional(
    array(
      openObject({
        apiVersion: string(),
        kind: string(),
        name: string(),
        uid: string(),
        controller: optional(boolean()),
        blockOwnerDeletion: optional(boolean()),
      }),
    ),
  ),
  finalizers: optional(array(string())),
});

/** Conditions of the newer kinds, which follow the standard shape. */
export const standardConditions: Field<readonly Condition[]> = array(
  openObject({
    type: string(),
    status: oneOf(["True", "False", "Unknown"]),
    reason: string(),
    message: string(),
    lastTransitionTime: dateTime(),
    observedGeneration: optional(integer({ format: "int64" })),
  }),
  { keys: ["type"] },
);

/** Conditions of the older kinds, where everything but type and status may be missing. */
export const looseConditions = array(
  openObject({
    type: string(),
    status: oneOf(["True", "False", "Unknown"]),
    reason: optional(string()),
    message: optional(string()),
    lastTransitionTime: optional(dateTime()),
    lastProbeTime: optional(dateTime()),
    lastUpdateTime: optional(dateTime()),
    observedGeneration: optional(integer({ format: "int64" })),
  }),
  { keys: ["type"] },
);

/** The ways in which one object names another. */
import { type Field, object, optional, string } from "../kube/schema/build.ts";

/** The name of an object in the same namespace. */
export const nameReference = (description: string): Field<{ readonly name: string }> =>
  object(
    { name: string({ description: "The name of the object, in this namespace.", minLength: 1 }) },
    { description },
  );

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** Kubernetes' own ObjectReference, in which every part may be left out. */
export const objectReference = (description: string): Field<ObjectReference> =>
  object(
    {
      apiVersion: optional(string({ description: "The API group and version of the object." })),
      kind: optional(string({ description: "The kind of the object." })),
      namespace: optional(string({ description: "The namespace of the object." })),
      name: optional(string({ description: "The name of the object." })),
      uid: optional(string({ description: "The uid of the object, when that very object is meant." })),
      resourceVersion: optional(string({ description: "The version of the object that was looked at." })),
      fieldPath: optional(string({ description: "The part of the object that is meant." })),
    },
    { description, mapType: "atomic" },
  );

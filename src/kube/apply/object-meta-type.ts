/** The type of every object's metadata, for kinds whose schema only says that there is some. */
import { type Atom, type TypeReference, untypedDeducedName } from "./type-schema.ts";

export const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const text: TypeReference = { scalar: "string" };
const number: TypeReference = { scalar: "numeric" };
const flag: TypeReference = { scalar: "boolean" };
const time: TypeReference = { scalar: "untyped" };
const texts: TypeReference = { map: { elementType: text } };

const struct = (fields: Readonly<Record<string, TypeReference>>, atomic = false): Atom => ({
  map: {
    fields: Object.entries(fields).map(([name, type]) => ({ name, type })),
    ...(atomic && { elementRelationship: "atomic" }),
  },
});

const ownerReference = struct(
  { apiVersion: text, blockOwnerDeletion: flag, controller: flag, kind: text, name: text, uid: text },
  true,
);

const managedFieldsEntry = struct({
  apiVersion: text,
  fieldsType: text,
  fieldsV1: { map: { elementType: { namedType: untypedDeducedName } } },
  manager: text,
  operation: text,
  subresource: text,
  time,
});

export const objectMetaAtom: Atom = struct({
  annotations: texts,
  creationTimestamp: time,
  deletionGracePeriodSeconds: number,
  deletionTimestamp: time,
  finalizers: { list: { elementType: text, elementRelationship: "associative" } },
  generateName: text,
  generation: number,
  labels: texts,
  managedFields: { list: { elementType: managedFieldsEntry, elementRelationship: "atomic" } },
  name: text,
  namespace: text,
  ownerReferences: { list: { elementType: ownerReference, elementRelationship: "associative", keys: ["uid"] } },
  resourceVersion: text,
  selfLink: text,
  uid: text,
});

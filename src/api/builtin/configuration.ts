/** ConfigMaps, Secrets, and the identities that use them. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, boolean, map, optional, string } from "../../kube/schema/build.ts";
import { openObject } from "./open-object.ts";

export const ConfigMap = defineKind({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  shortNames: ["cm"],
  description: "Settings for programs to read.",
  fields: {
    data: optional(map(string())),
    binaryData: optional(map(string({ format: "byte" }))),
    immutable: optional(boolean()),
  },
});
export type ConfigMap = ResourceOf<typeof ConfigMap>;

export const Secret = defineKind({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  description: "Settings that must not be seen by everyone.",
  fields: {
    type: optional(string()),
    data: optional(map(string({ format: "byte" }))),
    stringData: optional(map(string())),
    immutable: optional(boolean()),
  },
});
export type Secret = ResourceOf<typeof Secret>;

export const ServiceAccount = defineKind({
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  shortNames: ["sa"],
  description: "An identity for pods.",
  fields: {
    automountServiceAccountToken: optional(boolean()),
    secrets: optional(array(openObject({ name: optional(string()) }))),
    imagePullSecrets: optional(array(openObject({ name: optional(string()) }))),
  },
});
export type ServiceAccount = ResourceOf<typeof ServiceAccount>;

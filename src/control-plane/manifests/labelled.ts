import type { KubeObject } from "../../kube/object.ts";
import type { Group } from "./options.ts";

/** What a group's own pods carry, and nothing else does. */
export const selectorOf = ({ name }: Group): Readonly<Record<string, string>> => ({
  "app.kubernetes.io/name": "capstan",
  "app.kubernetes.io/component": name.replace(/^capstan-/, ""),
});

export const labelsOf = (group: Group): Readonly<Record<string, string>> => ({
  ...selectorOf(group),
  "app.kubernetes.io/managed-by": "capstan",
});

/** An object of a group; without a namespace it belongs to the cluster. */
export const objectOf = (
  group: Group,
  [apiVersion, kind]: readonly [apiVersion: string, kind: string],
  metadata: { readonly name?: string; readonly namespace?: string },
  body: object = {},
): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: group.name, ...metadata, labels: labelsOf(group) },
  ...body,
});

import type { KubeObject } from "../../kube/object.ts";
import type { Group } from "./options.ts";

/** On everything of a group; its pods are selected by exactly these, which can never change after the first release. */
export const labelsOf = ({ name }: Group): Readonly<Record<string, string>> => ({
  "app.kubernetes.io/name": "capstan",
  "app.kubernetes.io/component": name.replace(/^capstan-/, ""),
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

import type { KubeObject } from "../../kube/object.ts";

/** Only the metadata of an object, for clients that need no more. */
export const partialObjectMetadata = (version: "v1" | "v1beta1", { metadata }: KubeObject): KubeObject => ({
  kind: "PartialObjectMetadata",
  apiVersion: `meta.k8s.io/${version}`,
  metadata,
});

import { child, type Draft, text } from "./draft.ts";

/** Classes that objects get which name none. */

export const isDefaultStorageClass = (storageClass: Draft): boolean =>
  isMarked(storageClass, "storageclass.kubernetes.io/is-default-class");

export const isDefaultIngressClass = (ingressClass: Draft): boolean =>
  isMarked(ingressClass, "ingressclass.kubernetes.io/is-default-class");

const isMarked = (object: Draft, annotation: string): boolean =>
  text(child(child(object, "metadata"), "annotations"), annotation) === "true";

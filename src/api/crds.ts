/** The CustomResourceDefinitions of all our kinds: what `capstan install --crds-only` prints. */
import { type CustomResourceDefinition, customResourceDefinition } from "../kube/crd.ts";
import { kinds } from "./kinds.ts";

export const customResourceDefinitions: readonly CustomResourceDefinition[] = kinds.map((kind) =>
  customResourceDefinition(kind),
);

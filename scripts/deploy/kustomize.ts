import { type InstallOptions, installObjects } from "../../src/control-plane/manifests.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { stringifyYamlDocuments } from "../../src/kube/yaml.ts";

/** A Kustomize base by file name: the objects of `capstan install`, word for word. */
export function kustomizeFiles(options: InstallOptions): ReadonlyMap<string, string> {
  const objects = installObjects(options);
  const isDefinition = ({ kind }: KubeObject): boolean => kind === "CustomResourceDefinition";
  return new Map([
    ["kustomization.yaml", kustomization],
    ["crds.yaml", generated + stringifyYamlDocuments(objects.filter(isDefinition))],
    ["capstan.yaml", generated + stringifyYamlDocuments(objects.filter((object) => !isDefinition(object)))],
  ]);
}

const generated =
  "# Written by scripts/deploy/generate.ts from what `capstan install` prints; change that, not this file.\n";

const kustomization = `${generated}apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
# In the order in which they can be applied.
sortOptions:
  order: fifo
resources:
  - crds.yaml
  - capstan.yaml
`;

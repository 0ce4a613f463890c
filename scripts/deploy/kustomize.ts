import { type InstallOptions, installObjects } from "../../src/control-plane/manifests.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { stringifyYamlDocuments } from "../../src/kube/yaml.ts";

/** Kustomize's bases by file name: the objects of `capstan install`, word for word. */
export const kustomizeFiles = (options: InstallOptions): ReadonlyMap<string, string> =>
  new Map([
    ["crds/kustomization.yaml", kustomization("crds.yaml")],
    ["crds/crds.yaml", documents(installObjects(options).filter(isDefinition))],
    ...[
      { folder: "base", single: false },
      { folder: "single", single: true },
    ].flatMap(({ folder, single }): readonly (readonly [string, string])[] => [
      [`${folder}/kustomization.yaml`, kustomization("../crds", "capstan.yaml")],
      [
        `${folder}/capstan.yaml`,
        documents(installObjects({ ...options, single }).filter((object) => !isDefinition(object))),
      ],
    ]),
  ]);

const isDefinition = ({ kind }: KubeObject): boolean => kind === "CustomResourceDefinition";

const generated =
  "# Written by scripts/deploy/generate.ts from what `capstan install` prints; change that, not this file.\n";
const documents = (objects: readonly KubeObject[]): string => generated + stringifyYamlDocuments(objects);

const kustomization = (
  ...resources: readonly string[]
): string => `${generated}apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
# In the order in which they can be applied.
sortOptions:
  order: fifo
resources:
${resources.map((resource) => `  - ${resource}\n`).join("")}`;

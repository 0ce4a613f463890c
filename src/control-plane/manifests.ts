import { customResourceDefinitions } from "../api/crds.ts";
import type { KubeObject } from "../kube/object.ts";
import { systemNames } from "./controllers.ts";
import { accessObjects } from "./manifests/access.ts";
import { needsOf } from "./manifests/needs.ts";
import { groupsOf, type InstallOptions } from "./manifests/options.ts";
import { workloadObjects } from "./manifests/workload.ts";

export type { InstallOptions } from "./manifests/options.ts";

/**
 * What `capstan install` prints, and what the Helm chart and the Kustomize base hold: everything that a cluster needs,
 * rendered from what the controllers declare, in the order in which it can be applied.
 */
export function installObjects(options: InstallOptions): readonly KubeObject[] {
  return [
    ...(customResourceDefinitions as readonly KubeObject[]),
    namespaceObject(options.namespace),
    ...groupsOf(systemNames, options.single).flatMap((group) => [
      ...accessObjects(group, options),
      ...needsOf(group).objects(group, options),
      ...workloadObjects(group, options),
    ]),
  ];
}

const namespaceObject = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name,
    labels: {
      "app.kubernetes.io/managed-by": "capstan",
      "pod-security.kubernetes.io/enforce": "restricted",
      "pod-security.kubernetes.io/enforce-version": "latest",
      "pod-security.kubernetes.io/audit": "restricted",
      "pod-security.kubernetes.io/warn": "restricted",
    },
  },
});

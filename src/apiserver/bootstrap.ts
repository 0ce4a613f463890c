import type { KubeObject } from "../kube/object.ts";
import { bootstrapPolicy } from "./auth/bootstrap-policy.ts";

/** What every cluster has from its first minute. Objects that exist already are left as they are. */
export const bootstrapObjects = (): readonly KubeObject[] => [
  ...["default", "kube-system", "kube-public", "kube-node-lease"].map((name) => plain("v1", "Namespace", { name })),
  ...bootstrapPolicy(),
  priorityClass(
    "system-node-critical",
    2_000_001_000,
    "system critical pods that must not be moved from their current node.",
  ),
  priorityClass(
    "system-cluster-critical",
    2_000_000_000,
    "system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ),
  {
    ...plain("v1", "Service", {
      name: "kubernetes",
      namespace: "default",
      labels: { component: "apiserver", provider: "kubernetes" },
    }),
    spec: {
      type: "ClusterIP",
      clusterIP: "10.96.0.1",
      clusterIPs: ["10.96.0.1"],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
    },
  } as KubeObject,
];

const plain = (apiVersion: string, kind: string, metadata: KubeObject["metadata"]): KubeObject => ({
  apiVersion,
  kind,
  metadata,
});

const priorityClass = (name: string, value: number, use: string): KubeObject =>
  ({
    ...plain("scheduling.k8s.io/v1", "PriorityClass", { name }),
    value,
    description: `Used for ${use}`,
  }) as KubeObject;

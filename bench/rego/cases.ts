/** The policies, queries and documents that every engine gets. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface BenchCase {
  readonly name: string;
  readonly file: string;
  readonly source: string;
  readonly query: string;
  readonly data: object;
  readonly inputs: readonly object[];
}

const policies = join(import.meta.dirname, "policies");

function policy(file: string): { readonly file: string; readonly source: string } {
  return { file, source: readFileSync(join(policies, file), "utf8") };
}

const roles = Object.fromEntries(
  Array.from({ length: 10 }, (_, role) => [
    `role${role}`,
    Array.from({ length: 10 }, (_, index) => ({
      action: ["read", "write", "delete"][index % 3],
      resource: `resource${role * 10 + index}`,
    })),
  ]),
);
const bindings = Object.fromEntries(
  Array.from({ length: 50 }, (_, user) => [`user${user}`, [`role${user % 10}`, `role${(user + 3) % 10}`]]),
);

function pod(index: number): object {
  return {
    request: {
      kind: { group: "", version: "v1", kind: "Pod" },
      operation: "CREATE",
      object: {
        metadata: { name: `pod-${index}`, labels: index % 2 === 0 ? { app: "a", team: "t" } : { app: "a" } },
        spec: {
          containers: Array.from({ length: 1 + (index % 3) }, (_, container) => ({
            name: `c${container}`,
            image: index % 4 === 0 ? "registry.example.com/app:1.2.3" : "docker.io/library/nginx:latest",
            resources: index % 3 === 0 ? { limits: { memory: "64Mi", cpu: "100m" } } : {},
            securityContext: { privileged: index % 5 === 0 },
          })),
        },
      },
    },
  };
}

export const benchCases: readonly BenchCase[] = [
  {
    name: "rbac",
    ...policy("rbac.rego"),
    query: "data.rbac.allow",
    data: { roles, bindings },
    inputs: Array.from({ length: 20 }, (_, index) => ({
      user: `user${index * 2}`,
      action: index % 2 === 0 ? "read" : "delete",
      resource: `resource${(index * 7) % 100}`,
    })),
  },
  {
    name: "admission",
    ...policy("admission.rego"),
    query: "data.kubernetes.admission.deny",
    data: {},
    inputs: Array.from({ length: 20 }, (_, index) => pod(index)),
  },
  {
    name: "action-safety",
    ...policy("action-safety.rego"),
    query: "data.kubernetesexecution.safety.decision",
    data: {},
    inputs: Array.from({ length: 20 }, (_, index) => ({
      action: ["ScaleDeployment", "DeletePod", "UpdateImage", "DrainNode"][index % 4],
      target: {
        namespace: index % 7 === 0 ? "kube-system" : "shop",
        labels: { environment: index % 3 === 0 ? "production" : "staging" },
      },
      parameters: { replicas: index * 6 - 6, image: "registry.example.com/app:1.0" },
      facts: { nodes_ready: index % 5 },
    })),
  },
];

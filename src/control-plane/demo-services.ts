import type { KubeObject } from "../kube/object.ts";

export interface DemoServicesOptions {
  /** Where the providers register: known only once the registry listens. */
  readonly registryUrl: string;
  /** Our own image; the local node really runs it. */
  readonly image: string;
}

/**
 * The demo's live services: one pod of our own image that listens, registers what it offers and sends heartbeats, like any
 * provider would. It can be scaled to zero, deleted or killed, and the bindings follow.
 */
export function demoServices({ registryUrl, image }: DemoServicesOptions): readonly KubeObject[] {
  const name = demoProviders;
  const labels = { "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": demoNamespace };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: demoNamespace, labels },
    spec: {
      // Without replicas: how many there are is what people change to see the bindings follow.
      // Two pods at once would be two instances of each service, and the older one is about to go.
      strategy: { type: "Recreate" },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name,
              image,
              command: [
                "capstan",
                "provide",
                "--state-dir=/var/lib/providers",
                ...offers.map((offer) => `--service=${offer}`),
              ],
              env: [{ name: "CAPSTAN_REGISTRY_URL", value: registryUrl }],
              volumeMounts: [{ name: "state", mountPath: "/var/lib/providers" }],
            },
          ],
          volumes: [{ name: "state", persistentVolumeClaim: { claimName: name } }],
        },
      },
    },
  };
  // Ids stay the same when the pod is replaced, for instance because the registry has moved to another port.
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: demoNamespace, labels },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
  };
  return [claim as KubeObject, deployment as KubeObject];
}

export const demoNamespace = "anvil-demo";
export const demoProviders = "providers";

/** The first two stand behind the modules of the demo's worlds (demo/10-game-world.yaml). */
const offers = [
  "core-time-source=resource-provider",
  "core-physics-engine=tool-invoker",
  "forecast=tool-invoker",
  "route-runner=code-execution-engine",
];

import { join } from "node:path";

/**
 * Programs look for their ServiceAccount at a fixed place that only exists inside a container. On the host they find the
 * same through KUBECONFIG, with the token in a file that is renewed.
 */
export function podKubeconfig(options: {
  readonly serverUrl: string;
  readonly folder: string;
  readonly namespace: string;
}): string {
  const { serverUrl, folder, namespace } = options;
  return `${JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "pod", cluster: { server: serverUrl, "certificate-authority": join(folder, "ca.crt") } }],
      users: [{ name: "pod", user: { tokenFile: join(folder, "token") } }],
      contexts: [{ name: "pod", context: { cluster: "pod", user: "pod", namespace } }],
      "current-context": "pod",
    },
    undefined,
    2,
  )}\n`;
}

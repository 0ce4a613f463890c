import { stringifyYaml } from "../kube/yaml.ts";

/** A kubeconfig that reaches the embedded server as its administrator. */
export function kubeconfigText(options: {
  readonly url: string;
  readonly caCertificate: string;
  readonly token: string;
}): string {
  return stringifyYaml({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "capstan",
    clusters: [
      {
        name: "capstan",
        cluster: {
          server: options.url,
          "certificate-authority-data": Buffer.from(options.caCertificate).toString("base64"),
        },
      },
    ],
    users: [{ name: "capstan-admin", user: { token: options.token } }],
    contexts: [{ name: "capstan", context: { cluster: "capstan", user: "capstan-admin", namespace: "default" } }],
  });
}

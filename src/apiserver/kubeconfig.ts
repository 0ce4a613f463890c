/**
 * A kubeconfig that reaches the embedded server as its administrator. Written by hand: values are quoted as JSON, which is
 * YAML, and a start does not wait for a YAML writer.
 */
export function kubeconfigText(options: {
  readonly url: string;
  readonly caCertificate: string;
  readonly token: string;
}): string {
  const authority = Buffer.from(options.caCertificate).toString("base64");
  return `apiVersion: v1
kind: Config
current-context: capstan
clusters:
- name: capstan
  cluster:
    server: ${options.url}
    certificate-authority-data: ${authority}
users:
- name: capstan-admin
  user:
    token: ${JSON.stringify(options.token)}
contexts:
- name: capstan
  context:
    cluster: capstan
    user: capstan-admin
    namespace: default
`;
}

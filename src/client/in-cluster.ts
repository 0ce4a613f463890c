import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterAccess } from "./cluster-access.ts";
import { KubeconfigError } from "./config-entry.ts";

/** Access from inside a pod: the service account's token and CA, both read again as kubelet replaces them. */
export interface InClusterOptions {
  /** `KUBERNETES_SERVICE_HOST` */
  readonly host: string | undefined;
  /** `KUBERNETES_SERVICE_PORT` */
  readonly port: string | undefined;
  /** Where the service account is mounted. */
  readonly folder?: string;
}

export const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

export async function inClusterAccess({
  host,
  port,
  folder = serviceAccountFolder,
}: InClusterOptions): Promise<ClusterAccess> {
  if (!host || !port)
    throw new KubeconfigError(
      "in-cluster configuration",
      host ? "KUBERNETES_SERVICE_PORT" : "KUBERNETES_SERVICE_HOST",
      "Required value: not set, so this is not a pod; name a kubeconfig instead",
    );
  const file = (name: string): { readonly path: string; readonly label: string } => ({
    path: join(folder, name),
    label: `in-cluster configuration: ${name}`,
  });
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: await namespaceOf(folder),
    tls: { ca: { kind: "File", ...file("ca.crt") } },
    credential: { kind: "TokenFile", ...file("token") },
  };
}

async function namespaceOf(folder: string): Promise<string> {
  try {
    return (await readFile(join(folder, "namespace"), "utf8")).trim() || "default";
  } catch (error) {
    // The file is a convenience; a projected volume may leave it out. Any other failure is a broken mount.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "default";
    throw error;
  }
}

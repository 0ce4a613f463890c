import type { Client } from "./client.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { type ClientOptions, createClient } from "./create-client.ts";
import { type InClusterOptions, inClusterAccess } from "./in-cluster.ts";
import { createProcessHold } from "./process-hold.ts";
import { createTransport, type TransportOptions } from "./transport.ts";

/** A client of a real cluster, with what belongs to it. */
export interface ClusterClient {
  readonly client: Client;
  readonly access: ClusterAccess;
  /** The namespace that is meant when a person names none. */
  readonly namespace: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

export type ConnectOptions = Omit<ClientOptions, "transport" | "host" | "hold"> & TransportOptions;

export interface KubeconfigOptions extends ConnectOptions {
  /** The files of `--kubeconfig` or `KUBECONFIG`, in order. */
  readonly paths: readonly string[];
  readonly context?: string;
}

export async function clientFromKubeconfig(options: KubeconfigOptions): Promise<ClusterClient> {
  // Only here is YAML read; a pod and the embedded server do without, and start faster.
  const [{ loadKubeconfig }, { accessOf }] = await Promise.all([
    import("./kubeconfig.ts"),
    import("./kubeconfig-access.ts"),
  ]);
  return connect(accessOf(await loadKubeconfig(options.paths), options), options);
}

export async function clientInCluster(options: ConnectOptions & InClusterOptions): Promise<ClusterClient> {
  return connect(await inClusterAccess(options), options);
}

export function connect(access: ClusterAccess, options: ConnectOptions): ClusterClient {
  const transport = createTransport(access, options);
  const hold = createProcessHold();
  const { host } = new URL(access.server);
  return {
    client: createClient({ ...options, transport: transport.handle, host, hold }),
    access,
    namespace: access.namespace,
    async close() {
      hold.close();
      await transport.close();
    },
  };
}

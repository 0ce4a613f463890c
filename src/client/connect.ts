import type { Client } from "./client.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { type ClientOptions, createClient } from "./create-client.ts";
import { type InClusterOptions, inClusterAccess } from "./in-cluster.ts";
import { createProcessHold } from "./process-hold.ts";
import { serverClock } from "./server-clock.ts";
import { createTransport, type TransportOptions } from "./transport.ts";

/** A client of a real cluster, with what belongs to it. */
export interface ClusterClient {
  readonly client: Client;
  readonly access: ClusterAccess;
  /** The namespace that is meant when a person names none. */
  readonly namespace: string;
  /** The time of day as the cluster has it. */
  now(): Date;
  /** Ends every connection. */
  close(): Promise<void>;
}

export type ConnectOptions = Omit<ClientOptions, "transport" | "host" | "hold"> &
  TransportOptions & {
    /** Told when the cluster's clock and ours differ by more than clocks usually do. */
    readonly onSkew?: (aheadMs: number) => void;
  };

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
  const { env, onSkew } = options;
  const clock = serverClock({ env, transport: transport.handle, ...(onSkew && { onSkew }) });
  return {
    client: createClient({ ...options, transport: clock.transport, host, hold }),
    access,
    namespace: access.namespace,
    now: clock.now,
    async close() {
      hold.close();
      await transport.close();
    },
  };
}

import { Option } from "commander";
import { Namespace } from "../api/builtin/cluster.ts";
import type { Client } from "../client/client.ts";
import { type ClusterFlags, connectTo } from "./cluster.ts";
import { asking, type Supplier, type Typed } from "./completion/asking.ts";

/** What can be completed from whichever instance the flags name, each asked for only when somebody presses Tab. */
export const namespacesThere: Supplier = ({ flags }) =>
  fromCluster(flags, async (client) => names(await client.list(Namespace, { metadataOnly: true })));

export const namespaceOption = (flags: string, description: string): Option =>
  asking(new Option(flags, description), namespacesThere);

/** Asks as the command itself would: the same instance, and the same namespace where none is named. */
export async function fromCluster<T>(
  flags: Typed["flags"] & ClusterFlags,
  ask: (client: Client, namespace: string) => Promise<T>,
): Promise<T> {
  const { client, close, namespace } = await connectTo(flags);
  try {
    return await ask(client, flags["namespace"] ?? namespace);
  } finally {
    await close();
  }
}

export const names = ({
  items,
}: {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}): readonly string[] => items.map(({ metadata }) => metadata.name);

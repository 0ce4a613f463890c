import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Command } from "commander";
import { KubeconfigError } from "../client/config-entry.ts";
import { type ClusterClient, type ConnectOptions, clientFromKubeconfig } from "../client/connect.ts";
import { loadKubeconfig } from "../client/kubeconfig.ts";
import { systemEnv } from "../env/system.ts";
import { asking, type Supplier } from "./completion/asking.ts";
import { Failure } from "./failure.ts";
import { setting } from "./settings.ts";

/** Which instance a command speaks to: a kubeconfig, or the data directory of a running `capstan up`. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly dataDir?: string;
}

export const withClusterFlags = (command: Command): Command =>
  command
    .addOption(setting("--kubeconfig <file>", "kubeconfig of the cluster; KUBECONFIG counts too"))
    .addOption(asking(setting("--context <name>", "context of the kubeconfig"), contextsThere))
    .addOption(setting("--data-dir <dir>", "data directory of a running `capstan up`"));

/** Flags first, then KUBECONFIG, then `capstan up` in this folder, then the user's own kubeconfig. */
export async function connectTo(
  flags: ClusterFlags,
  watched: Pick<ConnectOptions, "metrics" | "onSkew"> = {},
): Promise<ClusterClient> {
  const paths = kubeconfigPaths(flags);
  try {
    return await clientFromKubeconfig({
      env: systemEnv,
      paths,
      ...(flags.context && { context: flags.context }),
      ...watched,
    });
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new Failure(paths.some((path) => existsSync(path)) ? error.message : `${error.message}; ${howToNameOne}`);
  }
}

const contextsThere: Supplier = async ({ flags }) => [
  ...(await loadKubeconfig(kubeconfigPaths(flags))).contexts.keys(),
];

const howToNameOne = "start `capstan up`, or say where it runs with --data-dir, or name a cluster with --kubeconfig";

export function kubeconfigPaths({ kubeconfig, dataDir }: ClusterFlags): readonly string[] {
  if (kubeconfig !== undefined) return [kubeconfig];
  if (dataDir !== undefined) return [join(resolve(dataDir), "kubeconfig")];
  const fromEnvironment = (process.env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  if (fromEnvironment.length > 0) return fromEnvironment;
  const here = join(resolve(".capstan"), "kubeconfig");
  return [existsSync(here) ? here : join(homedir(), ".kube", "config")];
}

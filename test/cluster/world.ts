import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { parseYaml, stringifyYamlDocuments } from "../../src/kube/yaml.ts";

/** The real cluster that this run was started in, as an administrator sees it. */
export interface ClusterWorld {
  readonly client: Client;
  readonly kubeconfig: string;
  /** Our image, as it is known to the node. */
  readonly image: string;
  /** This machine as pods see it. */
  readonly machine: string;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** As `kubectl apply --server-side -f -` does it. */
  apply(...objects: readonly KubeObject[]): Promise<void>;
  /** What a component of the cluster is killed and started again with. */
  restart(component: string): Promise<void>;
  close(): Promise<void>;
}

export const systemNamespace = "capstan-system";

export async function openWorld(): Promise<ClusterWorld> {
  const { KUBECONFIG: kubeconfig, CAPSTAN_CLUSTER_TEST_IMAGE: image } = process.env;
  if (!kubeconfig || !image) throw new Error("run this by `npm run test:cluster`, which starts a cluster first");
  const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [kubeconfig] });
  const kubectl = (args: readonly string[], input = ""): Promise<string> => run("kubectl", args, { kubeconfig, input });
  return {
    client,
    kubeconfig,
    image,
    machine: "10.89.0.1",
    kubectl,
    async apply(...objects) {
      await kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], stringifyYamlDocuments(objects));
    },
    async restart(component) {
      await run("scripts/cluster/cluster", ["--restart", component], { kubeconfig, input: "" });
    },
    close,
  };
}

async function run(
  program: string,
  args: readonly string[],
  { kubeconfig, input }: { readonly kubeconfig: string; readonly input: string },
): Promise<string> {
  const started = promisify(execFile)(program, [...args], {
    timeout: 180_000,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: `${kubeconfig}-cache` },
  });
  started.child.stdin?.end(input);
  return (await started).stdout;
}

/** Real nodes are slower than the embedded one, and slower still on a busy machine. */
const patienceMs = 150_000;

export async function eventually<T>(ask: () => Promise<T>, passes: (answer: T) => void): Promise<T> {
  const deadline = systemEnv.monotonicMs() + patienceMs;
  while (true) {
    try {
      const answer = await ask();
      passes(answer);
      return answer;
    } catch (error) {
      if (systemEnv.monotonicMs() > deadline) throw error;
    }
    await pause(250);
  }
}

export const pause = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));

export const objectsOf = (file: string): readonly KubeObject[] => objectsIn(readFileSync(file, "utf8"));

export function objectsIn(text: string): readonly KubeObject[] {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join("\n"));
  return parsed.documents.flatMap(({ value }) => (value === null ? [] : [value as KubeObject]));
}

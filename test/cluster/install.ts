import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import type { TestContext } from "node:test";
import { ConfigMap, Secret } from "../../src/api/builtin/configuration.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { type ClusterWorld, eventually, systemNamespace } from "./world.ts";

export interface Installed {
  readonly image: string;
  readonly databaseUrl: string;
  readonly databaseCertificate: string;
  /** More CAPSTAN_* settings for every pod. */
  readonly settings: Readonly<Record<string, string>>;
}

/** What the command prints: the program as people run it, bundled. */
export const printed = (...args: readonly string[]): string =>
  execFileSync(process.execPath, ["bin/capstan.mjs", "install", ...args], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });

/** As docs/operations/install.md says it: the database's Secret and the settings first, then what the command prints. */
export async function install(world: ClusterWorld, { image, ...rest }: Installed): Promise<void> {
  await world.kubectl(["apply", "--server-side", "-f", "-"], printed(`--image=${image}`));
  const { databaseUrl, databaseCertificate, settings } = rest;
  await world.client.apply(
    Secret,
    {
      metadata: { name: "capstan-database", namespace: systemNamespace },
      type: "Opaque",
      data: {
        url: base64(`${databaseUrl}&sslrootcert=/etc/capstan/database/ca.crt`),
        "ca.crt": base64(databaseCertificate),
      },
    },
    { fieldManager: "cluster-test", force: true },
  );
  await world.client.apply(
    ConfigMap,
    { metadata: { name: "capstan", namespace: systemNamespace }, data: settings },
    { fieldManager: "cluster-test", force: true },
  );
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Every replica of every Deployment is ready, in the version that is wanted. */
export async function becomesReady(world: ClusterWorld, context: TestContext): Promise<readonly string[]> {
  try {
    const deployments = await eventually(
      () => world.client.list(Deployment, { namespace: systemNamespace }),
      ({ items }) => {
        assert.ok(items.length > 0);
        for (const { metadata, spec, status } of items) {
          const wanted = spec.replicas ?? 1;
          const is = [status?.observedGeneration, status?.updatedReplicas, status?.readyReplicas, status?.replicas];
          assert.deepEqual(is, [metadata.generation, wanted, wanted, wanted], metadata.name);
        }
      },
    );
    return deployments.items.map(({ metadata }) => metadata.name);
  } catch (error) {
    context.diagnostic(await whatPodsSay(world));
    throw error;
  }
}

/** For whoever has to find out why an installation did not come up. */
async function whatPodsSay({ kubectl }: ClusterWorld): Promise<string> {
  const pods = await kubectl(["get", "pods", "-n", systemNamespace, "-o", "wide"]);
  const logs = await kubectl([
    "logs",
    "-n",
    systemNamespace,
    "-l",
    "app.kubernetes.io/name=capstan",
    "--tail=5",
    "--prefix",
  ]);
  const events = await kubectl(["get", "events", "-n", systemNamespace, "--field-selector", "type=Warning"]);
  return [pods, logs, events].join("\n");
}

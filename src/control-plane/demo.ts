import { Namespace } from "../api/builtin/cluster.ts";
import { Deployment } from "../api/builtin/workloads.ts";
import { annotations } from "../api/well-known.ts";
import { isNotFound } from "../client/api-error.ts";
import type { Client } from "../client/client.ts";
import type { KubeObject } from "../kube/object.ts";
import { type DemoServicesOptions, demoNamespace, demoProviders, demoServices } from "./demo-services.ts";
import { applyObjects } from "./install.ts";

/**
 * Lays out the demo, each of its namespaces once: what stands in one afterwards belongs to the person, who may have mended,
 * broken or deleted it, and a start must not undo that. Answers the namespaces that are new. Whoever wants one as it was
 * deletes it and starts again.
 */
export async function layOutDemo(client: Client, objects: readonly KubeObject[]): Promise<ReadonlySet<string>> {
  const isNamespace = ({ kind }: KubeObject): boolean => kind === Namespace.kind;
  const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? "";
  const namespaces = objects.filter(isNamespace);
  const known = new Set<string>();
  for (const { metadata } of namespaces) if (await isLaidOut(client, metadata.name)) known.add(metadata.name);
  const fresh = namespaces.filter(({ metadata }) => !known.has(metadata.name));
  await applyObjects(client, fresh);
  await applyObjects(
    client,
    objects.filter((object) => !isNamespace(object) && !known.has(namespaceOf(object))),
  );
  // Last, so that a start that was cut short is made up for by the next one.
  await applyObjects(client, fresh.map(markedAsLaidOut));
  return new Set(fresh.map(({ metadata }) => metadata.name));
}

/** The demo's providers, unless somebody took them away; the address of the registry may have changed since the last start. */
export async function runDemoServices(
  client: Client,
  fresh: ReadonlySet<string>,
  options: DemoServicesOptions,
): Promise<void> {
  const key = { namespace: demoNamespace, name: demoProviders };
  if (!fresh.has(demoNamespace) && !(await exists(client.get(Deployment, key)))) return;
  await applyObjects(client, demoServices(options));
}

async function isLaidOut(client: Client, name: string): Promise<boolean> {
  const namespace = await orNothing(client.get(Namespace, { name }));
  return namespace?.metadata.annotations?.[annotations.demo] === laidOut;
}

const laidOut = "laid-out";

const markedAsLaidOut = (namespace: KubeObject): KubeObject => ({
  ...namespace,
  metadata: {
    ...namespace.metadata,
    annotations: { ...namespace.metadata.annotations, [annotations.demo]: laidOut },
  },
});

const exists = async (found: Promise<KubeObject>): Promise<boolean> => (await orNothing(found)) !== undefined;

const orNothing = (found: Promise<KubeObject>): Promise<KubeObject | undefined> =>
  found.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

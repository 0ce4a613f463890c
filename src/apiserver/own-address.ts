import type { Env } from "../env/env.ts";
import { deepEqual } from "../kube/equality.ts";
import type { KubeObject, ObjectMeta } from "../kube/object.ts";
import { collectionName } from "./endpoint.ts";
import { storageKey } from "./storage/entry.ts";
import type { Store } from "./storage/store.ts";
import { timestamp } from "./writes/metadata.ts";

/**
 * Says in `default/kubernetes` where this server listens, as every server does for itself. The objects go straight to the
 * store: this address is on loopback, which the API takes from nobody else.
 */
export async function publishOwnAddress(env: Env, store: Store, ip: string, port: number): Promise<void> {
  await Promise.all([...ownObjects(ip, port).map((wanted) => put(env, store, wanted)), targetPort(store, port)]);
}

interface Wanted {
  readonly collection: string;
  readonly object: KubeObject;
}

function ownObjects(ip: string, port: number): readonly Wanted[] {
  return [
    {
      collection: "endpoints",
      object: {
        apiVersion: "v1",
        kind: "Endpoints",
        metadata: { ...name, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
        subsets: [{ addresses: [{ ip }], ports: [{ name: "https", port, protocol: "TCP" }] }],
      } as KubeObject,
    },
    {
      collection: collectionName("discovery.k8s.io", "endpointslices"),
      object: {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { ...name, generation: 1, labels: { "kubernetes.io/service-name": "kubernetes" } },
        addressType: ip.includes(":") ? "IPv6" : "IPv4",
        endpoints: [{ addresses: [ip], conditions: { ready: true } }],
        ports: [{ name: "https", protocol: "TCP", port }],
      } as KubeObject,
    },
  ];
}

const name = { name: "kubernetes", namespace: "default" } as const;
const key = storageKey(name.namespace, name.name);

async function put(env: Env, store: Store, { collection, object }: Wanted): Promise<void> {
  const found = store.latest(collection, key);
  if (!found) {
    const metadata: ObjectMeta = { ...object.metadata, uid: env.uuid(), creationTimestamp: timestamp(env.now()) };
    await store.write(collection, key, undefined, { ...object, metadata });
    return;
  }
  const { metadata, ...said } = found.object;
  const { metadata: wanted, ...content } = object;
  if (deepEqual(said, content)) return;
  const generation = wanted.generation === undefined ? {} : { generation: (metadata.generation ?? 0) + 1 };
  await store.write(collection, key, found, { ...content, metadata: { ...metadata, ...generation } } as KubeObject);
}

interface Service extends KubeObject {
  readonly spec?: { readonly ports?: readonly { readonly targetPort?: unknown }[] };
}

async function targetPort(store: Store, port: number): Promise<void> {
  const found = store.latest("services", key);
  const service = found?.object as Service | undefined;
  const [first, ...others] = service?.spec?.ports ?? [];
  if (!found || !first || first.targetPort === port) return;
  const spec = { ...service?.spec, ports: [{ ...first, targetPort: port }, ...others] };
  await store.write("services", key, found, { ...found.object, spec } as KubeObject);
}

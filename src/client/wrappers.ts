import type { KindRef } from "../kube/kind.ts";
import type { ObjectKey } from "../kube/object.ts";
import type { Client, WriteOptions } from "./client.ts";
import { InvalidRequestError } from "./connection-error.ts";

/** Clients made of clients: each changes one thing about every call and leaves the rest alone. They can be stacked. */
export type Interceptors = { readonly [Method in keyof Client]?: (next: Client[Method]) => Client[Method] };

/** Puts functions around chosen methods: for counting, tracing, or to inject a fault. */
export function intercepting(client: Client, interceptors: Interceptors): Client {
  const around = <Method extends keyof Client>(method: Method): Client[Method] => {
    const next = client[method];
    const interceptor = interceptors[method] as ((next: Client[Method]) => Client[Method]) | undefined;
    return interceptor ? interceptor(next) : next;
  };
  return {
    get: around("get"),
    list: around("list"),
    pages: around("pages"),
    watch: around("watch"),
    create: around("create"),
    update: around("update"),
    patch: around("patch"),
    apply: around("apply"),
    delete: around("delete"),
    deleteCollection: around("deleteCollection"),
    getScale: around("getScale"),
    setScale: around("setScale"),
    log: around("log"),
    evict: around("evict"),
    createToken: around("createToken"),
    discover: around("discover"),
    raw: around("raw"),
  };
}

/** Every write is checked by the server and then forgotten. */
export function dryRunning(client: Client): Client {
  const dryRun = true;
  return intercepting(client, {
    create: (next) => (kind, object, options) => next(kind, object, { ...options, dryRun }),
    update: (next) => (kind, object, options) => next(kind, object, { ...options, dryRun }),
    patch: (next) => (kind, key, patch, options) => next(kind, key, patch, { ...options, dryRun }),
    apply: (next) => (kind, object, options) => next(kind, object, { ...options, dryRun }),
    delete: (next) => (kind, key, options) => next(kind, key, { ...options, dryRun }),
    deleteCollection: (next) => (kind, options) => next(kind, { ...options, dryRun }),
    setScale: (next) => (kind, key, replicas, options) => next(kind, key, replicas, { ...options, dryRun }),
    evict: (next) => (pod, options) => next(pod, { ...options, dryRun }),
    createToken: (next) => (serviceAccount, options) => next(serviceAccount, { ...options, dryRun }),
    raw: (next) => async (request) => {
      // What any other path understands by a dry run is not known, so a write there is not tried.
      if (request.method !== "GET" && request.method !== "HEAD")
        throw new InvalidRequestError(`${request.method} ${request.target}`, "method", "Forbidden: this is a dry run");
      return next(request);
    },
  });
}

/** Writes are owned by this manager unless a call names another. */
export const managedBy = (client: Client, fieldManager: string): Client => withWriteDefaults(client, { fieldManager });

/** Writes treat unknown and duplicate fields like this unless a call says otherwise. */
export const validatingFields = (client: Client, fieldValidation: "Strict" | "Warn" | "Ignore"): Client =>
  withWriteDefaults(client, { fieldValidation });

function withWriteDefaults(client: Client, defaults: WriteOptions): Client {
  return intercepting(client, {
    create: (next) => (kind, object, options) => next(kind, object, { ...defaults, ...options }),
    update: (next) => (kind, object, options) => next(kind, object, { ...defaults, ...options }),
    patch: (next) => (kind, key, patch, options) => next(kind, key, patch, { ...defaults, ...options }),
    apply: (next) => (kind, object, options) => next(kind, object, { ...defaults, ...options }),
    setScale: (next) => (kind, key, replicas, options) => next(kind, key, replicas, { ...defaults, ...options }),
  });
}

/** Namespaced objects are those of one namespace; a call that names another one is refused. */
export function inNamespace(client: Client, namespace: string): Client {
  const place = (kind: Pick<KindRef, "kind" | "namespaced">, given: string | undefined): { namespace?: string } => {
    if (!kind.namespaced) return given === undefined ? {} : { namespace: given };
    if (given !== undefined && given !== "" && given !== namespace)
      throw new InvalidRequestError(
        kind.kind,
        "metadata.namespace",
        `Forbidden: this client is for namespace "${namespace}", not "${given}"`,
      );
    return { namespace };
  };
  const keyOf = (kind: Pick<KindRef, "kind" | "namespaced">, key: ObjectKey): ObjectKey => ({
    ...key,
    ...place(kind, key.namespace),
  });
  const placed = <T extends { readonly metadata: { readonly namespace?: string } }>(kind: KindRef, object: T): T => ({
    ...object,
    metadata: { ...object.metadata, ...place(kind, object.metadata.namespace) },
  });
  const within = <O extends { readonly namespace?: string }>(kind: KindRef, options: O | undefined): O =>
    ({ ...options, ...place(kind, options?.namespace) }) as O;
  const pod = { kind: "Pod", namespaced: true };
  const account = { kind: "ServiceAccount", namespaced: true };
  return intercepting(client, {
    get: (next) => async (kind, key, options) => next(kind, keyOf(kind, key), options),
    list: (next) => async (kind, options) => next(kind, within(kind, options)),
    pages: (next) => (kind, options) => next(kind, within(kind, options)),
    watch: (next) => (kind, options) => next(kind, within(kind, options)),
    create: (next) => async (kind, object, options) => next(kind, placed(kind, object), options),
    update: (next) => async (kind, object, options) => next(kind, placed(kind, object), options),
    patch: (next) => async (kind, key, patch, options) => next(kind, keyOf(kind, key), patch, options),
    apply: (next) => async (kind, object, options) => next(kind, placed(kind, object), options),
    delete: (next) => async (kind, key, options) => next(kind, keyOf(kind, key), options),
    deleteCollection: (next) => async (kind, options) => next(kind, within(kind, options)),
    getScale: (next) => async (kind, key, options) => next(kind, keyOf(kind, key), options),
    setScale: (next) => async (kind, key, replicas, options) => next(kind, keyOf(kind, key), replicas, options),
    log: (next) => (key, options) => next(keyOf(pod, key), options),
    evict: (next) => async (key, options) => next(keyOf(pod, key), options),
    createToken: (next) => async (key, options) => next(keyOf(account, key), options),
  });
}

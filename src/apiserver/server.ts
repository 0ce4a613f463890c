import type { Env } from "../env/env.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import type { KubeObject } from "../kube/object.ts";
import { builtinResources, decodeBuiltin } from "./builtin/index.ts";
import { DefinitionKeeper } from "./crd/definition-keeper.ts";
import { Discovery } from "./discovery/discovery.ts";
import { Endpoint, type Shaped } from "./endpoint.ts";
import type { ServerParts, User } from "./parts.ts";
import { route } from "./pipeline.ts";
import { parseRequestInfo } from "./protocol/request-info.ts";
import { ResourceTable } from "./resource-table.ts";
import { createMemoryLog } from "./storage/commit-log.ts";
import type { HistoryLimits } from "./storage/compactor.ts";
import { createSqliteLog } from "./storage/sqlite-log.ts";
import { Store } from "./storage/store.ts";
import { deleteObject } from "./writes/delete.ts";

export interface ApiServerOptions {
  readonly env: Env;
  /** The SQLite file, or `:memory:` to keep nothing. */
  readonly file: string;
  readonly history?: Partial<HistoryLimits>;
  /** Where clients reach the server, as discovery tells it: `127.0.0.1:6443`. */
  readonly serverAddress?: () => string;
}

/** An embedded Kubernetes API: a handler for requests, whether they come over a socket or from the same process. */
export interface ApiServer {
  readonly handle: HttpHandler;
  close(): Promise<void>;
}

export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { env } = options;
  const store = new Store(
    env,
    options.file === ":memory:" ? createMemoryLog() : createSqliteLog(options.file),
    options.history,
  );
  const resources = new ResourceTable(builtinResources().map(builtinEndpoint));
  const discovery = new Discovery(resources, options.serverAddress ?? (() => ""));
  const parts: ServerParts = {
    env,
    store,
    resources,
    discovery,
    admission: { mutate: () => undefined, validate: () => {} },
    decodeProtobuf: () => ({ kind: "Unreadable", why: "protobuf", shown: "" }),
  };
  const keeper = new DefinitionKeeper(env, store, resources, async (endpoint, key) => {
    await deleteObject(parts, internalRequest(endpoint), key, { dryRun: false, preconditions: {}, given: {} });
  });
  keeper.start();
  await ensureNamespaces(parts);
  return {
    handle: (request: HttpRequest): Promise<HttpResponse> => route(parts, request),
    async close() {
      keeper.stop();
      await store.close();
    },
  };
}

function builtinEndpoint(resource: ReturnType<typeof builtinResources>[number]): Endpoint {
  const endpoint: Endpoint = new Endpoint(resource, {
    isCustom: false,
    shape: (value) => shapeBuiltin(endpoint.apiVersion, resource.kind, value),
  });
  return endpoint;
}

function shapeBuiltin(apiVersion: string, kind: string, value: Readonly<Record<string, unknown>>): Shaped {
  const decoded = decodeBuiltin(apiVersion, kind, value);
  if (!decoded) return { kind: "Refused", message: `no kind "${kind}" is registered for version "${apiVersion}"` };
  if (decoded.kind === "Refused") return decoded;
  const { metadata, ...rest } = decoded.object;
  const object = { ...rest, apiVersion, kind, metadata: metadata ?? {} } as unknown as KubeObject;
  return { kind: "Shaped", object, unknownFields: decoded.unknownFields };
}

const serverUser: User = { name: "system:apiserver", groups: ["system:masters"] };

/** A request of the server to itself, about a resource. */
function internalRequest(endpoint: Endpoint) {
  const { group, version, plural } = endpoint.resource;
  const target = group === "" ? `/api/${version}/${plural}` : `/apis/${group}/${version}/${plural}`;
  const info = parseRequestInfo("DELETE", target);
  if (info.kind !== "Resource") throw new Error(`${target} is not the path of a resource`);
  return {
    http: { method: "DELETE", target, headers: {} },
    info,
    user: serverUser,
    endpoint,
    form: { kind: "Object", yaml: false, pretty: false } as const,
    warnings: [],
  };
}

const systemNamespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** The namespaces that every cluster has. */
async function ensureNamespaces(parts: ServerParts): Promise<void> {
  const missing = systemNamespaces.filter((name) => !parts.store.get("namespaces", name));
  await Promise.all(
    missing.map((name) =>
      route(parts, {
        method: "POST",
        target: "/api/v1/namespaces",
        headers: { "content-type": "application/json", "user-agent": "kube-apiserver/v1.36" },
        body: Buffer.from(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } })),
      }),
    ),
  );
}

import type { OdgmConfig } from "../../../api/odgm.ts";
import { functionName } from "../names.ts";
import { isWasm } from "./functions.ts";
import type { RenderInput } from "./template.ts";

/** What the data store is told to create, in the words of its own API. */
export interface CollectionRequest {
  readonly name: string;
  readonly partition_count: number;
  readonly replica_count: number;
  readonly shard_assignments: readonly Assignment[];
  readonly shard_type: string;
  readonly options: Readonly<Record<string, string>>;
  readonly invocations: Invocations | null;
}

interface Invocations {
  readonly fn_routes: Readonly<Record<string, Route>>;
  readonly disabled_fn: readonly string[];
}

interface Route {
  readonly url: string;
  readonly stateless: boolean;
  readonly standby: boolean;
  readonly active_group: readonly number[];
  readonly wasm_module_url?: string;
}

type Assignment = NonNullable<NonNullable<OdgmConfig["collection_assignments"]>[string]>[number];

export function collectionRequests(input: RenderInput): readonly CollectionRequest[] {
  const config = input.classRuntime.spec.odgm_config;
  const names = config?.collections ?? [];
  if (config == null || names.length === 0) return [];
  const invocations = invocationsOf(input);
  return names.map((name) => ({
    name,
    partition_count: config.partition_count ?? 1,
    replica_count: config.replica_count ?? 1,
    shard_assignments: validAssignments(config, name),
    shard_type: config.shard_type || "none",
    options: Object.fromEntries(Object.entries(config.options ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))),
    invocations,
  }));
}

/** Stated routes win; every other function is reached through its Service, or inside the store if it is a module. */
function invocationsOf({ classRuntime }: RenderInput): Invocations | null {
  const { metadata, spec } = classRuntime;
  const stated = spec.odgm_config?.invocations;
  const functions = spec.functions ?? [];
  const routes = new Map<string, Route>();
  for (const [key, route] of Object.entries(stated?.fn_routes ?? {})) {
    const named = functions.findIndex(({ function_key }) => function_key === route.function_key);
    const predicted =
      named < 0 ? "" : serviceUrl(functionName(metadata.name, named, functions.length), metadata.namespace);
    routes.set(key, {
      url: route.url || predicted,
      stateless: route.stateless ?? true,
      standby: route.standby ?? false,
      active_group: route.active_group ?? [],
      ...(route.wasm_module_url && { wasm_module_url: route.wasm_module_url }),
    });
  }
  for (const [index, definition] of functions.entries()) {
    const key = lastSegment(definition.function_key);
    if (routes.has(key)) continue;
    const module = definition.provision_config?.wasm_module_url;
    const base = { stateless: true, standby: false, active_group: [] };
    routes.set(
      key,
      isWasm(definition) && module
        ? { url: `wasm://${definition.function_key}`, ...base, wasm_module_url: module }
        : { url: serviceUrl(functionName(metadata.name, index, functions.length), metadata.namespace), ...base },
    );
  }
  const disabled = stated?.disabled_fn ?? [];
  if (routes.size === 0 && disabled.length === 0) return null;
  const sorted = [...routes].sort(([a], [b]) => (a < b ? -1 : 1));
  return { fn_routes: Object.fromEntries(sorted), disabled_fn: disabled };
}

export const serviceUrl = (service: string, namespace: string | undefined): string =>
  `http://${service}.${namespace ?? "default"}.svc.cluster.local/`;

const lastSegment = (key: string): string => key.slice(key.lastIndexOf(".") + 1);

/** Assignments that contradict the numbers beside them are left to the store, which then decides itself. */
function validAssignments(config: OdgmConfig, collection: string): readonly Assignment[] {
  const stated = config.collection_assignments?.[collection] ?? [];
  return assignmentProblem(config, stated) === undefined ? stated : [];
}

export function assignmentProblem(config: OdgmConfig, stated: readonly Assignment[]): string | undefined {
  if (stated.length === 0) return undefined;
  if (stated.length !== (config.partition_count ?? 1)) return "there is not one assignment for each partition";
  const replicas = config.replica_count ?? 1;
  const seen = new Set<number>();
  for (const { primary, replica = [], shard_ids: shards = [] } of stated) {
    if (replica.length !== replicas || shards.length !== replicas) return "an assignment has not replica_count members";
    if (primary !== undefined && primary !== null && !shards.includes(primary))
      return "a primary is not among its shards";
    for (const shard of shards) {
      if (seen.has(shard)) return `shard ${shard} is assigned twice`;
      seen.add(shard);
    }
  }
  return undefined;
}

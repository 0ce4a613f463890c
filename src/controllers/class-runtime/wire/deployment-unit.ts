import type { ClassRuntime } from "../../../api/class-runtime.ts";
import { annotations, labels } from "../../../api/well-known.ts";
import type { ApplyObject } from "../../../client/client.ts";
import { safeLabelValue } from "../../../kube/names.ts";
import type { Value } from "./protobuf.ts";

/** Between the wire's DeploymentUnit and a ClassRuntime. */

/** As upstream makes names: lower case, everything else a hyphen. */
export const sanitizeId = (id: string): string =>
  id
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")
    .replace(/^-+|-+$/g, "");

const targetEnvAnnotation = "oaas.io/target-env";
const unitIdAnnotation = "oaas.io/deployment-unit-id";

export function toClassRuntime(
  unit: Value,
  namespace: string,
  correlationId: string | undefined,
): ApplyObject<ClassRuntime> {
  const id = textOf(unit["id"]);
  const name = sanitizeId(id);
  const functions = listOf(unit["functions"]).filter(isDeployable).map(toFunction);
  const packageName = textOf(unit["package_name"]);
  const classKey = textOf(unit["class_key"]);
  const rps = functions.flatMap(({ qos_requirement: qos }) => (qos && qos.throughput > 0 ? [qos.throughput] : []));
  const odgm = toOdgm(unit, name, functions.length > 0);
  const template = textOf(unit["selected_template"]);
  return {
    metadata: {
      name,
      namespace,
      labels: { [labels.deploymentId]: safeLabelValue(name) },
      annotations: {
        [unitIdAnnotation]: id,
        ...(textOf(unit["target_env"]) && { [targetEnvAnnotation]: textOf(unit["target_env"]) }),
        ...(correlationId && { [annotations.correlationId]: correlationId }),
      },
    },
    spec: {
      package_class_key: [packageName, classKey].filter(Boolean).join("."),
      ...(template && { selected_template: template }),
      functions,
      ...(odgm && { odgm_config: odgm }),
      ...(rps.length > 0 && { nfr_requirements: { min_throughput_rps: Math.max(...rps) } }),
      ...(unit["telemetry"] ? { telemetry: unit["telemetry"] as NonNullable<ClassRuntime["spec"]["telemetry"]> } : {}),
    },
  };
}

type ClassFunction = NonNullable<ClassRuntime["spec"]["functions"]>[number];

/** Upstream drops functions that have neither an image nor a module. */
function isDeployable(definition: Value): boolean {
  const provision = (definition["provision_config"] ?? {}) as Value;
  return textOf(provision["container_image"]) !== "" || textOf(provision["wasm_module_url"]) !== "";
}

function toFunction(definition: Value): ClassFunction {
  const { function_key, nfr_requirements, provision_config, ...rest } = definition;
  const nfr = (nfr_requirements ?? {}) as { readonly min_throughput_rps?: number; readonly availability?: number };
  const asked = nfr.min_throughput_rps !== undefined || nfr.availability !== undefined;
  return {
    ...(rest as Partial<ClassFunction>),
    function_key: textOf(function_key),
    provision_config: { max_concurrency: 0, need_http2: false, ...(provision_config as object) },
    ...(asked && { qos_requirement: { throughput: nfr.min_throughput_rps ?? 0, availability: nfr.availability ?? 0 } }),
  };
}

type OdgmConfig = NonNullable<ClassRuntime["spec"]["odgm_config"]>;

/** A class with functions has a collection of its own name if it does not say otherwise; bindings become routes. */
function toOdgm(unit: Value, name: string, hasFunctions: boolean): OdgmConfig | undefined {
  const given = unit["odgm_config"] as Value | undefined;
  if (given === undefined && !hasFunctions) return undefined;
  const {
    odgm_node_id: nodeId,
    env_node_ids: nodes,
    collection_assignments: assignments,
    ...rest
  } = given ?? {
    collections: [name],
    shard_type: "mst",
  };
  const stated = (rest["invocations"] ?? {}) as NonNullable<OdgmConfig["invocations"]>;
  const routes = Object.fromEntries(
    listOf(unit["function_bindings"]).map((binding) => [
      textOf(binding["name"]),
      { url: "", function_key: textOf(binding["function_key"]), stateless: binding["stateless"] === true },
    ]),
  );
  const lists = <T>(map: unknown, key: string): Record<string, T> =>
    Object.fromEntries(
      Object.entries((map ?? {}) as Record<string, Value>).map(([id, entry]) => [id, (entry[key] ?? []) as T]),
    );
  return {
    partition_count: 1,
    replica_count: 1,
    ...(rest as Partial<OdgmConfig>),
    invocations: { ...stated, fn_routes: { ...routes, ...stated.fn_routes } },
    ...(nodeId !== undefined && { node_id: nodeId as number }),
    ...(nodes !== undefined && { env_node_ids: lists<number[]>(nodes, "ids") }),
    ...(assignments !== undefined && {
      collection_assignments: lists<NonNullable<OdgmConfig["collection_assignments"]>[string]>(
        assignments,
        "assignments",
      ),
    }),
  };
}

export function toUnit(classRuntime: ClassRuntime): Value {
  const { metadata, spec } = classRuntime;
  const { packageName, classKey } = classKeyOf(classRuntime);
  return {
    id: unitId(classRuntime),
    package_name: packageName,
    class_key: classKey,
    functions: (spec.functions ?? []).map(({ qos_requirement: qos, ...definition }) => ({
      ...definition,
      ...(qos && { nfr_requirements: { min_throughput_rps: qos.throughput, availability: qos.availability } }),
    })),
    target_env: targetEnv(classRuntime),
    created_at: timestamp(metadata.creationTimestamp),
    ...(spec.odgm_config && { odgm_config: fromOdgm(spec.odgm_config) }),
    ...(spec.selected_template && { selected_template: spec.selected_template }),
    ...(spec.telemetry && { telemetry: spec.telemetry }),
  };
}

function fromOdgm({ node_id: nodeId, env_node_ids: nodes, collection_assignments: sets, ...rest }: OdgmConfig): Value {
  const wrapped = (map: Readonly<Record<string, unknown>>, key: string): Value =>
    Object.fromEntries(Object.entries(map).map(([id, list]) => [id, { [key]: list }]));
  return {
    ...rest,
    ...(nodeId !== undefined && { odgm_node_id: nodeId }),
    ...(nodes && { env_node_ids: wrapped(nodes, "ids") }),
    ...(sets && { collection_assignments: wrapped(sets, "assignments") }),
  };
}

/** `package.Class`: the class is what follows the last dot. */
export function classKeyOf({ spec }: ClassRuntime): { readonly packageName: string; readonly classKey: string } {
  const key = spec.package_class_key ?? "";
  const dot = key.lastIndexOf(".");
  return { packageName: dot < 0 ? "" : key.slice(0, dot), classKey: key.slice(dot + 1) };
}

/** The id exactly as it was deployed; absent for a class runtime that came another way. */
export const deployedId = ({ metadata }: ClassRuntime): string | undefined => metadata.annotations?.[unitIdAnnotation];
export const unitId = (classRuntime: ClassRuntime): string => deployedId(classRuntime) ?? classRuntime.metadata.name;
export const targetEnv = ({ metadata }: ClassRuntime): string => metadata.annotations?.[targetEnvAnnotation] ?? "";

export function timestamp(text: string | undefined): { readonly seconds: number; readonly nanos: number } {
  const ms = Date.parse(text ?? "");
  return { seconds: Number.isNaN(ms) ? 0 : Math.floor(ms / 1000), nanos: 0 };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const listOf = (value: unknown): readonly Value[] => (Array.isArray(value) ? value : []);

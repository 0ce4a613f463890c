import type { ClassRuntime } from "../../../api/class-runtime.ts";
import { odgmServiceName } from "../names.ts";
import type { DeployedFunction, RenderInput, Router } from "./template.ts";

/** The environment contract of functions and of the data store. */
export interface Variable {
  readonly name: string;
  readonly value?: string;
}

export const zenohPort = 17447;
export const odgmPort = 8080;

/** What a function finds in its environment; its own `config` wins over ours. */
export function functionEnvironment(
  { definition }: DeployedFunction,
  input: RenderInput,
  sampler: Sampler = "parentbased_traceidratio",
): readonly Variable[] {
  const { classRuntime, routers } = input;
  return sorted([
    ...Object.entries(definition.config ?? {}),
    ...(hasOdgm(input)
      ? [
          ["ODGM_ENABLED", "true"] as const,
          ["ODGM_SERVICE", `${odgmServiceName(classRuntime.metadata.name)}:${odgmPort}`] as const,
        ]
      : []),
    ...peers(routers, "client"),
    ...telemetryEnvironment(input, sampler),
  ]);
}

export const hasOdgm = ({ classRuntime, settings }: Pick<RenderInput, "classRuntime" | "settings">): boolean =>
  settings.features.odgm && (classRuntime.spec.addons ?? ["odgm"]).includes("odgm");

export function peers(routers: readonly Router[], mode: "client" | "peer"): readonly (readonly [string, string])[] {
  if (routers.length === 0) return [];
  const addresses = routers.map(({ service, port }) => `tcp/${service}:${port}`).join(",");
  return [
    ["OPRC_ZENOH_MODE", mode],
    ["OPRC_ZENOH_PEERS", addresses],
  ];
}

export type Sampler = "parentbased_traceidratio" | "traceidratio";

export function telemetryEnvironment(
  { classRuntime, settings }: RenderInput,
  sampler: Sampler,
): readonly (readonly [string, string])[] {
  const { telemetry } = classRuntime.spec;
  if (!isTelemetryWanted(classRuntime) || telemetry === undefined) return [];
  const { endpoint } = settings.telemetry;
  const rate = telemetry.sampling_rate;
  const attributes = Object.entries(telemetry.resource_attributes ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...(endpoint === undefined ? [] : [["OTEL_EXPORTER_OTLP_ENDPOINT", endpoint] as const]),
    ["OTEL_SERVICE_NAME", telemetry.service_name || classRuntime.metadata.name],
    ["OTEL_TRACES_ENABLED", String(telemetry.traces)],
    ["OTEL_METRICS_ENABLED", String(telemetry.metrics)],
    ["OTEL_LOGS_ENABLED", String(telemetry.logs)],
    ...(rate < 1
      ? [["OTEL_TRACES_SAMPLER", sampler] as const, ["OTEL_TRACES_SAMPLER_ARG", String(rate)] as const]
      : []),
    ...(attributes.length > 0
      ? [["OTEL_RESOURCE_ATTRIBUTES", attributes.map(([key, value]) => `${key}=${value}`).join(",")] as const]
      : []),
  ];
}

export const isTelemetryWanted = ({ spec }: ClassRuntime): boolean => spec.telemetry?.enabled === true;

/** By name, the first of a name wins. The server drops an empty value, so it is not written at all. */
export function sorted(entries: readonly (readonly [name: string, value: string])[]): readonly Variable[] {
  const first = new Map<string, string>();
  for (const [name, value] of entries) if (!first.has(name)) first.set(name, value);
  return [...first]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => (value === "" ? { name } : { name, value }));
}

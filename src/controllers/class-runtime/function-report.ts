import type { ClassRuntime } from "../../api/class-runtime.ts";
import type { ChildState } from "./evaluate.ts";
import { odgmServiceName } from "./names.ts";
import type { Anomaly } from "./pod-trouble.ts";
import { isWasm } from "./templates/functions.ts";
import { serviceUrl } from "./templates/odgm-collections.ts";
import type { Template } from "./templates/template.ts";

/** What is known of one function, keyed as in the spec. */
export interface FunctionReport {
  readonly function_key: string;
  readonly service: string;
  readonly port: number;
  readonly predicted_url: string;
  readonly template: string;
  readonly observed_url?: string;
  readonly ready: boolean;
  readonly reason?: string;
  readonly message?: string;
}

export function reportFunctions(
  classRuntime: ClassRuntime,
  template: Template | undefined,
  states: readonly ChildState[],
  anomalies: readonly Anomaly[],
): readonly FunctionReport[] {
  const { metadata, spec } = classRuntime;
  const functions = spec.functions ?? [];
  const byFunction = Map.groupBy(states, ({ wanted }) => wanted.functionKey);
  return functions.map((definition, index) => {
    const key = definition.function_key;
    const wasm = isWasm(definition);
    // A module runs inside the data store, so it is as ready as that is.
    const own = wasm ? (byFunction.get(undefined) ?? []) : (byFunction.get(key) ?? []);
    const service = wasm
      ? odgmServiceName(metadata.name)
      : (template?.functionName(metadata.name, index, functions.length) ?? metadata.name);
    const url = own.find(({ readiness }) => readiness.url !== undefined)?.readiness.url;
    return {
      function_key: key,
      service,
      port: 80,
      predicted_url: wasm ? `wasm://${key}` : serviceUrl(service, metadata.namespace),
      template: template?.id ?? "",
      ...(url !== undefined && { observed_url: url }),
      ...readinessOf(
        own,
        anomalies.find(({ functionKey }) => functionKey === key),
      ),
    };
  });
}

function readinessOf(
  own: readonly ChildState[],
  trouble: Anomaly | undefined,
): Pick<FunctionReport, "ready" | "reason" | "message"> {
  if (trouble) return { ready: false, reason: trouble.reason, message: trouble.message };
  const [waiting] = own.filter(({ counts, readiness }) => counts && !readiness.ready);
  if (waiting) {
    const { reason = "NotReady", message = "" } = waiting.readiness;
    return { ready: false, reason, message };
  }
  return own.length > 0
    ? { ready: true }
    : { ready: false, reason: "NotDeployed", message: "nothing is deployed for it" };
}

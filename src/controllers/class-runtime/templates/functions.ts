import type { ClassFunction } from "../../../api/class-function.ts";
import type { ClassRuntime } from "../../../api/class-runtime.ts";
import { formatQuantity, parseQuantity } from "../../../kube/quantity.ts";
import { isEnforced } from "../enforcement-mode.ts";
import { type HeldValues, resourceValues } from "../nfr/held-values.ts";
import { hasOdgm } from "./environment.ts";
import type { DeployedFunction, RenderInput, Template } from "./template.ts";

export type FunctionsRead =
  | { readonly ok: true; readonly functions: readonly DeployedFunction[] }
  | { readonly ok: false; readonly message: string };

/** The functions that need containers, with everything about them checked once. */
export function deployedFunctions(
  input: Pick<RenderInput, "classRuntime" | "settings">,
  functionName: Template["functionName"],
  defaultPort: number,
): FunctionsRead {
  const { classRuntime } = input;
  const { metadata, spec } = classRuntime;
  const all = spec.functions ?? [];
  const functions: DeployedFunction[] = [];
  const problems: string[] = [];
  for (const [index, definition] of all.entries()) {
    const provision = definition.provision_config;
    const path = `spec.functions[${index}].provision_config`;
    if (isWasm(definition)) {
      if (!hasOdgm(input)) problems.push(`${path}.wasm_module_url of ${definition.function_key}: ${homeless}`);
      continue;
    }
    const image = imageOf(definition);
    if (image === undefined) {
      problems.push(
        `function image must be provided in ClassRuntime spec: ${path}.container_image of ${definition.function_key}`,
      );
      continue;
    }
    const minScale = provision?.min_scale ?? definition.replicas ?? undefined;
    const maxScale = provision?.max_scale ?? undefined;
    const stated = resourcesOf(provision, path, problems);
    const { resources, enforcedResources } = splitResources(stated, classRuntime);
    functions.push({
      definition,
      index,
      name: functionName(metadata.name, index, all.length),
      image,
      port: provision?.port || defaultPort,
      ...(minScale !== undefined && { minScale }),
      ...(maxScale !== undefined && { maxScale }),
      ...(resources && { resources }),
      enforcedResources,
    });
  }
  if (problems.length === 0) return { ok: true, functions };
  const more = problems.length - maxNamedProblems;
  return {
    ok: false,
    message: `${problems.slice(0, maxNamedProblems).join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
  };
}

const maxNamedProblems = 4;

const homeless = "a module runs inside the data store, and this class has none; odgm must be among spec.addons";

/** A WebAssembly module is run by the data store itself; there is nothing to deploy for it. */
export const isWasm = (definition: ClassFunction): boolean =>
  (definition.provision_config?.wasm_module_url ?? "") !== "" && imageOf(definition) === undefined;

const imageOf = (definition: ClassFunction): string | undefined =>
  definition.provision_config?.container_image || definition.container_image || undefined;

type Provision = NonNullable<ClassFunction["provision_config"]>;

/** Quantities are written in their canonical form, so that what the server answers can be compared with it. */
function resourcesOf(
  provision: Provision | undefined,
  path: string,
  problems: string[],
): DeployedFunction["resources"] | undefined {
  const quantities = (fields: readonly (readonly [resource: string, field: keyof Provision])[]) => {
    const entries: [string, string][] = [];
    for (const [resource, field] of fields) {
      const text = provision?.[field];
      if (typeof text !== "string" || text === "") continue;
      const quantity = parseQuantity(text);
      if (quantity.ok)
        entries.push([resource, formatQuantity({ nanos: quantity.value.nanos, format: quantity.value.format })]);
      else problems.push(`${path}.${field}: ${JSON.stringify(text)} is not a quantity such as 250m or 128Mi`);
    }
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  };
  const requests = quantities([
    ["cpu", "cpu_request"],
    ["memory", "memory_request"],
  ]);
  const limits = quantities([
    ["cpu", "cpu_limit"],
    ["memory", "memory_limit"],
  ]);
  return requests || limits ? { ...(requests && { requests }), ...(limits && { limits }) } : undefined;
}

/** Dimensions that are enforced belong to the enforcer; stating them as well would fight it. */
function splitResources(
  stated: DeployedFunction["resources"] | undefined,
  classRuntime: ClassRuntime,
): { readonly resources?: NonNullable<DeployedFunction["resources"]>; readonly enforcedResources: HeldValues } {
  if (stated === undefined) return { enforcedResources: {} };
  const cpu = isEnforced(classRuntime, "cpu");
  const memory = isEnforced(classRuntime, "memory");
  const { cpuMillis, memoryBytes, memoryLimitBytes } = resourceValues(stated);
  const keep = (from: typeof stated.requests, dropCpu: boolean) =>
    Object.entries(from ?? {}).filter(([name]) => !(memory && name === "memory") && !(dropCpu && name === "cpu"));
  const requests = keep(stated.requests, cpu);
  const limits = keep(stated.limits, false);
  return {
    ...(requests.length + limits.length > 0 && {
      resources: {
        ...(requests.length > 0 && { requests: Object.fromEntries(requests) }),
        ...(limits.length > 0 && { limits: Object.fromEntries(limits) }),
      },
    }),
    enforcedResources: {
      ...(cpu && cpuMillis !== undefined && { cpuMillis }),
      ...(memory && memoryBytes !== undefined && { memoryBytes }),
      ...(memory && memoryLimitBytes !== undefined && { memoryLimitBytes }),
    },
  };
}

import type { ClassFunction } from "../../../api/class-function.ts";
import type { ClassRuntime } from "../../../api/class-runtime.ts";
import { formatQuantity, parseQuantity } from "../../../kube/quantity.ts";
import type { DeployedFunction, Template } from "./template.ts";

export type FunctionsRead =
  | { readonly ok: true; readonly functions: readonly DeployedFunction[] }
  | { readonly ok: false; readonly message: string };

/** The functions that need containers, with everything about them checked once. */
export function deployedFunctions(
  { metadata, spec }: ClassRuntime,
  functionName: Template["functionName"],
  defaultPort: number,
): FunctionsRead {
  const all = spec.functions ?? [];
  const functions: DeployedFunction[] = [];
  const problems: string[] = [];
  for (const [index, definition] of all.entries()) {
    if (isWasm(definition)) continue;
    const provision = definition.provision_config;
    const path = `spec.functions[${index}].provision_config`;
    const image = imageOf(definition);
    if (image === undefined) {
      problems.push(
        `function image must be provided in ClassRuntime spec: ${path}.container_image of ${definition.function_key}`,
      );
      continue;
    }
    const minScale = provision?.min_scale ?? definition.replicas ?? undefined;
    const maxScale = provision?.max_scale ?? undefined;
    const resources = resourcesOf(provision, path, problems);
    functions.push({
      definition,
      index,
      name: functionName(metadata.name, index, all.length),
      image,
      port: provision?.port || defaultPort,
      ...(minScale !== undefined && { minScale }),
      ...(maxScale !== undefined && { maxScale }),
      ...(resources && { resources }),
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

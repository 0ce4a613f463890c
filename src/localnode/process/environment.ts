import type { Pod } from "../../api/builtin/pod.ts";
import type { Container } from "../../api/builtin/pod-spec.ts";
import { type ConfigSource, NotStartable } from "./config-source.ts";
import { downwardField } from "./downward.ts";
import { expandVariables } from "./expand.ts";

export interface EnvironmentRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly source: ConfigSource;
  readonly addresses: { readonly host: string; readonly pod: string };
  /** What the node gives to every container; the container's own variables win. */
  readonly given: Readonly<Record<string, string>>;
}

/** The variables of a container, in the order of a kubelet: the node's, then `envFrom`, then `env`. */
export async function environmentOf(request: EnvironmentRequest): Promise<Readonly<Record<string, string>>> {
  const { container, source, given } = request;
  const variables: Record<string, string> = { ...given };
  for (const { prefix = "", configMapRef, secretRef } of container.envFrom ?? []) {
    for (const [kind, reference] of [
      ["configmap", configMapRef],
      ["secret", secretRef],
    ] as const) {
      if (reference?.name === undefined) continue;
      const entries = await source.entries(kind, reference.name, reference.optional === true);
      for (const [key, value] of entries ?? []) variables[prefix + key] = value.toString();
    }
  }
  for (const variable of container.env ?? []) {
    const value =
      variable.valueFrom === undefined
        ? expandVariables(variable.value ?? "", variables)
        : await referencedValue(request, variable);
    if (value !== undefined) variables[variable.name] = value;
  }
  return variables;
}

type Variable = NonNullable<Container["env"]>[number];

async function referencedValue(
  { pod, container, source, addresses }: EnvironmentRequest,
  variable: Variable,
): Promise<string | undefined> {
  const { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef } = variable.valueFrom ?? {};
  if (fieldRef !== undefined) {
    const value = downwardField(pod, fieldRef.fieldPath, addresses);
    if (value === undefined) throw refusal(`unsupported fieldPath: ${fieldRef.fieldPath}`);
    return value;
  }
  if (resourceFieldRef !== undefined) {
    const [list, name] = resourceFieldRef.resource.split(".");
    const named = pod.spec.containers.find((one) => one.name === (resourceFieldRef.containerName ?? container.name));
    return String(named?.resources?.[list as "limits" | "requests"]?.[name ?? ""] ?? "0");
  }
  for (const [kind, reference] of [
    ["configmap", configMapKeyRef],
    ["secret", secretKeyRef],
  ] as const) {
    if (reference === undefined) continue;
    const entries = await source.entries(kind, reference.name ?? "", reference.optional === true);
    const value = entries?.get(reference.key);
    if (value !== undefined) return value.toString();
    if (reference.optional) return undefined;
    const what = kind === "secret" ? "Secret" : "ConfigMap";
    throw refusal(`couldn't find key ${reference.key} in ${what} ${pod.metadata.namespace}/${reference.name}`);
  }
  return undefined;
}

const refusal = (message: string): NotStartable => new NotStartable("CreateContainerConfigError", message);

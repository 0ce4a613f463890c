import { parse, stringify } from "yaml";
import type { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";

/** What an execution changes: two texts to be compared. */
export interface Comparison {
  readonly title: string;
  readonly before: string;
  readonly after: string;
}

/** The object that an execution is about, where it can be read from. */
export interface Target {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** In the Kubernetes API. */
  readonly path: string;
}

const places: Readonly<Record<string, readonly [root: string, plural: string]>> = {
  Deployment: ["/apis/apps/v1", "deployments"],
  StatefulSet: ["/apis/apps/v1", "statefulsets"],
  DaemonSet: ["/apis/apps/v1", "daemonsets"],
  ConfigMap: ["/api/v1", "configmaps"],
  Pod: ["/api/v1", "pods"],
  Node: ["/api/v1", "nodes"],
  PersistentVolumeClaim: ["/api/v1", "persistentvolumeclaims"],
  HorizontalPodAutoscaler: ["/apis/autoscaling/v2", "horizontalpodautoscalers"],
  NetworkPolicy: ["/apis/networking.k8s.io/v1", "networkpolicies"],
  Service: ["/api/v1", "services"],
};

/** The parameters' names for the target, and the kind behind each. A Secret's content is never asked for. */
const targetNames: readonly (readonly [parameter: string, kind: string])[] = [
  ["deployment", "Deployment"],
  ["statefulSet", "StatefulSet"],
  ["statefulset", "StatefulSet"],
  ["daemonSet", "DaemonSet"],
  ["configMap", "ConfigMap"],
  ["pod", "Pod"],
  ["node", "Node"],
  ["hpa", "HorizontalPodAutoscaler"],
  ["pvc", "PersistentVolumeClaim"],
  ["networkPolicy", "NetworkPolicy"],
];

type Values = Readonly<Record<string, unknown>>;

export const parametersOf = ({ spec }: KubernetesExecution): Values =>
  (Object.values(spec.parameters ?? {}).find((value) => typeof value === "object" && value !== null) as
    | Values
    | undefined) ?? {};

export function targetOf(execution: KubernetesExecution): Target | undefined {
  const parameters = parametersOf(execution);
  if (typeof parameters["manifest"] === "string") return targetOfManifest(parameters["manifest"]);
  for (const [parameter, kind] of targetNames) {
    const name = parameters[parameter];
    if (typeof name === "string" && name !== "")
      return target(kind, textOf(parameters["namespace"]) ?? execution.spec.targetNamespace, name);
  }
  return undefined;
}

function targetOfManifest(manifest: string): Target | undefined {
  const { kind, metadata } = readYaml(manifest) as { kind?: string; metadata?: { name?: string; namespace?: string } };
  return kind && metadata?.name ? target(kind, metadata.namespace, metadata.name) : undefined;
}

function target(kind: string, namespace: string | undefined, name: string): Target | undefined {
  const place = places[kind];
  if (!place) return undefined;
  const [root, plural] = place;
  const scope = namespace && kind !== "Node" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return { kind, name, path: `${root}${scope}/${plural}/${encodeURIComponent(name)}`, ...(namespace && { namespace }) };
}

/** What it did, as it reported; before that, what it would do to the object as it is now. */
export function comparisonsOf(execution: KubernetesExecution, current: Values | undefined): readonly Comparison[] {
  const results = execution.status?.executionResults;
  const affected = results?.resourcesAffected ?? results?.affectedResources ?? [];
  if (affected.length > 0) {
    const reported = affected.map(({ kind, namespace, name, action, before = "", after = "" }) => ({
      title: `${kind} ${namespace ? `${namespace}/` : ""}${name}: ${action}`,
      before: perLine(before),
      after: perLine(after),
    }));
    return [...reported, ...captured(execution, current)];
  }
  return current ? expected(execution, current) : [];
}

const perLine = (text: string): string => text.replaceAll(", ", "\n");

/** What was captured for a rollback, beside what the object says now. */
function captured(execution: KubernetesExecution, current: Values | undefined): readonly Comparison[] {
  const previous = execution.status?.rollbackInformation?.rollbackParameters?.restorePreviousConfig;
  if (!previous || !current) return [];
  const now = (current[previous.resourceKind === "ConfigMap" ? "data" : "spec"] ?? {}) as Values;
  return [
    {
      title: `${previous.resourceKind} ${previous.name}: captured before it ran, and now`,
      before: yamlOf(previous.previousSpec),
      after: yamlOf(pick(now, Object.keys(now))),
    },
  ];
}

function expected(execution: KubernetesExecution, current: Values): readonly Comparison[] {
  const parameters = parametersOf(execution);
  const title = "What would change";
  const spec = (current["spec"] ?? {}) as Values;
  switch (execution.spec.action) {
    case "scale_deployment":
    case "scale_statefulset":
      return [{ title, before: `replicas: ${spec["replicas"] ?? 1}`, after: `replicas: ${parameters["replicas"]}` }];
    case "update_configmap": {
      const data = (parameters["data"] ?? {}) as Values;
      const before = pick((current["data"] ?? {}) as Values, Object.keys(data));
      return [{ title, before: yamlOf(before), after: yamlOf(data) }];
    }
    case "cordon_node":
    case "uncordon_node": {
      const after = execution.spec.action === "cordon_node";
      return [{ title, before: `unschedulable: ${spec["unschedulable"] ?? false}`, after: `unschedulable: ${after}` }];
    }
    case "apply_manifest": {
      const wanted = readYaml(textOf(parameters["manifest"]) ?? "") as Values;
      return [{ title, before: yamlOf(alike(current, wanted)), after: yamlOf(wanted) }];
    }
    default:
      return [];
  }
}

/** Only what the other side speaks of, so that a comparison does not drown in defaults. */
function alike(value: unknown, shape: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (typeof shape !== "object" || shape === null || Array.isArray(shape)) return value;
  return Object.fromEntries(
    Object.entries(shape).flatMap(([key, part]) => {
      const found = (value as Values)[key];
      return found === undefined ? [] : [[key, alike(found, part)]];
    }),
  );
}

const pick = (value: Values, keys: readonly string[]): Values =>
  Object.fromEntries(keys.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]]])));

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const yamlOf = (value: unknown): string => stringify(value, { sortMapEntries: true });

function readYaml(text: string): unknown {
  try {
    const value: unknown = parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

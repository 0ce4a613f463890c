import type { ServiceMonitor } from "../../../api/builtin/monitoring.ts";
import type { HorizontalPodAutoscaler } from "../../../api/builtin/scaling.ts";
import type { Service } from "../../../api/builtin/service.ts";
import type { Deployment } from "../../../api/builtin/workloads.ts";
import { labels } from "../../../api/well-known.ts";
import type { ApplyObject } from "../../../client/client.ts";
import { isEnforced } from "../enforcement-mode.ts";
import { childMetadata, ownLabels } from "../labels.ts";
import { functionName } from "../names.ts";
import type { HeldValues } from "../nfr/held-values.ts";
import { functionEnvironment } from "./environment.ts";
import { deployedFunctions } from "./functions.ts";
import { odgmChildren } from "./odgm.ts";
import type { DeployedFunction, Rendered, RenderInput, WantedChild } from "./template.ts";

/** A Deployment and a Service for each function: what dev, edge and k8s_deployment share. */
export function renderDeployments(input: RenderInput, odgmImage: string): Rendered {
  const read = deployedFunctions(input, functionName, defaultFunctionPort);
  if (!read.ok) return read;
  return {
    ok: true,
    children: [
      ...read.functions.flatMap((deployed) => functionChildren(deployed, input)),
      ...odgmChildren(input, odgmImage),
    ],
  };
}

const defaultFunctionPort = 80;
export const servicePort = 80;

function functionChildren(deployed: DeployedFunction, input: RenderInput): readonly WantedChild[] {
  const { name, definition } = deployed;
  const child = (kind: WantedChild["kind"], object: WantedChild["object"]): WantedChild => ({
    kind,
    name,
    functionKey: definition.function_key,
    object,
  });
  const { features } = input.settings;
  return [
    { ...child("Deployment", deployment(deployed, input)), ...leftOf(deployed, input, leavesReplicas(input)) },
    child("Service", service(deployed, input)),
    ...(features.hpa ? [child("Hpa", autoscaler(deployed, input))] : []),
    ...(features.metricsTargets && input.platform.serviceMonitors
      ? [child("ServiceMonitor", serviceMonitor(input, name))]
      : []),
  ];
}

/** What the enforcer may hold is named even where it holds nothing yet, so that a later apply of ours keeps it. */
export function leftOf(
  { minScale, enforcedResources }: DeployedFunction,
  { classRuntime }: Pick<RenderInput, "classRuntime">,
  withReplicas: boolean,
): Pick<WantedChild, "left" | "initial"> {
  const left: readonly (keyof HeldValues)[] = [
    ...(withReplicas ? (["replicas"] as const) : []),
    ...(isEnforced(classRuntime, "cpu") ? (["cpuMillis"] as const) : []),
    ...(isEnforced(classRuntime, "memory") ? (["memoryBytes", "memoryLimitBytes"] as const) : []),
  ];
  if (left.length === 0) return {};
  return {
    left,
    initial: { ...(withReplicas && minScale !== undefined && { replicas: minScale }), ...enforcedResources },
  };
}

/** Replicas belong to the enforcer or to an autoscaler where there is one; stating them too would fight it. */
export const leavesReplicas = ({ classRuntime, settings }: Pick<RenderInput, "classRuntime" | "settings">): boolean =>
  settings.features.hpa || isEnforced(classRuntime, "replicas");

function deployment(deployed: DeployedFunction, input: RenderInput): ApplyObject<Deployment> {
  const { name, image, port, resources, minScale = 1, definition } = deployed;
  const selector = ownLabels(input.classRuntime.metadata.name, name);
  return {
    metadata: childMetadata(input.classRuntime, name),
    spec: {
      ...(!leavesReplicas(input) && { replicas: minScale }),
      selector: { matchLabels: selector },
      template: {
        metadata: {
          labels: selector,
          ...(definition.provision_config?.need_http2 && { annotations: { "oaas.io/http2": "true" } }),
        },
        spec: {
          containers: [
            {
              name: "function",
              image,
              ports: [{ containerPort: port, protocol: "TCP" }],
              env: functionEnvironment(deployed, input),
              ...(resources && { resources }),
            },
          ],
        },
      },
    },
  };
}

function service({ name, port }: DeployedFunction, input: RenderInput): ApplyObject<Service> {
  const annotated = input.settings.features.metricsTargets && !input.platform.serviceMonitors;
  return {
    metadata: childMetadata(input.classRuntime, name, annotated ? scrapeAnnotations(port) : undefined),
    spec: {
      selector: ownLabels(input.classRuntime.metadata.name, name),
      ports: [{ name: metricsPort, port: servicePort, protocol: "TCP", targetPort: port }],
    },
  };
}

export const scrapeAnnotations = (port: number): Readonly<Record<string, string>> => ({
  "prometheus.io/scrape": "true",
  "prometheus.io/port": String(port),
  "prometheus.io/path": "/metrics",
});

const metricsPort = "http";

function autoscaler(
  { name, minScale = 1, maxScale }: DeployedFunction,
  input: RenderInput,
): ApplyObject<HorizontalPodAutoscaler> {
  const minReplicas = Math.max(1, minScale);
  return {
    metadata: childMetadata(input.classRuntime, name),
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      ...(!isEnforced(input.classRuntime, "replicas") && { minReplicas }),
      maxReplicas: Math.max(minReplicas, maxScale ?? input.settings.enforcement.maxReplicas),
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: targetCpuPercent } },
        },
      ],
    },
  };
}

const targetCpuPercent = 80;

/** The label `oaas_owner` is what the analyzer's queries ask for. */
function serviceMonitor({ classRuntime, settings }: RenderInput, name: string): ApplyObject<ServiceMonitor> {
  const endpoint = {
    port: metricsPort,
    path: "/metrics",
    relabelings: [
      { action: "replace", sourceLabels: ["__meta_kubernetes_service_label_oaas_io_owner"], targetLabel: "oaas_owner" },
    ],
  };
  const metadata = childMetadata(classRuntime, name);
  return {
    metadata: { ...metadata, labels: { ...settings.monitorLabels, ...metadata.labels } },
    spec: {
      selector: {
        matchLabels: {
          app: name,
          [labels.classOwner]: ownLabels(classRuntime.metadata.name, name)[labels.classOwner] ?? "",
        },
      },
      endpoints: [endpoint],
    },
  };
}

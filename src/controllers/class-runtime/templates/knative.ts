import type { KnativeService } from "../../../api/builtin/knative.ts";
import { labels } from "../../../api/well-known.ts";
import type { ApplyObject } from "../../../client/client.ts";
import { isEnforced } from "../enforcement-mode.ts";
import { childMetadata, ownerLabel } from "../labels.ts";
import { functionName } from "../names.ts";
import { leftOf, scrapeAnnotations } from "./deployment-functions.ts";
import { functionEnvironment } from "./environment.ts";
import { deployedFunctions } from "./functions.ts";
import { odgmChildren } from "./odgm.ts";
import { rulesFor } from "./readiness.ts";
import type { DeployedFunction, RenderInput, Template } from "./template.ts";

/** Functions that scale with their requests, down to none; the data store stays a Deployment. */
export const knative: Template = {
  id: "knative",
  aliases: ["kn", "knsvc"],
  managed: ["KnativeService", "OdgmDeployment", "OdgmService"],
  readiness: rulesFor(["KnativeService", "OdgmDeployment", "OdgmService"]),
  supportsOdgm: true,
  functionName,
  isServed: (platform) => platform.knative,
  score({ profile, isDatacenter, isEdge, requirements }) {
    const { min_throughput_rps: rps = 0, max_latency_ms: latency } = requirements;
    const base =
      isDatacenter || ["full", "prod", "production"].includes(profile)
        ? 900_000
        : isEdge || profile === "edge"
          ? 600_000
          : 100_000;
    return base + (rps >= 500 ? 2 : 0) + (latency !== undefined && latency <= 100 ? 2 : 0);
  },
  render(input) {
    const read = deployedFunctions(input, functionName, defaultPort);
    if (!read.ok) return read;
    const enforced = isEnforced(input.classRuntime, "replicas");
    return {
      ok: true,
      children: [
        ...read.functions.map((deployed) => ({
          kind: "KnativeService" as const,
          name: deployed.name,
          functionKey: deployed.definition.function_key,
          object: service(deployed, input),
          ...leftOf(deployed, input, enforced),
        })),
        ...odgmChildren(input, "ghcr.io/pawissanutt/oaas-rs/odgm:latest"),
      ],
    };
  },
};

const defaultPort = 8080;
export const minScaleAnnotation = "autoscaling.knative.dev/minScale";
const maxScaleAnnotation = "autoscaling.knative.dev/maxScale";

function service(deployed: DeployedFunction, input: RenderInput): ApplyObject<KnativeService> {
  const { name, image, port, resources, minScale, maxScale, definition } = deployed;
  const { classRuntime } = input;
  const provision = definition.provision_config;
  const metadata = childMetadata(classRuntime, name, scrapeAnnotations(port));
  const annotations = {
    ...(minScale !== undefined && !isEnforced(classRuntime, "replicas") && { [minScaleAnnotation]: String(minScale) }),
    ...(maxScale !== undefined && { [maxScaleAnnotation]: String(maxScale) }),
    ...(provision?.need_http2 && { "networking.knative.dev/http2": "true" }),
  };
  return {
    metadata: { ...metadata, labels: { ...metadata.labels, "networking.knative.dev/visibility": "cluster-local" } },
    spec: {
      template: {
        metadata: {
          labels: { app: name, [labels.classOwner]: ownerLabel(classRuntime.metadata.name) },
          ...(Object.keys(annotations).length > 0 && { annotations }),
        },
        spec: {
          ...((provision?.max_concurrency ?? 0) > 0 && { containerConcurrency: provision?.max_concurrency ?? 0 }),
          containers: [
            {
              name: "function",
              image,
              ports: [{ containerPort: port, name: provision?.need_http2 ? "h2c" : "http1" }],
              env: functionEnvironment(deployed, input, "traceidratio"),
              ...(resources && { resources }),
            },
          ],
        },
      },
    },
  };
}

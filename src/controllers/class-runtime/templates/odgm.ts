import type { Service } from "../../../api/builtin/service.ts";
import type { Deployment } from "../../../api/builtin/workloads.ts";
import { labels } from "../../../api/well-known.ts";
import type { ApplyObject } from "../../../client/client.ts";
import { isEnforced } from "../enforcement-mode.ts";
import { childMetadata, ownLabels } from "../labels.ts";
import { odgmName, odgmServiceName } from "../names.ts";
import { hasOdgm, odgmPort, peers, sorted, telemetryEnvironment, zenohPort } from "./environment.ts";
import { collectionRequests } from "./odgm-collections.ts";
import type { RenderInput, WantedChild } from "./template.ts";

/** The data store beside a class: one Deployment and one Service, if the class wants it. */
export function odgmChildren(input: RenderInput, image: string): readonly WantedChild[] {
  if (!hasOdgm(input)) return [];
  const { name: className } = input.classRuntime.metadata;
  return [
    { kind: "OdgmDeployment", name: odgmName(className), object: odgmDeployment(input, image) },
    { kind: "OdgmService", name: odgmServiceName(className), object: odgmService(input) },
  ];
}

function odgmDeployment(input: RenderInput, image: string): ApplyObject<Deployment> {
  const { classRuntime, settings } = input;
  const name = odgmName(classRuntime.metadata.name);
  const podLabels = odgmLabels(input);
  return {
    metadata: childMetadata(classRuntime, name),
    spec: {
      ...(!isEnforced(classRuntime, "replicas") && { replicas: 1 }),
      selector: { matchLabels: ownLabels(classRuntime.metadata.name, name) },
      template: {
        metadata: { labels: podLabels },
        spec: {
          containers: [
            {
              name: "odgm",
              image: settings.odgm.image ?? image,
              ...(settings.odgm.pullPolicy && { imagePullPolicy: settings.odgm.pullPolicy }),
              ports: [
                { containerPort: odgmPort, protocol: "TCP" },
                { name: "zenoh", containerPort: zenohPort, protocol: "TCP" },
              ],
              env: odgmEnvironment(input),
            },
          ],
        },
      },
    },
  };
}

function odgmLabels({ classRuntime }: RenderInput): Readonly<Record<string, string>> {
  const all = childMetadata(classRuntime, odgmName(classRuntime.metadata.name)).labels ?? {};
  const { [labels.controller]: _ours, ...podLabels } = all;
  return podLabels;
}

/** Port 8080 is what ODGM_SERVICE names; 80 is what upstream's own clients use. */
function odgmService({ classRuntime }: RenderInput): ApplyObject<Service> {
  const { name: className } = classRuntime.metadata;
  const metadata = childMetadata(classRuntime, odgmServiceName(className));
  return {
    metadata: { ...metadata, labels: { ...metadata.labels, app: odgmName(className) } },
    spec: {
      selector: ownLabels(className, odgmName(className)),
      ports: [
        { name: "http", port: 80, protocol: "TCP", targetPort: odgmPort },
        { name: "odgm", port: odgmPort, protocol: "TCP", targetPort: odgmPort },
        { name: "zenoh", port: zenohPort, protocol: "TCP", targetPort: zenohPort },
      ],
    },
  };
}

function odgmEnvironment(input: RenderInput): ReturnType<typeof sorted> {
  const { classRuntime, settings, routers } = input;
  const { metadata, spec } = classRuntime;
  const config = spec.odgm_config;
  const members = [...new Set(Object.values(config?.env_node_ids ?? {}).flat())].sort((a, b) => a - b);
  const collections = collectionRequests(input);
  const [mode = ["OPRC_ZENOH_MODE", "peer"] as const, ...addresses] = peers(routers, "peer");
  return sorted([
    ...Object.entries(settings.odgm.extraEnvironment),
    ["ODGM_CLUSTER_ID", metadata.name],
    ...(config?.node_id == null ? [] : [["ODGM_NODE_ID", String(config.node_id)] as const]),
    ...(members.length > 0 ? [["ODGM_MEMBERS", members.join(",")] as const] : []),
    ...(collections.length > 0 ? [["ODGM_COLLECTION", JSON.stringify(collections)] as const] : []),
    ...(config?.log ? [["ODGM_LOG", config.log] as const] : []),
    mode,
    ...addresses,
    ["OPRC_ZENOH_PORT", String(zenohPort)],
    ...telemetryEnvironment(input, "parentbased_traceidratio"),
    ...(spec.package_class_key ? [["OPRC_CLS_ID", spec.package_class_key] as const] : []),
    ["OPRC_DEPLOYMENT_ID", metadata.labels?.[labels.deploymentId] ?? metadata.name],
  ]);
}

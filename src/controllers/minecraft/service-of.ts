import type { Service } from "../../api/builtin/service.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { ApplyObject } from "../../client/client.ts";
import { childMetadata, gamePort, selectorLabels } from "./children.ts";

/** How players reach the server. RCON is a way to take it over, so it never goes on an address that others can reach. */
export function serviceOf(server: PaperMCServer, pluginPorts: readonly number[]): ApplyObject<Service> {
  const { service, rcon } = server.spec;
  const { name } = server.metadata;
  const type = service?.type ?? "LoadBalancer";
  const taken = new Set([gamePort, ...(rcon.enabled ? [rcon.port] : [])]);
  return {
    metadata: {
      ...childMetadata(server, name, "service"),
      ...(service?.annotations && { annotations: service.annotations }),
    },
    spec: {
      type,
      selector: selectorLabels(name),
      ...(service?.loadBalancerIP !== undefined &&
        type === "LoadBalancer" && { loadBalancerIP: service.loadBalancerIP }),
      ports: [
        { name: "minecraft", port: gamePort, targetPort: gamePort, protocol: "TCP" },
        ...(rcon.enabled && type === "ClusterIP"
          ? [{ name: "rcon", port: rcon.port, targetPort: rcon.port, protocol: "TCP" as const }]
          : []),
        ...pluginPorts
          .filter((port) => !taken.has(port))
          .flatMap((port) => [
            { name: `plugin-${port}-tcp`, port, targetPort: port, protocol: "TCP" as const },
            { name: `plugin-${port}-udp`, port, targetPort: port, protocol: "UDP" as const },
          ]),
      ],
    },
  };
}

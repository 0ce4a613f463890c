import { functionName } from "../names.ts";
import { renderDeployments } from "./deployment-functions.ts";
import { rulesFor } from "./readiness.ts";
import type { Template } from "./template.ts";

/** For small clusters near their users. */
export const edge: Template = {
  id: "edge",
  aliases: [],
  managed: ["Deployment", "Service", "OdgmDeployment", "OdgmService", "Hpa", "ServiceMonitor"],
  readiness: rulesFor(["Deployment", "Service", "OdgmDeployment", "OdgmService", "Hpa", "ServiceMonitor"]),
  supportsOdgm: true,
  functionName,
  isServed: () => true,
  score({ profile, isEdge, requirements }) {
    const { min_throughput_rps: rps = 0, max_latency_ms: latency, availability_pct: availability = 0 } = requirements;
    return (
      (profile === "edge" || isEdge ? 1_000_000 : 0) +
      (rps >= 300 ? 2 : 0) +
      (latency !== undefined && latency <= 150 ? 2 : 0) +
      (availability >= 99.9 ? 1 : 0)
    );
  },
  render: (input) => renderDeployments(input, "ghcr.io/pawissanutt/oaas-rs/odgm:latest"),
};

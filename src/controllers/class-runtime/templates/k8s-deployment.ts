import { functionName } from "../names.ts";
import { renderDeployments } from "./deployment-functions.ts";
import { rulesFor } from "./readiness.ts";
import type { Template } from "./template.ts";

/** For data centres without Knative. */
export const k8sDeployment: Template = {
  id: "k8s_deployment",
  aliases: ["deployment", "k8s"],
  managed: ["Deployment", "Service", "OdgmDeployment", "OdgmService", "Hpa", "ServiceMonitor"],
  readiness: rulesFor(["Deployment", "Service", "OdgmDeployment", "OdgmService", "Hpa", "ServiceMonitor"]),
  supportsOdgm: true,
  functionName,
  isServed: () => true,
  score({ profile, isDatacenter, requirements }) {
    const { min_throughput_rps: rps = 0, max_latency_ms: latency, availability_pct: availability = 0 } = requirements;
    const base = profile === "k8s_deployment" ? 800_000 : isDatacenter ? 600_000 : 0;
    return (
      base +
      (rps >= 1500 ? 3 : 0) +
      (latency !== undefined && latency <= 50 ? 3 : 0) +
      (availability >= 99.95 ? 2 : 0) +
      (requirements.consistency?.toLowerCase() === "strong" ? 2 : 0)
    );
  },
  render: (input) => renderDeployments(input, "ghcr.io/pawissanutt/oaas-rs/odgm:latest"),
};

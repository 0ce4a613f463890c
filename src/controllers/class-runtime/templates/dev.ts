import { functionName } from "../names.ts";
import { renderDeployments } from "./deployment-functions.ts";
import { rulesFor } from "./readiness.ts";
import type { Template } from "./template.ts";

/** For a developer's own cluster: plain Deployments and the newest data store. */
export const dev: Template = {
  id: "dev",
  aliases: [],
  managed: ["Deployment", "Service", "OdgmDeployment", "OdgmService", "Hpa", "ServiceMonitor"],
  readiness: rulesFor(["Deployment", "Service", "OdgmDeployment", "OdgmService", "Hpa", "ServiceMonitor"]),
  supportsOdgm: true,
  functionName,
  isServed: () => true,
  score: ({ profile, isEdge }) => (profile === "dev" ? 1_000_000 : isEdge ? 10 : -10),
  render: (input) => renderDeployments(input, "ghcr.io/pawissanutt/oaas-rs/odgm:dev-alpha"),
};

import { dev } from "./dev.ts";
import { edge } from "./edge.ts";
import { k8sDeployment } from "./k8s-deployment.ts";
import { knative } from "./knative.ts";
import type { Template } from "./template.ts";

/** In the order in which ties are decided. Others are handed in beside these; nothing else names a template. */
export const builtinTemplates: readonly Template[] = [dev, edge, k8sDeployment, knative];

import type { Deployment } from "../../../api/builtin/workloads.ts";
import type { ApplyObject } from "../../../client/client.ts";
import { childMetadata, ownLabels } from "../labels.ts";
import { withSuffix } from "../names.ts";
import { rulesFor } from "./readiness.ts";
import type { Template } from "./template.ts";

/** What a template of one's own looks like: the whole class in one Deployment without a Service, for work from a queue. */
export const batch: Template = {
  id: "batch",
  aliases: ["nightly"],
  managed: ["Deployment"],
  readiness: rulesFor(["Deployment"]),
  supportsOdgm: false,
  functionName: (className) => withSuffix(className, "-batch"),
  isServed: () => true,
  score: ({ profile }) => (profile === "batch" ? 2_000_000 : -1_000_000),
  render({ classRuntime }) {
    const [definition] = classRuntime.spec.functions ?? [];
    const image = definition?.provision_config?.container_image;
    if (definition === undefined || !image) return { ok: false, message: "spec.functions[0] has no image" };
    const name = batch.functionName(classRuntime.metadata.name, 0, 1);
    const labels = ownLabels(classRuntime.metadata.name, name);
    const object: ApplyObject<Deployment> = {
      metadata: childMetadata(classRuntime, name),
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "batch", image }] } },
      },
    };
    return { ok: true, children: [{ kind: "Deployment", name, functionKey: definition.function_key, object }] };
  },
};

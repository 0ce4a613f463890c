import { Deployment } from "../../../api/builtin/workloads.ts";
import { parsedOrThrow } from "../../../kube/parsed.ts";
import { allow } from "../../../runtime/permission.ts";
import { defineAction } from "./definition.ts";
import { forbiddenParts, parsePatch } from "./patch-text.ts";
import { restoreDeployment } from "./restore-deployment.ts";

export const patchDeployment = defineAction({
  action: "patch_deployment",
  permissions: [allow(Deployment, ["get", "patch"])],
  idempotent: false,
  estimatedDuration: "1m",
  seenBy: "Read",
  problems({ patchType, patch }) {
    const read = parsePatch(patchType, patch);
    return (read.ok ? forbiddenParts(read.value) : [read.message]).map((message) => `patch: ${message}`);
  },
  target: ({ deployment, namespace }) => ({ kind: Deployment, namespace, name: deployment }),
  plan: ({ object }, { patchType, patch }) => ({
    effects: [{ kind: "Patch", patch: parsedOrThrow(parsePatch(patchType, patch)) }],
    verb: "patched",
    ...(object?.metadata.generation !== undefined && { before: `generation: ${object.metadata.generation}` }),
  }),
  rollback: (state, parameters) => restoreDeployment(state, parameters),
});

import type { KubeObject } from "../../kube/object.ts";
import { decodeLoose } from "../decode/loose.ts";
import { parseWriteOptions } from "../decode/write-options.ts";
import { encodeValue } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { badRequest, conflict } from "../protocol/status-error.ts";
import { timestamp } from "../writes/metadata.ts";
import { updateObject } from "../writes/update.ts";

type Pod = KubeObject & {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
};

/** POST pods/NAME/binding: the pod is given its node, once and for good. */
export async function bindPod(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const options = parseWriteOptions(request, "CreateOptions");
  const { target } = decodeLoose(parts, request, "Binding").value as { target?: { kind?: string; name?: string } };
  if (!target?.name || (target.kind !== undefined && target.kind !== "" && target.kind !== "Node")) {
    throw badRequest("a binding needs a target of kind Node with a name");
  }
  const nodeName = target.name;
  const { info } = request;
  await updateObject(parts, request, {
    options,
    optionsKind: "UpdateOptions",
    managed: (object) => object,
    prepare: (object) => object,
    validate: () => [],
    wanted(current) {
      const pod = current as Pod;
      if (pod.metadata.deletionTimestamp !== undefined) {
        throw conflict(
          { group: "", name: "pods/binding" },
          info.name,
          `pod ${info.name} is being deleted, cannot be assigned to a host`,
        );
      }
      if (pod.spec?.nodeName) {
        const why = `pod ${info.name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`;
        throw conflict({ group: "", name: "pods/binding" }, info.name, why);
      }
      const scheduled = {
        type: "PodScheduled",
        status: "True",
        lastProbeTime: null,
        lastTransitionTime: timestamp(parts.env.now()),
      };
      const conditions = [...(pod.status?.conditions ?? []).filter(({ type }) => type !== "PodScheduled"), scheduled];
      return { ...pod, spec: { ...pod.spec, nodeName }, status: { ...pod.status, conditions } } as KubeObject;
    },
  });
  return encodeValue(request, 201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

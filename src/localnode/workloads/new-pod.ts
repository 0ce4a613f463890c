import type { Pod } from "../../api/builtin/pod.ts";
import type { PodTemplate } from "../../api/builtin/pod-spec.ts";
import type { NewObject } from "../../client/client.ts";
import type { KindRef } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { controllerReference } from "../../kube/owner-reference.ts";

/** A pod as its owner's template describes it. Without a name of its own it gets one that begins with the owner's. */
export function newPod(
  kind: KindRef,
  owner: KubeObject,
  template: PodTemplate,
  extra: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  } = {},
): NewObject<Pod> {
  const { metadata = {} } = template;
  const { namespace, name } = owner.metadata;
  const finalizers = [...(metadata.finalizers ?? []), ...(extra.finalizers ?? [])];
  const annotations = { ...metadata.annotations, ...extra.annotations };
  return {
    metadata: {
      ...(extra.name === undefined ? { generateName: `${name}-` } : { name: extra.name }),
      ...(namespace !== undefined && { namespace }),
      labels: { ...metadata.labels, ...extra.labels },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(finalizers.length > 0 && { finalizers }),
      ownerReferences: [controllerReference(kind, owner)],
    },
    spec: template.spec,
  };
}
